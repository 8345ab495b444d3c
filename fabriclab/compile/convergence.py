"""What the kernel's routes must be before the traffic starts, and after a link has changed: the plan's own calculation
as data.

The form is that of `images/machine/README.md`, "Routes": for each switch its prefixes, the interfaces that may lead
there, and how many do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriclab.formats.job import Expectation, ExpectedNode, ExpectedRoute, Ready
from fabriclab.formats.plan.model import Bgp, Plan
from fabriclab.formats.plan.node import Route
from fabriclab.resolve.bgp import bgp_routes

READY_INTERVAL_NS = 10_000_000
RECONVERGENCE_INTERVAL_NS = 1_000_000
"""How often the routes are looked at, virtual time: the resolution of what is measured."""

Routes = Mapping[str, Sequence[Route]]


def compile_ready(plan: Plan) -> Ready | None:
    """Return the job's `ready`; None for static routes, which are there from the start."""
    if plan.bgp is None:
        return None
    routes = {node.name: node.routes for node in plan.nodes if node.role == "switch"}
    return {
        "interval_ns": READY_INTERVAL_NS,
        "limit_ns": plan.bgp.convergence_limit_ns,
        "nodes": [
            _node(name, [_expected(route, plan.bgp) for route in found]) for name, found in routes.items() if found
        ],
    }


def compile_reconvergence(plan: Plan, before: Routes, after: Routes) -> Expectation | None:
    """Return what must become of the routes that a change of links changes; None when nothing does,
    or nobody learns of it."""
    if plan.bgp is None:
        return None
    nodes = []
    for name, routes in after.items():
        changed = _changed(before.get(name, ()), routes, plan.bgp)
        if changed:
            nodes.append(_node(name, changed))
    return {"interval_ns": RECONVERGENCE_INTERVAL_NS, "nodes": nodes} if nodes else None


def routes_without(plan: Plan, dead: Sequence[str]) -> Routes:
    """Return every switch's routes while some ports carry nothing; none where routes are static."""
    return {} if plan.bgp is None else bgp_routes(plan.nodes, unnumbered=plan.bgp.unnumbered, dead=frozenset(dead))


def _node(name: str, routes: list[ExpectedRoute]) -> ExpectedNode:
    return {"node": name, "routes": routes}


def _changed(before: Sequence[Route], after: Sequence[Route], bgp: Bgp) -> list[ExpectedRoute]:
    old = {route.destination: route for route in before}
    new = {route.destination: route for route in after}
    changed = [_expected(route, bgp) for route in after if old.get(route.destination) != route]
    gone: list[ExpectedRoute] = [
        {"prefix": prefix, "interfaces": [], "paths": 0} for prefix in old if prefix not in new
    ]
    return changed + gone


def _expected(route: Route, bgp: Bgp) -> ExpectedRoute:
    interfaces = [interface for _, interface in route.next_hops]
    return {"prefix": route.destination, "interfaces": interfaces, "paths": min(len(interfaces), bgp.max_paths)}
