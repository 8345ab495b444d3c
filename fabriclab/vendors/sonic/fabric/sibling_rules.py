"""A rule of ports that stand for one another: those of a tier that lead to the same kind of neighbour."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fabriclab.formats.classes import QUEUES
from fabriclab.units import format_count
from fabriclab.vendors.sonic.fabric.view import FabricFinding, View
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.likeness_rules import LEAST_OTHERS
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.lab.fabric_switches import End, FabricSwitch
from fabriclab.vendors.sonic.read.qos_tables import MAP_OF_FIELD

_MOST_OTHERS = 0.125
"""Of more ports that differ nobody knows whether they are meant to."""
_HOSTS = "hosts"
_OF_CLASSES = tuple(("PORT_QOS_MAP", field) for field in MAP_OF_FIELD)
_WATCHDOG = ("action", "detection_time", "restoration_time")


class _Said(NamedTuple):
    """What a port says: what is compared, and its name for the reader."""

    content: object
    shown: str


_NOTHING = _Said(None, "nothing")
_Place = tuple[str, str, int | None]
"""Table, field, and the queue or priority group."""


class _Odd(NamedTuple):
    """What a port says otherwise than others."""

    end: End
    place: _Place
    own: str
    usual: str
    others: int
    """How many others say the usual."""


def port_differs(view: View) -> Iterator[FabricFinding]:
    """A port is configured as nearly all ports of its tier and speed that lead to the same kind of neighbour."""
    groups: dict[tuple[str, str, int | None, str], list[End]] = defaultdict(list)
    said: dict[End, Mapping[_Place, _Said]] = {}
    for switch in (one for one in view.linked if one.name in view.configured):
        kind, bindings = _type(switch), Bindings(switch.config)
        speeds = Counter(switch.config.ports[port].speed_mbps for port in switch.ports)
        for port in switch.ports:
            end, speed = End(switch.name, port), switch.config.ports[port].speed_mbps
            far = view.far.get(end)
            towards = _HOSTS if far is None else _type(view.switch(far))
            groups[kind, switch.config.hwsku, speed, towards].append(end)
            # `one-port-differs` compares the queues of a switch that has as many ports itself.
            said[end] = dict(_said(switch, bindings, port, with_queues=speeds[speed] <= LEAST_OTHERS))
    for (kind, _, _, towards), ends in groups.items():
        odd: dict[tuple[End, str], list[_Odd]] = defaultdict(list)
        for one in _odd(ends, said, between=towards != _HOSTS) if kind and towards else ():
            odd[one.end, one.place[0]].append(one)
        for found in odd.values():
            yield _finding(found, f"ports from {kind} to {towards}")


def _type(switch: FabricSwitch) -> str:
    value = entries(switch.config, "DEVICE_METADATA").get("localhost", {}).get("type")
    return value.strip() if isinstance(value, str) else ""


def _odd(ends: Sequence[End], said: Mapping[End, Mapping[_Place, _Said]], *, between: bool) -> Iterator[_Odd]:
    """Yield what few of some ports say otherwise than all others."""
    of_switch = Counter(end.switch for end in ends)
    for place in dict.fromkeys(place for end in ends for place in said[end]):
        # Between switches the classes of both ends are compared (`class-differs`): they may have some of their own.
        if between and place[:2] in _OF_CLASSES:
            continue
        values = {end: said[end].get(place, _NOTHING) for end in ends if place[2] is None or place in said[end]}
        usual, count = Counter(value.content for value in values.values()).most_common(1)[0]
        odd = [end for end, value in values.items() if value.content != usual]
        if not odd or count < LEAST_OTHERS or len(odd) > max(1, _MOST_OTHERS * len(values)):
            continue
        shown = next(value.shown for value in values.values() if value.content == usual)
        differing = Counter(end.switch for end in odd)
        for end in odd:
            # A switch on which all of them differ is `tier-differs`'s, or meant to be different.
            if differing[end.switch] < of_switch[end.switch] or of_switch[end.switch] == 1:
                yield _Odd(end, place, values[end].shown, shown, count)


def _finding(found: Sequence[_Odd], alike: str) -> FabricFinding:
    """Return a finding of what one port says otherwise in a table; of several fields the first one is shown."""
    (end, (table, field, index), own, usual, alike_count), more = found[0], len(found) - 1
    of_queue = "" if index is None else f"{'group' if table == 'BUFFER_PG' else 'queue'} {index}: "
    besides = f" (and {format_count(more, 'other difference')})" if more else ""
    bound = f"not {usual}, which {alike_count} other {alike} have{besides}"
    fate = "only flows over this port see the difference, so that it shows as a gray failure"
    path = (table, end.port, field) if field else (table, end.port)
    remedy = "write the same unless this is intended"
    one = finding("port-differs", path, f"{of_queue}{own}", bound, fate, remedy, (end.port,))
    return FabricFinding(end.switch, one)


def _said(switch: FabricSwitch, bindings: Bindings, port: str, *, with_queues: bool) -> Iterator[tuple[_Place, _Said]]:
    config = switch.config
    mtu = switch.mtu(port)
    yield ("PORT", "mtu", None), _Said(mtu, str(mtu))
    qos = bindings.qos(port)
    for field, name in (qos.maps if qos is not None else {}).items():
        content = tuple(sorted(config.maps.get(field, {}).get(name, {}).items())) or name
        yield ("PORT_QOS_MAP", field, None), _Said(content, name)
    for field in ("pfc_enable", "pfcwd_sw_enable"):
        numbers = tuple(sorted((getattr(qos, field) if qos is not None else None) or ()))
        yield ("PORT_QOS_MAP", field, None), _Said(numbers, ",".join(map(str, numbers)) or "nothing")
    watchdog = entries(config, "PFC_WD").get(port, {})
    for field in _WATCHDOG:
        value = watchdog.get(field)
        if isinstance(value, str):
            yield ("PFC_WD", field, None), _Said(value, value)
    if entries(config, "ARS_INTERFACE"):
        listed = port in entries(config, "ARS_INTERFACE")
        yield ("ARS_INTERFACE", "", None), _Said(listed, "listed" if listed else "not listed")
    if with_queues:
        yield from _of_queues(bindings, port)


def _of_queues(bindings: Bindings, port: str) -> Iterator[tuple[_Place, _Said]]:
    """Yield what is bound to each queue, by its content: a profile of another name may say the same."""
    for index in range(QUEUES):
        scheduler, wred = bindings.scheduler(port, index), bindings.wred(port, index)
        profile = bindings.queue_profile(port, index)
        for table, field, one in (
            ("QUEUE", "scheduler", scheduler),
            ("QUEUE", "wred_profile", wred),
            ("BUFFER_QUEUE", "profile", profile),
        ):
            content = None if one is None else replace(one, name="")
            yield (table, field, index), _Said(repr(content), "nothing" if one is None else one.name)
        group = "one" if index in bindings.groups.get(port, {}) else "nothing"
        yield ("BUFFER_PG", "profile", index), _Said(group, group)


SIBLING_RULES = (port_differs,)
