"""The value of every parameter at a point, set or not: what a check's `where` and a figure's axes are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.where_clause import Scalar
from fabriclab.keys.values import NONE
from fabriclab.lab import AppliedSettings, Lab
from fabriclab.lab.reading.document import MappingValue, ScalarValue, Value
from fabriclab.lab.reading.names import expand_range
from fabriclab.lab.settings import keys_at, look_up, normalise, split_key
from fabriclab.lab.study_keys import VARIANT
from fabriclab.lab.switch.keys import SHARED
from fabriclab.units import format_duration, format_rate


def parameter_values(lab: Lab, applied: AppliedSettings, nodes: Sequence[Node]) -> dict[str, Scalar]:
    """Return each parameter's value, and the variant if one was chosen; a list,
    or what differs from link to link, is left out."""
    values: dict[str, Scalar] = {}
    if VARIANT in applied.settings:
        values[VARIANT] = applied.settings[VARIANT]
    for name, keys in lab.parameters.items():
        value = value_at(keys[0], applied, nodes)
        if value is not None:
            values[name] = value
    return values


def value_at(dotted: str, applied: AppliedSettings, nodes: Sequence[Node]) -> Scalar | None:
    """Return the value of a key at a point; None where it is a list, or hangs on a profile, or differs from link to
    link."""
    words = split_key(dotted)
    written = _written(words, applied)
    if isinstance(written, ScalarValue):
        return normalise(dotted, written.text, applied.document)
    if written is not None:
        return None
    if words[0] == "links":
        return _common_link_value(words[-1], [port for node in nodes for port in node.ports])
    if words[0] == "limit":
        return format_duration(applied.experiment.limit_ns)
    if words[0] == "traffic" and words[-1] == "congestion_control":
        controls = {node.transport.congestion_control for node in nodes if node.transport is not None}
        return controls.pop() if len(controls) == 1 else None
    if words[0] == "switches" and words[2] in SHARED.names and _hangs_on_a_profile(words[1], applied):
        return None
    if _is_given_up(words, applied):
        return NONE
    defaults = {key.default_canonical() for key in keys_at(dotted, applied.document)}
    return defaults.pop() if len(defaults) == 1 else None


def _written(words: Sequence[str], applied: AppliedSettings) -> Value | None:
    """Return what the most exact of the layers says that hold for a key."""
    found = (look_up(applied.document, ".".join(layer)) for layer in _layers(words, applied))
    return next((value for value in found if value is not None), None)


def _layers(words: Sequence[str], applied: AppliedSettings) -> Iterator[Sequence[str]]:
    """Yield a key below a node's name, below the ranges and groups that name it, the last first, and below `default`;
    of a numbered queue or group below its number, ranges that hold it, and `default`."""
    if len(words) < 2 or words[0] not in ("hosts", "switches"):
        yield words
        return
    section = applied.document.entries.get(words[0])
    every = list(section.entries) if isinstance(section, MappingValue) else []
    ranges = [name for name in reversed(every) if words[1] in (applied.experiment.groups.get(name) or _range(name))]
    names = dict.fromkeys([words[1], *ranges, "default"])
    if words[0] == "switches" and len(words) > 3 and words[2] in ("queues", "priority_groups"):
        holding = [f"{first}..{last}" for first in range(QUEUES) for last in range(first, QUEUES)]
        numbers = [words[3], *(one for one in holding if words[3] in _range(one)), "default"]
        yield from ([words[0], name, words[2], number, *words[4:]] for number in numbers for name in names)
    else:
        yield from ([words[0], name, *words[2:]] for name in names)


def _range(name: str) -> Sequence[str]:
    try:
        return expand_range(name) or ()
    except ValueError:
        return ()


def _is_given_up(words: Sequence[str], applied: AppliedSettings) -> bool:
    """Return whether a part that the key belongs to is `none`, written or by default."""
    for depth in range(len(words) - 1, 1, -1):
        above = _written(words[:depth], applied)
        if isinstance(above, MappingValue):
            return False
        if isinstance(above, ScalarValue):
            return above.text.strip() == NONE
        keys = keys_at(".".join(words[:depth]), applied.document)
        if any(key.default_written() == NONE for key in keys):
            return True
    return False


def _hangs_on_a_profile(switch: str, applied: AppliedSettings) -> bool:
    """Return whether a profile, or no shared buffer at all, says what a switch's keys are that nobody wrote."""
    shared = applied.experiment.shared_switches
    named = shared.values() if switch == "default" else [shared[switch]] if switch in shared else []
    return not named or any(one.profile is not None for one in named)


def _common_link_value(key: str, ports: Sequence[Port]) -> Scalar | None:
    """Return the value that all links of the topology have in common."""
    if key == "rate":
        values: set[Scalar] = {format_rate(port.rate_bps) for port in ports}
    elif key == "delay":
        values = {format_duration(port.delay_ns) for port in ports}
    else:
        values = {port.mtu for port in ports}
    return values.pop() if len(values) == 1 else None
