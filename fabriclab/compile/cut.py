"""Into which parts a lab is cut that runs in several machines at once, one core each.

A machine may run ahead of another one by the delay of the cables between them, so links are cut where that is long;
a host stays with the switch that it is at. Of all links with the longest delays those are cut that carry least, so that
all parts have about as much to do: what a node has to do is taken to be as much as its ports can send, a host's several
times over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node

MOST_PARTS = 32
"""WIRES_PARTS_MAX of the kernel's `arch/um/kernel/wires.h`."""
_UNEVEN = 1.25
"""A part may have so much more to do than its share, for the sake of longer delays."""
_HOST_WORK = 4
"""What a packet takes at a host, with its TCP, to what it takes at a port of a switch; measured roughly."""
_ROUNDS = 8
"""Of improvement; each moves what gains most."""

Weights = dict[int, dict[int, int]]


@dataclass(frozen=True)
class Cut:
    """Parts of a lab: the names of their nodes, in the plan's order."""

    parts: tuple[tuple[str, ...], ...]
    least_delay_ns: int
    """Of the links between parts; of all links, where there is one part only."""
    links: int
    """How many links are cut."""

    def part_of(self) -> dict[str, int]:
        """Return the number of each node's part."""
        return {name: number for number, names in enumerate(self.parts) for name in names}


class _Clusters:
    """Nodes that stay together, and what connects them."""

    def __init__(self, plan: Plan, kept_ns: int) -> None:
        """Keep together what a link of less than `kept_ns` connects, and hosts with their switches."""
        self._of = {node.name: node.name for node in plan.nodes}
        degrees = {node.name: len(node.ports) for node in plan.nodes}
        hosts = plan.host_names
        for node in plan.nodes:
            for port in node.ports:
                lonely = node.name in hosts and degrees[node.name] == 1
                if lonely or min(port.delay_ns, plan.peer_of(port).delay_ns) < kept_ns:
                    self._of[self._root(node.name)] = self._root(port.peer_node)
        numbers: dict[str, int] = {}
        self.of = {node.name: numbers.setdefault(self._root(node.name), len(numbers)) for node in plan.nodes}
        self.work = [0] * len(numbers)
        self.hosts = [0] * len(numbers)
        """What its hosts have to do."""
        self.links: Weights = {number: defaultdict(int) for number in range(len(numbers))}
        for node in plan.nodes:
            for port in node.ports:
                here, there = self.of[node.name], self.of[port.peer_node]
                self.work[here] += port.rate_bps * (_HOST_WORK if node.name in hosts else 1)
                self.hosts[here] += port.rate_bps if node.name in hosts else 0
                if here != there:
                    self.links[here][there] += port.rate_bps

    def _root(self, name: str) -> str:
        while self._of[name] != name:
            name = self._of[name]
        return name


def cut_plan(plan: Plan, count: int) -> Cut | None:
    """Return how a plan is cut into so many parts; None where it can't be cut so."""
    if count == 1:
        return one_part(plan)
    plan = with_shortest_delays(plan)
    delays = sorted({port.delay_ns for node in plan.nodes for port in node.ports if port.delay_ns > 0})
    found: Cut | None = None
    for kept_ns in delays:
        clusters = _Clusters(plan, kept_ns)
        grown = _grown(clusters, count)
        if grown is None:
            break
        where = _improved(clusters, grown, count)
        loads = _loads(clusters, where, count)
        # Longer delays are better where the parts are as even.
        if found is not None and max(loads) > _UNEVEN * sum(clusters.work) / count:
            break
        found = _as_cut(plan, clusters, where, count)
    return found


def with_shortest_delays(plan: Plan) -> Plan:
    """Return a plan whose links have the shortest delays that events ever give them."""
    shortest: dict[str, int] = {}
    for event in plan.events:
        later = [(f"{node.name}:{port.interface}", port.delay_ns) for node in event.nodes for port in node.ports]
        if event.delay_ns is not None:
            later += [(name, event.delay_ns) for link in event.links for name in link]
        for name, delay_ns in later:
            shortest[name] = min(shortest.get(name, delay_ns), delay_ns)
    if not shortest:
        return plan

    def shortened(node: Node) -> Node:
        ports = []
        for port in node.ports:
            delay_ns = min(port.delay_ns, shortest.get(f"{node.name}:{port.interface}", port.delay_ns))
            ports.append(port.model_copy(update={"delay_ns": delay_ns}))
        return node.model_copy(update={"ports": tuple(ports)})

    return plan.model_copy(update={"nodes": tuple(shortened(node) for node in plan.nodes)})


