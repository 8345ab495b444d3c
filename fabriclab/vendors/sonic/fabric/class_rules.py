"""A class is one thing end to end: a DSCP that is lossless at one switch and lossy at another loses frames there.

What most switches do is the measure; of two halves, that of the switches with hosts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabriclab.formats.finding import Severity
from fabriclab.formats.plan.switch import CODEPOINTS
from fabriclab.keys.wording import listed
from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.notes import number_ranges
from fabriclab.vendors.sonic.fabric.view import FabricFinding, View
from fabriclab.vendors.sonic.judge.pfc_rules import lossless_groups
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.lab.fabric_switches import FabricSwitch

_MOST_NAMED = 3


class _Treatment(NamedTuple):
    """What becomes of a DSCP."""

    is_lossless: bool
    queue: int

    def __str__(self) -> str:
        return f"{'lossless' if self.is_lossless else 'lossy'}, in queue {self.queue}"


_Of = Mapping[str, tuple[_Treatment, ...]]
"""By switch, for each DSCP."""


def classes(view: View) -> Iterator[FabricFinding]:
    """Each DSCP is lossless at all switches, or at none, and has one queue."""
    treatments = {switch.name: found for switch in view.linked if (found := _treatments(view, switch)) is not None}
    if len(treatments) < 2:
        return
    edge = {switch.name for switch in view.linked if any(True for _ in view.host_ports(switch))}
    others: dict[tuple[str, _Treatment, _Treatment], list[int]] = defaultdict(list)
    for dscp in range(CODEPOINTS):
        usual = _usual(treatments, dscp, edge)
        for name, of in treatments.items():
            if of[dscp] != usual:
                others[name, of[dscp], usual].append(dscp)
    for (name, own, usual), dscps in others.items():
        alike = [other for other, of in treatments.items() if of[dscps[0]] == usual]
        yield _differs(view.fabric.switches[name], own, usual, dscps, alike, len(treatments))


def _treatments(view: View, switch: FabricSwitch) -> tuple[_Treatment, ...] | None:
    """Return what most of a switch's ports to other switches do; None where its tables do not say."""
    configured = view.configured.get(switch.name)
    if configured is None:
        return None
    ends = {end.port for ends in view.neighbours[switch.name].values() for end in ends}
    ports = [port for port in configured.ports if port.name in ends and _has_classes(view, switch, port)]
    if not ports:
        return None
    found = Counter(tuple(_treatment(port, dscp) for dscp in range(CODEPOINTS)) for port in ports)
    return found.most_common(1)[0][0]


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


def _usual(treatments: _Of, dscp: int, edge: set[str]) -> _Treatment:
    """Return what most switches do with a DSCP; of equally many, what those with hosts do."""
    counts = Counter(of[dscp] for of in treatments.values())
    at_edge = Counter(of[dscp] for name, of in treatments.items() if name in edge)
    return max(counts, key=lambda one: (counts[one], at_edge[one]))


def _differs(
    switch: FabricSwitch, own: _Treatment, usual: _Treatment, dscps: list[int], alike: list[str], total: int
) -> FabricFinding:
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
    path = _path(switch, dscps[0])
    one = finding("class-differs", path, value, bound, fate, "write the same maps, groups and PFC", (), severity)
    return FabricFinding(switch.name, one)


def _path(switch: FabricSwitch, dscp: int) -> tuple[str, ...]:
    """Return where the class of a DSCP is written."""
    qos = next((one for one in switch.config.port_qos.values() if "dscp_to_tc_map" in one.maps), None)
    return ("PORT_QOS_MAP",) if qos is None else ("DSCP_TO_TC_MAP", qos.maps["dscp_to_tc_map"], str(dscp))


CLASS_RULES = (classes,)
