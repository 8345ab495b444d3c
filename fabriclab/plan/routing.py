"""Static routes over all shortest paths, for any connected topology.

A host has a default route over all its ports to switches. A switch has a route to each link's network that it is not on, with every
neighbour that is nearer as a next hop; neighbouring networks with the same next hops share one. Hosts forward nothing, so paths lead
through switches only. The network of a host port's extra addresses is reached as the port's link is, and over it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from fabriclab.lab.topology import Link, Topology
from fabriclab.plan.addressing import PortAddress, extra_network
from fabriclab.plan.aggregation import aggregate
from fabriclab.plan.node import Route


@dataclass(frozen=True)
class _Hop:
    """A way from a node to a neighbour: its own interface, the neighbour, the neighbour's address."""

    interface: str
    neighbour: str
    gateway: str


def compute_routes(topology: Topology, addresses: Mapping[str, PortAddress]) -> dict[str, tuple[Route, ...]]:
    """Return every node's routes: destinations in the order of the file's links, merged ones where their first is; next hops too."""
    switches = frozenset(topology.switches)
    hops = _hops_to_switches(topology, addresses, switches)
    routes = {host: (*_default_route(hops[host]), *_routes_beside(host, topology, addresses)) for host in topology.hosts}
    distances = {switch: _distances(switch, hops, switches) for switch in topology.switches}
    routes.update({switch: _switch_routes(switch, topology, addresses, hops, distances) for switch in topology.switches})
    return routes


def _hops_to_switches(topology: Topology, addresses: Mapping[str, PortAddress], switches: frozenset[str]) -> dict[str, list[_Hop]]:
    hops: dict[str, list[_Hop]] = defaultdict(list)
    for link in topology.links:
        for end, other in ((link.a, link.b), (link.b, link.a)):
            if other.node in switches:
                hops[end.node].append(_Hop(end.interface, other.node, str(addresses[other.port].ipv4.ip)))
    return hops


def _default_route(hops: list[_Hop]) -> tuple[Route, ...]:
    """Return the default route; none for a host whose only neighbour is another host."""
    if not hops:
        return ()
    return (Route(destination="default", next_hops=tuple((hop.gateway, hop.interface) for hop in hops)),)


def _routes_beside(node: str, topology: Topology, addresses: Mapping[str, PortAddress]) -> Iterator[Route]:
    """Yield routes to the extra addresses of a host's neighbours that are hosts too."""
    for link in topology.links:
        neighbours = [end.node for end in link.ends if end.node != node and end.node in topology.hosts]
        if neighbours and node in (link.a.node, link.b.node):
            for network, hop in _extra_beside(node, link, addresses):
                yield Route(destination=str(network), next_hops=(hop,))


def _extra_beside(node: str, link: Link, addresses: Mapping[str, PortAddress]) -> Iterator[tuple[IPv4Network, tuple[str, str]]]:
    """Yield the network of extra addresses at the other end of a node's link, with the next hop that leads there."""
    own, other = (link.a, link.b) if node == link.a.node else (link.b, link.a)
    network = extra_network(addresses[other.port].extra)
    if network is not None:
        yield network, (str(addresses[other.port].ipv4.ip), own.interface)


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
    topology: Topology,
    addresses: Mapping[str, PortAddress],
    hops: Mapping[str, list[_Hop]],
    distances: Mapping[str, Mapping[str, int]],
) -> tuple[Route, ...]:
    """Return routes to all networks that the switch is not on; links are symmetric, so a distance holds in both directions."""
    routes: list[tuple[IPv4Network, tuple[tuple[str, str], ...]]] = []
    for link in topology.links:
        if switch in (link.a.node, link.b.node):
            routes += [(network, (hop,)) for network, hop in _extra_beside(switch, link, addresses)]
            continue
        ends = [end.node for end in link.ends if end.node in distances]
        distance = min((distances[switch][end] for end in ends if end in distances[switch]), default=None)
        if distance is None:
            continue
        nearer = [hop for hop in hops[switch] if any(distances[end].get(hop.neighbour) == distance - 1 for end in ends)]
        next_hops = tuple((hop.gateway, hop.interface) for hop in nearer)
        extra = [extra_network(addresses[end.port].extra) for end in link.ends]
        routes += [(network, next_hops) for network in (addresses[link.a.port].ipv4.network, *extra) if network is not None]
    return tuple(Route(destination=str(network), next_hops=next_hops) for network, next_hops in aggregate(routes))