def one_part(plan: Plan) -> Cut:
    """Return the cut that cuts nothing."""
    least_ns = min((port.delay_ns for node in plan.nodes for port in node.ports), default=0)
    return Cut((tuple(node.name for node in plan.nodes),), least_ns, 0)


def _loads(clusters: _Clusters, where: Sequence[int], count: int) -> list[int]:
    loads = [0] * count
    for cluster, part in enumerate(where):
        if part >= 0:
            loads[part] += clusters.work[cluster]
    return loads


def _grown(clusters: _Clusters, count: int) -> list[int] | None:
    """Return a part for each cluster; None where there are too few with hosts.

    Those with hosts are grouped, such as share neighbours first: the racks of a pod. Each of the others then goes where
    most of its links lead, or where there is least to do, those next to the racks first.
    """
    where = [-1] * len(clusters.work)
    racks = [cluster for cluster, hosts in enumerate(clusters.hosts) if hosts]
    if len(racks) < count:
        return None
    left = sum(clusters.hosts)
    for part in range(count):
        load = _group(clusters, where, racks, part, left / (count - part))
        left -= load
    loads = _loads(clusters, where, count)
    while -1 in where:
        known = list(where)
        wave = [
            cluster for cluster, part in enumerate(known) if part < 0 and _into(clusters, known, cluster).keys() != {-1}
        ]
        for cluster in wave or [known.index(-1)]:
            into = _into(clusters, known, cluster)
            where[cluster] = max(range(count), key=lambda part: (into[part], -loads[part], -part))
            loads[where[cluster]] += clusters.work[cluster]
    return where


def _group(clusters: _Clusters, where: list[int], racks: Sequence[int], part: int, target: float) -> int:
    """Put racks into a part until it has about so much to do; return how much it has."""
    load, near = 0, set[int]()
    while free := [rack for rack in racks if where[rack] < 0]:
        best = max(free, key=lambda rack: (len(near & clusters.links[rack].keys()), -rack))
        if load and load + clusters.hosts[best] / 2 > target:
            break
        where[best] = part
        load += clusters.hosts[best]
        near |= clusters.links[best].keys()
    return load


def _into(clusters: _Clusters, where: Sequence[int], cluster: int) -> dict[int, int]:
    """Return what a cluster's links carry into each part; -1: into none yet."""
    into: dict[int, int] = defaultdict(int)
    for neighbour, rate in clusters.links[cluster].items():
        into[where[neighbour]] += rate
    return into


def _improved(clusters: _Clusters, where: list[int], count: int) -> list[int]:
    """Return the parts after moves that cut less and leave none with more than the fullest had (after Fiduccia and
    Mattheyses 1982)."""
    loads = _loads(clusters, where, count)
    most = max(*loads, sum(loads) / count * (1 + (_UNEVEN - 1) / 5))
    for _ in range(_ROUNDS):
        moved = False
        for cluster, part in enumerate(where):
            into = _better(clusters, where, cluster, (p for p in range(count) if p != part))
            if into is None or loads[into] + clusters.work[cluster] > most or loads[part] == clusters.work[cluster]:
                continue
            loads[part] -= clusters.work[cluster]
            loads[into] += clusters.work[cluster]
            where[cluster] = into
            moved = True
        if not moved:
            break
    return where


def _better(clusters: _Clusters, where: Sequence[int], cluster: int, others: Iterable[int]) -> int | None:
    """Return the part that a cluster has most links into, if these are more than into its own."""
    into = _into(clusters, where, cluster)
    best = max(others, key=lambda part: (into[part], -part), default=None)
    return best if best is not None and into[best] > into[where[cluster]] else None


def _as_cut(plan: Plan, clusters: _Clusters, where: Sequence[int], count: int) -> Cut:
    part_of = {node.name: where[clusters.of[node.name]] for node in plan.nodes}
    ends = [(part_of[node.name], part_of[port.peer_node], port.delay_ns) for node in plan.nodes for port in node.ports]
    cut = [delay for here, there, delay in ends if here != there]
    parts = tuple(tuple(node.name for node in plan.nodes if part_of[node.name] == part) for part in range(count))
    return Cut(parts, min(cut or [delay for *_, delay in ends]), len(cut) // 2)
