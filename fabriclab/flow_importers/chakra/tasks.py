"""What the ranks of a trace have to do: computations, and communications with their counterparts on other ranks.

Collectives of one process group (and, where it has one, one `comm_tag`) match by their order on each rank, sends and
receives by their order for each sender, receiver and tag. The order is that of the nodes' ids, dependencies first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from fabriclab.flow_importers.chakra.nodes import RankTrace, TraceNode
from fabriclab.flow_importers.chakra.process_groups import ProcessGroup
from fabriclab.flow_importers.chakra.shapes import Shape
from fabriclab.workload.trace_problems import TraceProblems

_MOST_NAMED = 8


@dataclass(eq=False, slots=True)
class Collective:
    """A collective of a process group."""

    name: str
    operation: str
    group: ProcessGroup
    connection: str
    """The first part of the names of its connections: collectives of one process group share them."""
    shape: Shape
    is_raised: bool
    """Whether the trace has fewer bytes than can be divided among the ranks."""
    tasks: dict[int, Task] = field(default_factory=dict)
    """By place in the group."""


@dataclass(eq=False, slots=True)
class Message:
    """What a COMM_SEND_NODE sends to a COMM_RECV_NODE."""

    name: str
    src: int
    dst: int
    size_bytes: int
    send: Task


@dataclass(eq=False, slots=True)
class Task:
    """What one node makes its rank do."""

    rank: int
    file: str
    node: TraceNode
    stream: str = ""
    """What of its rank it needs for itself as long as it takes, such as the GPU; empty: nothing."""
    duration_ns: int = 0
    collective: Collective | None = None
    place: int = 0
    """Its rank's place in the collective."""
    message: Message | None = None
    before: list[Task] = field(default_factory=list)
    """The tasks of its rank that must be done before it begins."""
    begun: int = -1
    """How many tasks have begun before it, where communications take no time."""
    ended_ns: int = 0
    """When it is done at the earliest: where communications take no time."""

    @property
    def receives(self) -> bool:
        """Whether it waits for a message."""
        return self.node.type == "COMM_RECV_NODE"

    def __str__(self) -> str:
        return f"rank {self.rank}'s {self.node}"


def in_order(trace: RankTrace, problems: TraceProblems) -> list[TraceNode]:
    """Return the nodes of a rank in the order of their ids, but dependencies first; what is wrong is recorded."""
    nodes = {node.id: node for node in trace.nodes}
    waits = {node.id: len(node.depends) for node in trace.nodes}
    dependents: dict[int, list[int]] = {}
    for node in trace.nodes:
        for other in node.depends:
            dependents.setdefault(other, []).append(node.id)
    ready = [number for number, count in waits.items() if count == 0]
    heapify(ready)
    ordered: list[TraceNode] = []
    while ready:
        number = heappop(ready)
        ordered.append(nodes[number])
        for other in dependents.get(number, ()):
            waits[other] -= 1
            if waits[other] == 0:
                heappush(ready, other)
    if len(ordered) < len(nodes):
        left = {number for number, count in waits.items() if count > 0}
        loop = _loop(nodes, left)
        says = " depends on ".join(str(number) for number in [*loop[:_MOST_NAMED], loop[0]])
        problems.add(trace.file, nodes[loop[0]].place, f"{nodes[loop[0]]} depends on itself: node {says}")
    return ordered


def _loop(nodes: dict[int, TraceNode], left: set[int]) -> list[int]:
    """Return nodes each of which depends on the next, the last on the first: each of those left depends on another."""
    path = [min(left)]
    while True:
        following = next(other for other in nodes[path[-1]].depends if other in left)
        if following in path:
            return path[path.index(following) :]
        path.append(following)
