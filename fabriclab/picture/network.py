"""What is drawn: nodes and links as plain data, and the tier of each node."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property

from fabriclab.formats.plan import Plan


@dataclass(frozen=True)
class Vertex:
    """A node of the drawing."""

    name: str
    is_host: bool
    tier: int | None = None
    """Level from the top, 1 and on, where it is known."""
    details: tuple[str, ...] = ()
    """Lines for whoever points at it: AS number, addresses."""


@dataclass(frozen=True)
class Edge:
    """A link between two nodes; each rate is that of the direction that leaves the port."""

    a: str
    """`node:interface`."""
    b: str
    rates_bps: tuple[int | None, int | None]
    delays_ns: tuple[int | None, int | None]

    @property
    def nodes(self) -> tuple[str, str]:
        """The names of the nodes."""
        return self.a.partition(":")[0], self.b.partition(":")[0]


@dataclass(frozen=True)
class Network:
    """Nodes and links in the order of the file."""

    name: str
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def neighbours(self) -> dict[str, list[str]]:
        """Each node's neighbours, once for each link."""
        found: dict[str, list[str]] = {vertex.name: [] for vertex in self.vertices}
        for edge in self.edges:
            a, b = edge.nodes
            found[a].append(b)
            found[b].append(a)
        return found

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The names of the nodes that are hosts."""
        return frozenset(vertex.name for vertex in self.vertices if vertex.is_host)

    @cached_property
    def tiers(self) -> dict[str, int]:
        """Each node's tier, from 1 at the top without gaps: as written, else by its distance from the nearest host."""
        distance = self._distances_from_hosts()
        bottom = max([*distance.values(), 0]) + 1
        written = [vertex.tier + distance[vertex.name] for vertex in self.vertices if vertex.tier is not None]
        bottom = max([bottom, *written])
        raw = {
            vertex.name: bottom - distance[vertex.name] if vertex.tier is None else vertex.tier
            for vertex in self.vertices
        }
        rank = {tier: index for index, tier in enumerate(sorted(set(raw.values())), 1)}
        return {name: rank[tier] for name, tier in raw.items()}

    def _distances_from_hosts(self) -> dict[str, int]:
        """Return the number of links to the nearest host; without any host, everything is on one level."""
        distance = dict.fromkeys((vertex.name for vertex in self.vertices if vertex.is_host), 0)
        waiting = deque(distance)
        while waiting:
            node = waiting.popleft()
            for neighbour in self.neighbours[node]:
                if neighbour not in distance:
                    distance[neighbour] = distance[node] + 1
                    waiting.append(neighbour)
        return {vertex.name: distance.get(vertex.name, 0) for vertex in self.vertices}


def network_of_plan(plan: Plan) -> Network:
    """Return the network of a plan; the tier of no node is known."""
    vertices, halves = [], {}
    for node in plan.nodes:
        addresses = tuple(" ".join([port.interface, *filter(None, (port.address, port.ipv6))]) for port in node.ports)
        vertices.append(Vertex(node.name, node.role == "host", None, addresses))
        for port in node.ports:
            halves[f"{node.name}:{port.interface}"] = port
    edges = []
    for name, port in halves.items():
        peer = f"{port.peer_node}:{port.peer_interface}"
        other = halves.get(peer)
        if other is not None and name < peer:
            edges.append(Edge(name, peer, (port.rate_bps, other.rate_bps), (port.delay_ns, other.delay_ns)))
    return Network(plan.lab, tuple(vertices), tuple(edges))
