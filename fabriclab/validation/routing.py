"""What routing came to: BGP's sessions as each switch's bgpd tells, and the next hops that its kernel has.

Words of `show bgp ipv4 unicast summary json`: FRR, bgpd/bgp_vty.c (bgp_show_summary). Routes: `ip -j route show`. Of
IPv6 likewise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabriclab.formats.family import Family, family_of
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Route
from fabriclab.resolve.interfaces import fabric_neighbours
from fabriclab.results import Results
from fabriclab.units import format_count
from fabriclab.validation.bench import Bench, Collector, collected
from fabriclab.validation.finding import ValidationFinding, judged, shortened, unmeasured

_ROUTES = {4: ("ip", "-j", "route", "show"), 6: ("ip", "-j", "-6", "route", "show")}
_ESTABLISHED = "Established"
_NOT_LIVE = {"dead", "linkdown"}


def collectors(bench: Bench) -> tuple[Collector, ...]:
    """Return what is asked at the end of a run, of each switch."""
    asked = [(switch.name, family) for switch in bench.switches for family in bench.plan.families]
    routes = [Collector(_named("kernel-routes", family), switch, _ROUTES[family]) for switch, family in asked]
    sessions = [
        Collector(_named("sessions", family), switch, ("vtysh", "-c", f"show bgp ipv{family} unicast summary json"))
        for switch, family in asked
        if bench.plan.bgp is not None
    ]
    return (*routes, *sessions)


def _named(what: str, family: Family) -> str:
    return what if family == 4 else f"{what}6"


def judge_routing(bench: Bench, results: Results) -> list[ValidationFinding]:
    """Return what was found of sessions and routes, a line for each switch where all is well."""
    found: list[ValidationFinding] = []
    for switch in bench.switches:
        for family in bench.intended.families if bench.intended.bgp is not None else ():
            found += _judge_sessions(bench, switch, family, collected(results, _named("sessions", family), switch.name))
        found += _judge_paths(bench.intended.node(switch.name), _tables(results, switch.name, bench.intended.families))
    return sorted(found, key=lambda finding: finding.check != "sessions")


def observed(plan: Plan, results: Results) -> Plan:
    """Return the plan with the routes that the switches really found: what the traffic of a
    broken network waits for."""
    nodes = []
    for node in plan.nodes:
        live = _tables(results, node.name, plan.families) if node.role == "switch" else None
        routes = [_with_hops(route, (live or {}).get(_prefix(route.destination), ())) for route in node.routes]
        nodes.append(
            node
            if live is None
            else node.model_copy(update={"routes": tuple(route for route in routes if route.next_hops)})
        )
    return plan.model_copy(update={"nodes": tuple(nodes)})


def _with_hops(route: Route, interfaces: Sequence[str]) -> Route:
    return route.model_copy(update={"next_hops": tuple(hop for hop in route.next_hops if hop[1] in interfaces)})


def _tables(results: Results, switch: str, families: Sequence[Family]) -> dict[str, list[str]] | None:
    """Return the interfaces of a switch's routes of all families, by prefix; None where nothing was collected."""
    outputs = {family: collected(results, _named("kernel-routes", family), switch) for family in families}
    if all(output is None for output in outputs.values()):
        return None
    return {
        prefix: interfaces
        for family, output in outputs.items()
        for prefix, interfaces in _live_interfaces(_parsed(output), family).items()
    }


def _judge_sessions(bench: Bench, switch: Node, family: Family, output: str | None) -> list[ValidationFinding]:
    intended = bench.intended.node(switch.name)
    neighbours = fabric_neighbours(intended, bench.intended.by_name(), family)
    expected = f"{len(neighbours)} {_ESTABLISHED}"
    summary = _parsed(output)
    if not isinstance(summary, dict):
        return [unmeasured("sessions", switch.name, expected, "bgpd gave no answer")]
    peers = summary.get(f"ipv{family}Unicast", summary).get("peers", {})
    # A neighbour is called by its address, or, without addresses, by the interface that leads to it.
    states = [
        (own, peer, _state(peers, (*_called(intended, own.name, family), peer.interface.ip, own.name)))
        for own, peer in neighbours
    ]
    wrong = [
        judged("sessions", f"{switch.name}:{own.name} to {peer.node.name}", _ESTABLISHED, state, holds=False)
        for own, peer, state in states
        if state != _ESTABLISHED
    ]
    return shortened(wrong) or [judged("sessions", switch.name, expected, expected, holds=True)]


def _called(switch: Node, interface: str, family: Family) -> list[str]:
    """Return what a switch's own configuration calls a neighbour: over its addresses of IPv4, routes of IPv6 may go,
    too."""
    own = () if switch.bgp is None else switch.bgp.neighbours
    return [one.address for one in own if one.interface == interface and one.address and one.carries(family)]


def _state(peers: Mapping[str, Any], names: Sequence[str]) -> str:
    peer = next((peers[name] for name in names if name in peers), None)
    return "no such neighbour" if peer is None else str(peer.get("state", "unknown"))


def _judge_paths(switch: Node, live: Mapping[str, Sequence[str]] | None) -> list[ValidationFinding]:
    widths = sorted({len(route.next_hops) for route in switch.routes}, reverse=True)
    if live is None:
        return [
            unmeasured("paths", switch.name, f"{len(switch.routes)} routes", "the kernel's routes were not collected")
        ]
    wrong = [
        judged(
            "paths",
            f"{switch.name} to {route.destination}",
            _hops_text(_interfaces(route)),
            _hops_text(found),
            holds=False,
        )
        for route in switch.routes
        if sorted(found := _hops_of(route, live)) != sorted(_interfaces(route))
    ]
    return shortened(wrong) or list(_widths(switch, widths))


def _widths(switch: Node, widths: Sequence[int]) -> Iterator[ValidationFinding]:
    for width in widths:
        networks = sum(len(route.next_hops) == width for route in switch.routes)
        text = f"{format_count(width, 'next hop')} to {format_count(networks, 'network')}"
        yield judged("paths", switch.name, text, text, holds=True)


def _interfaces(route: Route) -> list[str]:
    return [interface for _, interface in route.next_hops]


def _hops_of(route: Route, live: Mapping[str, Sequence[str]]) -> list[str]:
    return list(live.get(_prefix(route.destination), ()))


def _hops_text(interfaces: Sequence[str]) -> str:
    return f"{format_count(len(interfaces), 'next hop')}: {', '.join(interfaces)}" if interfaces else "no route"


def _live_interfaces(table: Any, family: Family) -> dict[str, list[str]]:
    """Return the interfaces of the live next hops of each route, by prefix."""
    found = {}
    for route in table if isinstance(table, list) else ():
        hops = route.get("nexthops") or [route]
        found[_prefix(route["dst"], family)] = [
            hop["dev"] for hop in hops if "dev" in hop and not _NOT_LIVE & set(hop.get("flags", ()))
        ]
    return found


def _prefix(destination: str, family: Family | None = None) -> str:
    family = family_of(destination) if family is None else family
    if destination == "default":
        return "0.0.0.0/0" if family == 4 else "::/0"
    return destination if "/" in destination else f"{destination}/{32 if family == 4 else 128}"


def _parsed(output: str | None) -> Any:
    if output is None or not output.strip():
        return [] if output is not None else None
    try:
        return json.loads(output)
    except json.JSONDecodeError:
        return None
