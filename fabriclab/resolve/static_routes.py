"""Static routes that a switch's own configuration has: which interfaces they leave by, and what becomes of other routes
beside them.

A route of a lower administrative distance wins over one to the same prefix: connected networks have 0, static routes 1
where nothing is written, what eBGP learns 20. Of different prefixes the longest wins, as always. Where a lab has no
BGP, the routes that follow from its topology fill in what the file does not cover.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from ipaddress import ip_interface, ip_network

from fabriclab.formats.family import AnyNetwork, is_within
from fabriclab.formats.plan.node import Node, Route, StaticRoute
from fabriclab.keys.wording import listed, shown
from fabriclab.lab.network.static_routes import StaticHop, WrittenStaticRoute
from fabriclab.resolve.interfaces import Interface, families_of, interfaces, neighbours

EBGP_DISTANCE = 20
"""FRR, lib/zebra.h: ZEBRA_EBGP_DISTANCE_DEFAULT."""


def resolve_static_routes(
    node: Node, written: Sequence[WrittenStaticRoute], nodes: Mapping[str, Node], notes: list[str]
) -> tuple[StaticRoute, ...]:
    """Return a switch's static routes, those of one prefix by their distances; what cannot be is noted."""
    families = families_of(node)
    absent = [route for route in written if route.prefix.version not in families]
    alone = f"left out, because the lab has addresses of IPv{families[0]} alone"
    notes += [f"{node.name}: {route.sentence('', alone)}" for route in absent]
    found: dict[tuple[AnyNetwork, int, bool], dict[tuple[str, str], None]] = {}
    advertised = set()
    for route in (one for one in written if one.prefix.version in families):
        own = interfaces(node, 6 if route.prefix.version == 6 else 4)
        if route.prefix in {ip_interface(one.address).network for one in own}:
            notes.append(
                f"{node.name}: {route.sentence('', 'never used, because the switch is on that network itself')}"
            )
            continue
        for hop in route.hops:
            pair = ("", "") if hop.blackhole else _next_hop(node, own, route, hop, nodes, notes)
            if pair is None:
                continue
            hops = found.setdefault((route.prefix, hop.distance, hop.blackhole), {})
            if not hop.blackhole:
                hops[pair] = None
            if route.advertised:
                advertised.add(route.prefix)
    routes = [
        StaticRoute(
            destination=str(prefix),
            next_hops=tuple(hops),
            distance=distance,
            blackhole=blackhole,
            advertised=prefix in advertised,
        )
        for (prefix, distance, blackhole), hops in found.items()
        # FRR has one of two routes of one prefix and distance; what drops and what leads somewhere are no equals.
        if not (blackhole and (prefix, distance, False) in found)
    ]
    return tuple(routes)


def _next_hop(
    node: Node,
    own: Sequence[Interface],
    route: WrittenStaticRoute,
    hop: StaticHop,
    nodes: Mapping[str, Node],
    notes: list[str],
) -> tuple[str, str] | None:
    """Return gateway and interface; None after noting why the next hop cannot be in the lab."""

    def left_out(field: str, message: str) -> None:
        notes.append(f"{node.name}: {route.sentence(field, f'{message}, so this next hop is left out')}")

    named = [one for one in own if one.name == hop.interface] if hop.interface else list(own)
    if not named:
        left_out(
            "ifname",
            f"{shown(hop.interface)} has no link or no address in the lab (these have both: "
            f"{listed([one.name for one in own])})",
        )
        return None
    if hop.address is None:
        return "", named[0].name
    through = [one for one in named if hop.address in ip_interface(one.address).network]
    if not through:
        networks = listed([str(ip_interface(one.address).network) for one in named])
        left_out("nexthop", f"{hop.address} is not on a link that the switch has there ({networks})")
        return None
    if str(hop.address) not in {other.interface.ip for other in neighbours(node, through[0], nodes)}:
        left_out("nexthop", f"{hop.address} is in the network of {through[0].name}, but no port there has that address")
        return None
    return str(hop.address), through[0].name


def beside_static(node: Node, computed: Sequence[Route], dead: Collection[str] = ()) -> tuple[Route, ...]:
    """Return a node's routes where BGP has no part: its own static ones, and of the computed those to
    nothing that these cover."""
    own = [ip_network(route.destination) for route in node.static_routes]
    rest = [
        route for route in computed if not any(is_within(ip_network(route.destination), network) for network in own)
    ]
    return (*rest, *_in_use(node.static_routes, dead))


def over_learnt(node: Node, learnt: Sequence[Route], dead: Collection[str] = ()) -> tuple[Route, ...]:
    """Return what a node's kernel must have beside BGP, with the interfaces `dead`: its static routes where their
    distance is the lower.

    Left out are prefixes of which the kernel has two routes, each with a metric of its own, or drops: a look at its
    routes does not tell which one it takes.
    """
    if not node.static_routes:
        return tuple(learnt)
    learnt_prefixes = {route.destination for route in learnt}
    unknown = {route.destination for route in node.static_routes if route.blackhole} | set(
        _repeated(node.static_routes)
    )
    behind = (route.destination for route in node.static_routes if route.distance >= EBGP_DISTANCE)
    unknown |= learnt_prefixes.intersection(behind)
    used = [route for route in _in_use(node.static_routes, dead) if route.destination not in unknown]
    static = {route.destination for route in used}
    return (*(route for route in learnt if route.destination not in static | unknown), *used)


def _repeated(routes: Sequence[StaticRoute]) -> Iterator[str]:
    seen = set()
    for route in routes:
        if route.destination in seen:
            yield route.destination
        seen.add(route.destination)


def _in_use(routes: Sequence[StaticRoute], dead: Collection[str]) -> Iterator[Route]:
    """Yield the best live route to each prefix; none to what is dropped."""
    best: dict[str, StaticRoute] = {}
    for route in routes:
        hops = tuple(hop for hop in route.next_hops if hop[1] not in dead)
        known = best.get(route.destination)
        if (hops or route.blackhole) and (known is None or route.distance < known.distance):
            best[route.destination] = route.model_copy(update={"next_hops": hops})
    for route in best.values():
        if not route.blackhole:
            yield Route(destination=route.destination, next_hops=route.next_hops)


def is_alive(route: StaticRoute, dead: Collection[str]) -> bool:
    """Return whether a static route drops, or leads somewhere, with the interfaces `dead`."""
    return route.blackhole or any(interface not in dead for _, interface in route.next_hops)
