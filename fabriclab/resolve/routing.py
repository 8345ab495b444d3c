"""Static routes over all shortest paths, for any connected topology.

A host has a default route over all its interfaces to switches. A switch has a route to the network of each segment (a
link, a port channel, a VLAN) that it is not on, with every neighbour that is nearer as a next hop; neighbouring
networks with the same next hops share one. Hosts forward nothing, so paths lead through switches only. The network of a
host port's extra addresses is reached as the port's link is, and over it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabriclab.formats.family import AnyNetwork
from fabriclab.formats.plan.node import DEFAULT, DEFAULT6, Route
from fabriclab.lab.network.segments import Segment
from fabriclab.lab.network.topology import Topology
from fabriclab.resolve.addressing import PortAddress, extra_network
from fabriclab.resolve.route_aggregation import NextHops, aggregate


@dataclass(frozen=True)
class _Hop:
    """A way from a node to a neighbour: its own interface, the neighbour, the neighbour's address."""

    interface: str
    neighbour: str
    gateway: str


def compute_routes(
    topology: Topology, segments: Sequence[Segment], addresses: Mapping[str, PortAddress]
) -> dict[str, tuple[Route, ...]]:
    """Return every node's routes, of the family of the addresses: destinations in the order of the segments,
    merged ones where their first is; next hops too."""
    switches = frozenset(topology.switches)
    hops = _hops_to_switches(segments, addresses, switches)
    hosts = frozenset(topology.hosts)
    routes = {
        host: (*_default_route(hops[host]), *_routes_beside(host, hosts, segments, addresses))
        for host in topology.hosts
    }
    distances = {switch: _distances(switch, hops, switches) for switch in topology.switches}
    routes.update(
        {switch: _switch_routes(switch, segments, addresses, hops, distances) for switch in topology.switches}
    )
    return routes


def _hops_to_switches(
    segments: Sequence[Segment], addresses: Mapping[str, PortAddress], switches: frozenset[str]
) -> dict[str, list[_Hop]]:
    hops: dict[str, list[_Hop]] = defaultdict(list)
    for segment in segments:
        for end in segment.ends:
            for other in segment.ends:
                if other is not end and other.node in switches:
                    hops[end.node].append(_Hop(end.interface, other.node, str(addresses[other.port].address.ip)))
    return hops


def _default_route(hops: list[_Hop]) -> tuple[Route, ...]:
    """Return the default route; none for a host whose only neighbour is another host."""
    if not hops:
        return ()
    destination = DEFAULT6 if ":" in hops[0].gateway else DEFAULT
    return (Route(destination=destination, next_hops=tuple((hop.gateway, hop.interface) for hop in hops)),)


def _routes_beside(
    node: str, hosts: frozenset[str], segments: Sequence[Segment], addresses: Mapping[str, PortAddress]
) -> Iterator[Route]:
    """Yield routes to the extra addresses of a host's neighbours that are hosts too."""
    for segment in segments:
        if any(end.node == node for end in segment.ends):
            for neighbour, network, hop in _extra_beside(node, segment, addresses):
                if neighbour in hosts:
                    yield Route(destination=str(network), next_hops=(hop,))


def _extra_beside(
    node: str, segment: Segment, addresses: Mapping[str, PortAddress]
) -> Iterator[tuple[str, AnyNetwork, tuple[str, str]]]:
    """Yield a neighbour on a node's segment, the network of its extra addresses, and the next hop that leads there."""
    (own,) = (end for end in segment.ends if end.node == node)
    for other in segment.ends:
        network = extra_network(addresses[other.port].extra)
        if other is not own and network is not None:
            yield other.node, network, (str(addresses[other.port].address.ip), own.interface)


def _distances(source: str, hops: Mapping[str, list[_Hop]], switches: frozenset[str]) -> dict[str, int]:
    """Return the number of links from a switch to every switch that it reaches."""
    distances = {source: 0}
    frontier = [source]
    while frontier:
        following = []
        for node in frontier:
            for hop in hops[node]:
                if hop.neighbour in switches and hop.neighbour not in distances:
                    distances[hop.neighbour] = distances[node] + 1
                    following.append(hop.neighbour)
        frontier = following
    return distances


def _switch_routes(
    switch: str,
    segments: Sequence[Segment],
    addresses: Mapping[str, PortAddress],
    hops: Mapping[str, list[_Hop]],
    distances: Mapping[str, Mapping[str, int]],
) -> tuple[Route, ...]:
    """Return routes to all networks that the switch is not on; links are symmetric,
    so a distance holds in both directions."""
    routes: list[tuple[AnyNetwork, NextHops]] = []
    reached: dict[tuple[str, ...], NextHops] = {}
    away = distances[switch]
    for segment in segments:
        if any(end.node == switch for end in segment.ends):
            routes += [(network, (hop,)) for _, network, hop in _extra_beside(switch, segment, addresses)]
            continue
        ends = [end.node for end in segment.ends if end.node in away]
        if not ends:
            continue
        distance = min(away[end] for end in ends)
        nearest = tuple(end for end in ends if away[end] == distance)
        if nearest not in reached:
            reached[nearest] = _nearer(hops[switch], [distances[end] for end in nearest], distance)
        next_hops = reached[nearest]
        extra = [extra_network(addresses[end.port].extra) for end in segment.ends]
        network = addresses[segment.ends[0].port].address.network
        routes += [(network, next_hops) for network in (network, *extra) if network is not None]
    return tuple(Route(destination=str(network), next_hops=next_hops) for network, next_hops in aggregate(routes))


def _nearer(hops: Sequence[_Hop], ends: Sequence[Mapping[str, int]], distance: int) -> NextHops:
    """Return the hops to neighbours that are nearer to one of the ends, by their distances, than `distance`."""
    return tuple(
        (hop.gateway, hop.interface)
        for hop in hops
        if any(distances.get(hop.neighbour) == distance - 1 for distances in ends)
    )
