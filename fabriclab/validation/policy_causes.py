"""The cause of pairs of hosts that do not reach each other, where a policy of routes is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabriclab.resolve.interfaces import fabric_neighbours
from fabriclab.resolve.policy_effects import PolicyEffects
from fabriclab.validation.bench import Bench
from fabriclab.validation.finding import ValidationFinding

_MOST_CAUSES = 2


def with_causes(bench: Bench, findings: Sequence[ValidationFinding]) -> list[ValidationFinding]:
    """Return the findings; a pair of hosts of which a policy keeps the route from a switch says which policy."""
    if bench.intended.bgp is None or not any(_is_pair(finding) for finding in findings):
        return list(findings)
    effects = PolicyEffects(bench.intended.nodes, unnumbered=bench.intended.bgp.unnumbered)
    return [_with_cause(bench, effects, finding) if _is_pair(finding) else finding for finding in findings]


def _is_pair(finding: ValidationFinding) -> bool:
    return finding.check == "reach" and finding.verdict == "fail" and " to " in finding.where


def _with_cause(bench: Bench, effects: PolicyEffects, finding: ValidationFinding) -> ValidationFinding:
    """Return a finding with the policies that keep either host's network from the other's switches."""
    one, _, rest = finding.where.partition(" to ")
    other = rest.partition(",")[0]
    causes = [
        cause
        for near, far in ((one, other), (other, one))
        for switch in _switches(bench, near)
        for cause in effects.causes(far, switch)
    ]
    if not causes:
        return finding
    more = len(causes) - _MOST_CAUSES
    named = "; ".join(causes[:_MOST_CAUSES]) + (f" (and {more} more)" if more > 0 else "")
    return replace(finding, measured=f"{finding.measured}; {named}")


def _switches(bench: Bench, host: str) -> list[str]:
    nodes = bench.intended.by_name()
    return [neighbour.node.name for _, neighbour in fabric_neighbours(nodes[host], nodes)] if host in nodes else []
