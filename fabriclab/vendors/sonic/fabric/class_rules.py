"""A class is one thing end to end: a DSCP that is lossless at one switch and lossy at another loses frames there.

What most switches do is the measure; of two halves, that of the switches with hosts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from fabriclab.formats.finding import Severity
from fabriclab.formats.plan.switch import CODEPOINTS
from fabriclab.keys.wording import listed
from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.notes import number_ranges
from fabriclab.vendors.sonic.fabric.view import FabricFinding, View
from fabriclab.vendors.sonic.judge import SonicFinding
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.pfc_rules import lossless_groups
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.lab.fabric_switches import End, FabricSwitch
from fabriclab.vendors.sonic.read.entries import FieldValue

_MOST_NAMED = 3


class _Treatment(NamedTuple):
    """What becomes of a DSCP."""

    is_lossless: bool
    queue: int

    def __str__(self) -> str:
        return f"{'lossless' if self.is_lossless else 'lossy'}, in queue {self.queue}"


_All = tuple[_Treatment, ...]
"""Of each DSCP."""


def classes(view: View) -> Iterator[FabricFinding]:
    """Each DSCP is lossless at both ends of each link, or at neither, and has one queue.

    A switch may treat it otherwise towards another tier: SONiC's dual ToRs have classes of their own up to the T1.
    """
    at_ends = dict(_at_ends(view))
    treatments = _of_switches(at_ends)
    edge = {switch.name for switch in view.linked if any(True for _ in view.host_ports(switch))}
    others: dict[tuple[str, _Treatment, _Treatment], list[tuple[int, str]]] = defaultdict(list)
    for name in treatments:
        for dscp, own, port in _differing(view, name, at_ends):
            usual = _usual(treatments, dscp, edge)
            if own != usual:
                others[name, own, usual].append((dscp, port))
    for (name, own, usual), where in others.items():
        first, port = where[0]
        alike = [other for other, of in treatments.items() if of[first] == usual]
        path = _path(view.fabric.switches[name], first, port)
        one = _differs(path, own, usual, [dscp for dscp, _ in where], alike, len(treatments))
        # A tier that has no PFC at all may be meant to be lossy.
        is_meant = not (view.has_pfc(name) and any(map(view.has_pfc, alike)))
        yield FabricFinding(name, replace(one, severity="warning") if is_meant else one)


def lossless_dscps(view: View) -> tuple[int, ...]:
    """Return the DSCPs that all links of a fabric treat as lossless."""
    every = [treatments for _, treatments in _at_ends(view)]
    return tuple(dscp for dscp in range(CODEPOINTS if every else 0) if all(one[dscp].is_lossless for one in every))


def _at_ends(view: View) -> Iterator[tuple[End, _All]]:
    """Yield what the ports of links do; those without maps, or of malformed files, say nothing."""
    for name, configured in view.configured.items():
        for port in configured.ports:
            if End(name, port.name) in view.far and _has_classes(view, view.fabric.switches[name], port):
                yield End(name, port.name), tuple(_treatment(port, dscp) for dscp in range(CODEPOINTS))


def _of_switches(at_ends: Mapping[End, _All]) -> dict[str, _All]:
    """Return what most of each switch's ports to other switches do."""
    counts: dict[str, Counter[_All]] = defaultdict(Counter)
    for end, treatments in at_ends.items():
        counts[end.switch][treatments] += 1
    return {name: count.most_common(1)[0][0] for name, count in counts.items()}


def _differing(view: View, name: str, at_ends: Mapping[End, _All]) -> Iterator[tuple[int, _Treatment, str]]:
    """Yield the DSCPs for which a link of a switch has ends that differ, with what most of its ends there do, and the
    port of one of them."""
    ends = [end for every in view.neighbours[name].values() for end in every]
    both = [end for end in ends if end in at_ends and view.far[end] in at_ends]
    for dscp in range(CODEPOINTS):
        here = {end.port: own for end in both if (own := at_ends[end][dscp]) != at_ends[view.far[end]][dscp]}
        if here:
            most = Counter(here.values()).most_common(1)[0][0]
            yield dscp, most, next(port for port, own in here.items() if own == most)


def _has_classes(view: View, switch: FabricSwitch, port: CheckedPort) -> bool:
    """Return whether a port has maps: without any, everything is queue 0, and a switch without QoS says nothing."""
    qos = view.fabric.switches[switch.name].config.port_qos
    return port.name in qos or "global" in qos


def _treatment(port: CheckedPort, dscp: int) -> _Treatment:
    maps, pfc = port.port.maps, port.port.pfc
    tc = maps.dscp_to_tc[dscp]
    group = maps.tc_to_group[tc]
    paused = {maps.priority_to_group[priority] for priority in (() if pfc is None else pfc.priorities)}
    return _Treatment(group in lossless_groups(port) and group in paused, maps.tc_to_queue[tc])


