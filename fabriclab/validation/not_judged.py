"""What a switch's own configuration has that acts in the switch and not in the run: what hangs on it is not judged.

A policy of routes at one switch changes the routes of all others, so it touches every path. An ACL touches what comes
by its ports: the sessions over them, and all that is said of pairs of hosts together. What was measured is kept, and
the reason stands beside it. A failure stays one: nothing that is left out would have made the network better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabriclab.formats.family import Family
from fabriclab.formats.plan.node import Node
from fabriclab.lab.network.own_configuration import NotEmulated, Touches
from fabriclab.validation.bench import Bench
from fabriclab.validation.finding import ValidationFinding, judged, over_family, shortened, unjudged

CHECK = "configuration"
_OF_PAIRS = ("paths", "balance", "reach", "mtu", "failure", "routes", "pings")
_HANGS: Mapping[Touches, tuple[str, ...]] = {
    "routes": (*_OF_PAIRS, "sessions", "victim"),
    "packets": (*_OF_PAIRS, "sessions", "class", "victim"),
    "paths": ("balance", "failure", "victim"),
    "classes": ("class", "marks", "lossless", "ecn-first", "victim", "watchdog"),
    "memory": ("lossless", "ecn-first"),
    "rates": (),
    "ipv4": ("reach", "mtu"),
    "ipv6": ("reach", "mtu"),
}
"""The checks whose verdict may be another one in the switch."""
_FAMILIES: Mapping[Touches, Family] = {"ipv4": 4, "ipv6": 6}
_ONE_SWITCH = ("sessions",)
"""Checks that say which switch they are about; others are about all of them."""


def of_configuration(bench: Bench) -> list[ValidationFinding]:
    """Return a line for each contradiction that breaks traffic, and for each thing that acts in a switch and not in the
    run. They are told whatever else is asked: no stage measures them."""
    expected = "acts as in the switch"
    wrong = [
        judged(CHECK, node, "files that agree", one.sentence, holds=False)
        for node, every in bench.contradictions.items()
        for one in every
        if one.severity == "error"
    ]
    return [*shortened(wrong)] + [
        unjudged(CHECK, f"{node} {one.where}", expected, f"not emulated: {one.why}")
        for node, one in _every(bench)
        if _is_in_lab(bench.plan.node(node), one)
    ]


def with_reasons(bench: Bench, findings: Sequence[ValidationFinding]) -> list[ValidationFinding]:
    """Return the findings; a pass that hangs on something that the run had not is not judged, and says why."""
    every = list(_every(bench))
    return [_with_reason(bench, finding, every) for finding in findings] if every else list(findings)


def _with_reason(
    bench: Bench, finding: ValidationFinding, every: Sequence[tuple[str, NotEmulated]]
) -> ValidationFinding:
    if finding.verdict != "pass":
        return finding
    reasons = [
        f"{node}: {one.sentence}"
        for node, one in every
        if finding.check in _HANGS[one.touches] and _touches(bench, finding, node, one)
    ]
    if not reasons:
        return finding
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return replace(finding, verdict="not judged", why=f"{reasons[0]}{more}")


def _every(bench: Bench) -> Iterator[tuple[str, NotEmulated]]:
    for node, found in bench.not_emulated.items():
        for one in found:
            yield node, one


def _touches(bench: Bench, finding: ValidationFinding, name: str, one: NotEmulated) -> bool:
    node = bench.plan.node(name)
    family = _FAMILIES.get(one.touches)
    if not _is_in_lab(node, one) or (family is not None and not finding.where.endswith(over_family(family))):
        return False
    if finding.check not in _ONE_SWITCH:
        return True
    about = finding.where.partition(",")[0].partition(":")[0]
    bound = _bound(node, one)
    ports = [port for port in node.ports if not bound or port.interface in bound]
    return about == name or about in {port.peer_node for port in ports}


def _is_in_lab(node: Node, one: NotEmulated) -> bool:
    """Return whether it is bound to a port that has a link in the lab, or to the whole switch."""
    return not one.ports or any(port.interface in _bound(node, one) for port in node.ports)


def _bound(node: Node, one: NotEmulated) -> frozenset[str]:
    """Return the ports, for a port channel or a VLAN those of its members."""
    groups = {channel.name: channel.members for channel in node.port_channels}
    members = {vlan.name: vlan.members for vlan in node.vlans}
    found = set(one.ports)
    for name in one.ports:
        for member in (*groups.get(name, ()), *members.get(name, ())):
            found |= {member, *groups.get(member, ())}
    return frozenset(found)
