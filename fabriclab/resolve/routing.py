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
from functools import cache

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


@dataclass(frozen=True)
class _Destination:
    """A segment as others route to it."""

    segment: Segment
    nodes: frozenset[str]
    """Who is on it: there packets arrive."""
    ends: tuple[str, ...]
    networks: tuple[AnyNetwork, ...]
    """Its own, and those of its ports' extra addresses."""


def compute_routes(
    topology: Topology,
    segments: Sequence[Segment],
    addresses: Mapping[str, PortAddress],
    *,
    are_learnt: bool = False,
) -> dict[str, tuple[Route, ...]]:
    """Return every node's routes, of the family of the addresses: destinations in the order of the segments,
    merged ones where their first is; next hops too. `are_learnt`: switches learn theirs, and have none here."""
    switches = frozenset(topology.switches)
    hops = _hops_to_switches(segments, addresses, switches)
    hosts = frozenset(topology.hosts)
    beside: dict[str, list[Segment]] = defaultdict(list)
    for segment in segments:
        for end in segment.ends:
            beside[end.node].append(segment)
    routes = {
        host: (*_default_route(hops[host]), *_routes_beside(host, hosts, beside[host], addresses))
        for host in topology.hosts
    }
    if are_learnt:
        return {**routes, **dict.fromkeys(topology.switches, ())}
    distances = {switch: _distances(switch, hops, switches) for switch in topology.switches}
    destinations = [_destination(segment, addresses, distances) for segment in segments]
    text_of = cache(str)  # all switches have routes to about the same networks
    for switch in topology.switches:
        found = aggregate(_switch_routes(switch, destinations, addresses, hops, distances))
        routes[switch] = tuple(Route(destination=text_of(network), next_hops=ways) for network, ways in found)
    return routes


def _destination(
    segment: Segment, addresses: Mapping[str, PortAddress], switches: Mapping[str, object]
) -> _Destination:
    own = addresses[segment.ends[0].port].address.network
    extra = [extra_network(addresses[end.port].extra) for end in segment.ends]
    nodes = [end.node for end in segment.ends]
    return _Destination(
        segment=segment,
        nodes=frozenset(nodes),
        ends=tuple(node for node in nodes if node in switches),
        networks=tuple(network for network in (own, *extra) if network is not None),
    )


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
    """Yield routes to the extra addresses of a host's neighbours that are hosts too, on its segments."""
    for segment in segments:
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
    destinations: Sequence[_Destination],
    addresses: Mapping[str, PortAddress],
    hops: Mapping[str, list[_Hop]],
    distances: Mapping[str, Mapping[str, int]],
) -> Iterator[tuple[AnyNetwork, NextHops]]:
    """Yield the ways to all networks that the switch is not on; links are symmetric,
    so a distance holds in both directions."""
    # By the ends that are nearest: many segments share them, such as those of a leaf's hosts.
    known: dict[tuple[str, ...], NextHops] = {}
    away = distances[switch]
    for destination in destinations:
        if switch in destination.nodes:
            yield from ((network, (hop,)) for _, network, hop in _extra_beside(switch, destination.segment, addresses))
            continue
        reached = [end for end in destination.ends if end in away]
        if not reached:
            continue
        distance = min([away[end] for end in reached])
        nearest = tuple([end for end in reached if away[end] == distance])
        if nearest not in known:
            known[nearest] = _nearer(hops[switch], [distances[end] for end in nearest], distance)
        ways = known[nearest]
        for network in destination.networks:
            yield network, ways


def _nearer(hops: Sequence[_Hop], ends: Sequence[Mapping[str, int]], distance: int) -> NextHops:
    """Return the hops to neighbours that are nearer to one of the ends, by their distances, than `distance`."""
    return tuple(
        (hop.gateway, hop.interface)
        for hop in hops
        if any(distances.get(hop.neighbour) == distance - 1 for distances in ends)
    )