def _usual(treatments: Mapping[str, _All], dscp: int, edge: set[str]) -> _Treatment:
    """Return what most switches do with a DSCP; of equally many, what those with hosts do."""
    counts = Counter(of[dscp] for of in treatments.values())
    at_edge = Counter(of[dscp] for name, of in treatments.items() if name in edge)
    return max(counts, key=lambda one: (counts[one], at_edge[one]))


def _differs(
    path: tuple[str, ...], own: _Treatment, usual: _Treatment, dscps: list[int], alike: list[str], total: int
) -> SonicFinding:
    named = listed(alike) if len(alike) <= _MOST_NAMED else f"{alike[0]}, {alike[1]} and {len(alike) - 2} more"
    severity: Severity = "warning"
    fate = "the class shares a queue with other traffic here, and gets another share of the link"
    if own.is_lossless != usual.is_lossless:
        severity = "error"
        fate = (
            "the switch pauses its neighbours for a class that is lossy for them"
            if own.is_lossless
            else "the switch drops frames of a class that is lossless elsewhere"
        )
    bound = f"{own} here, but {usual} at {len(alike)} of {total} switches ({named})"
    value = f"DSCP {number_ranges(dscps)}"
    return finding("class-differs", path, value, bound, fate, "write the same maps, groups and PFC", (), severity)


def _path(switch: FabricSwitch, dscp: int, port: str) -> tuple[str, ...]:
    """Return where the class of a DSCP is written for a port."""
    holder = Bindings(switch.config).map_holder(port, "dscp_to_tc_map")
    return ("PORT_QOS_MAP",) if holder is None else ("DSCP_TO_TC_MAP", holder.maps["dscp_to_tc_map"], str(dscp))


def remarked(view: View) -> Iterator[FabricFinding]:
    """A DSCP that a port rewrites has the class at the next switch that it has here."""
    at_ends = dict(_at_ends(view))
    for name, configured in view.configured.items():
        config = view.fabric.switches[name].config
        rewriting = entries(config, "TC_TO_DSCP_MAP")
        for port in configured.ports if rewriting else ():
            near = End(name, port.name)
            far = view.far.get(near)
            written = rewriting.get(_text(entries(config, "PORT_QOS_MAP").get(port.name, {}).get("tc_to_dscp_map")), {})
            if far in at_ends and near in at_ends and written:
                yield from _remarked(near, far, port, written, at_ends)


def _remarked(
    near: End, far: End, port: CheckedPort, written: Mapping[str, FieldValue], at_ends: Mapping[End, _All]
) -> Iterator[FabricFinding]:
    for tc in sorted({*port.port.maps.dscp_to_tc}):
        value = _text(written.get(str(tc)))
        dscp = int(value) if value.isascii() and value.isdigit() and len(value) < 3 else CODEPOINTS
        here = next(at_ends[near][one] for one in range(CODEPOINTS) if port.port.maps.dscp_to_tc[one] == tc)
        if dscp < CODEPOINTS and here.is_lossless != at_ends[far][dscp].is_lossless:
            bound = f"{_kind(at_ends[far][dscp])} at {far}, but class {tc} is {_kind(here)} here"
            fate = "lossless frames are dropped on the way, or lossy ones pause their neighbours"
            path = ("PORT_QOS_MAP", near.port, "tc_to_dscp_map")
            remedy = "write a DSCP that has the same class there, or map it at the other switch"
            one = finding("remark-changes-class", path, f"DSCP {dscp}", bound, fate, remedy, (near.port,))
            yield FabricFinding(near.switch, one)


def _kind(one: _Treatment) -> str:
    return "lossless" if one.is_lossless else "lossy"


def trimmed(view: View) -> Iterator[FabricFinding]:
    """Packets that a switch has trimmed are lossy at the next one."""
    at_ends = dict(_at_ends(view))
    told: set[str] = set()
    for near, far in view.far.items():
        trimming = view.switch(near).config.trimming
        dscp = None if trimming is None else trimming.dscp
        if dscp is not None and far in at_ends and at_ends[far][dscp].is_lossless and near.switch not in told:
            told.add(near.switch)
            bound = f"lossless at {far}, the next switch on the way"
            fate = "trimmed packets take the memory of frames that must not be lost, and PFC stops them"
            path = ("SWITCH_TRIMMING", "GLOBAL", "dscp_value")
            one = finding("trimming-lossless", path, f"DSCP {dscp}", bound, fate, "write a lossy queue's DSCP")
            yield FabricFinding(near.switch, one)


def _text(value: FieldValue | None) -> str:
    return value.strip() if isinstance(value, str) else ""


CLASS_RULES = (classes, remarked, trimmed)
