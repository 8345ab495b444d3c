"""From the nodes of all ranks to tasks: which nodes are one collective, and which receive belongs to which send."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fabriclab.flow_importers.chakra.durations import duration_ns
from fabriclab.flow_importers.chakra.nodes import COLLECTIVE_TYPES, RankTrace, TraceNode
from fabriclab.flow_importers.chakra.options import ONE, ChakraOptions
from fabriclab.flow_importers.chakra.process_groups import Groups, ProcessGroup, group_of, known_groups
from fabriclab.flow_importers.chakra.shapes import Shape, shape_of
from fabriclab.flow_importers.chakra.tasks import Collective, Message, Task, in_order
from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.workload.collective_schedules import OPERATIONS
from fabriclab.workload.trace_problems import TraceProblems

_OPERATION_OF = {
    "ALL_REDUCE": "all-reduce",
    "ALL_GATHER": "all-gather",
    "REDUCE_SCATTER": "reduce-scatter",
    "REDUCE_SCATTER_BLOCK": "reduce-scatter",
    "ALL_TO_ALL": "all-to-all",
    "BROADCAST": "broadcast",
    "REDUCE": "reduce",
    "GATHER": "gather",
    "SCATTER": "scatter",
    "BARRIER": "all-reduce",
}
_ROOT = {"BROADCAST": "comm_src", "SCATTER": "comm_src", "REDUCE": "comm_dst", "GATHER": "comm_dst"}
"""The attribute that names the root."""
_BARRIER_BYTES = 4
"""PyTorch's barrier is an all-reduce of one number (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, `barrier`)."""
_NETWORK = "network"


_Key = tuple[ProcessGroup, int, int]
"""A collective: its process group, its `comm_tag`, and its number among those of both."""


class _Expected(NamedTuple):
    """What all ranks of a group must have at one place of their order, because the first that was read has it."""

    kind: str
    size_bytes: int
    first: Task
    collective: Collective | None


class Matching:
    """Makes the tasks of all ranks."""

    def __init__(self, traces: Sequence[RankTrace], options: ChakraOptions, problems: TraceProblems) -> None:
        self._traces = traces
        self._options = options
        self._problems = problems
        self._expected: dict[_Key, _Expected] = {}
        self._connections: dict[ProcessGroup, str] = {}
        self._sends: dict[tuple[int, int, int], list[Task]] = {}
        self._receives: dict[tuple[int, int, int], list[Task]] = {}

    def tasks(self) -> list[Task]:
        """Return the tasks rank by rank, those of a rank in the order of their ids, dependencies first."""
        tasks = [task for trace in self._traces for task in self._of_rank(trace)]
        for task in tasks:
            if task.collective is not None and len(task.collective.tasks) < len(task.collective.group.ranks):
                self._wrong(task, self._absent(task.collective))
        self._match_messages()
        return tasks

    def _wrong(self, task: Task, message: str) -> None:
        self._problems.add(task.file, task.node.place, f"{task.node}: {message}")

    def _of_rank(self, trace: RankTrace) -> list[Task]:
        ordered = in_order(trace, self._problems)
        groups = known_groups(trace, self._options, len(self._traces), self._problems)
        made: dict[int, Task] = {}
        counts: dict[tuple[ProcessGroup, int], int] = {}
        last: dict[ProcessGroup, Task] = {}
        for node in ordered:
            task = Task(trace.rank, trace.file, node)
            task.before = [made[other] for other in node.depends if other in made]
            made[node.id] = task
            if node.on_cpu or not node.type.startswith("COMM_"):
                self._compute(task)
            elif node.type == "COMM_COLL_NODE":
                self._collective(task, groups, counts, last)
            else:
                self._message(task)
        return list(made.values())

    def _compute(self, task: Task) -> None:
        """A computation; a communication that is the CPU's is what launches that of the GPU."""
        taken = duration_ns(task.node, self._options)
        if isinstance(taken, str):
            self._wrong(task, taken)
            return
        task.duration_ns = taken
        if task.node.type in ("MEM_LOAD_NODE", "MEM_STORE_NODE"):
            task.stream = "memory"
        elif task.node.type not in ("METADATA_NODE", "INVALID_NODE"):
            task.stream = "cpu" if task.node.on_cpu else "gpu"

    def _collective(
        self,
        task: Task,
        groups: Groups,
        counts: dict[tuple[ProcessGroup, int], int],
        last: dict[ProcessGroup, Task],
    ) -> None:
        group = group_of(task.node, task.rank, groups, len(self._traces), self._options)
        kind = task.node.number("comm_type")
        if isinstance(group, str):
            self._wrong(task, group)
            return
        if kind is None or not 0 <= kind < len(COLLECTIVE_TYPES) or COLLECTIVE_TYPES[kind] not in _OPERATION_OF:
            named = COLLECTIVE_TYPES[kind] if kind is not None and 0 <= kind < len(COLLECTIVE_TYPES) else "none"
            self._wrong(
                task, f"comm_type {kind} ({named}) can't be converted; those that can are {', '.join(_OPERATION_OF)}"
            )
            return
        size = _BARRIER_BYTES if COLLECTIVE_TYPES[kind] == "BARRIER" else task.node.number("comm_size") or 0
        if size <= 0:
            self._wrong(task, f"comm_size {size} must be at least 1 byte")
            return
        tag = task.node.number("comm_tag") or 0
        key = (group, tag, counts.setdefault((group, tag), 0))
        counts[group, tag] += 1
        if group in last:
            task.before.append(last[group])
        last[group] = task
        self._join(task, key, COLLECTIVE_TYPES[kind], size)

    def _join(self, task: Task, key: _Key, kind: str, size: int) -> None:
        """Make a task part of the collective that the other ranks have at this place of their order, too."""
        group = key[0]
        if key not in self._expected:
            self._expected[key] = _Expected(kind, size, task, self._made(task, group, kind, size))
        expected = self._expected[key]
        if (expected.kind, expected.size_bytes) != (kind, size):
            self._wrong(
                task,
                f"{kind} of {size} bytes is number {key[2] + 1} of process group {group.name!r} on this rank, but "
                f"{expected.first} is {expected.kind} of {expected.size_bytes} bytes; all ranks must have the same "
                "collectives in one order",
            )
        elif expected.collective is not None:
            task.collective = expected.collective
            task.place = expected.collective.group.ranks.index(task.rank)
            task.stream = _NETWORK if self._options.communications == ONE else ""
            expected.collective.tasks[task.place] = task

    def _made(self, task: Task, group: ProcessGroup, kind: str, size: int) -> Collective | None:
        ranks = len(group.ranks)
        # The trace has what a rank contributes, the schedule's size is the whole result.
        whole = size * ranks if kind in ("ALL_GATHER", "GATHER") else size
        shape = self._shape(task, _OPERATION_OF[kind], ranks, whole)
        if shape is None:
            return None
        connection = self._connections.setdefault(group, str(len(self._connections)))
        ordered = ProcessGroup(group.name, _places(group, kind, task.node))
        is_raised = whole < _least_bytes(_OPERATION_OF[kind], ranks)
        return Collective(f"c{len(self._expected)}", _OPERATION_OF[kind], ordered, connection, shape, is_raised)

    def _shape(self, task: Task, operation: str, ranks: int, size: int) -> Shape | None:
        algorithm = self._options.algorithms.get(operation, OPERATIONS[operation][0])
        chunks, channels = self._options.chunks, self._options.channels
        least = _least_bytes(operation, ranks)
        if size < least * chunks * channels:
            # A loss or a norm, which a library does not divide either: with the least bytes that flows can have.
            size, chunks, channels = max(size, least), 1, 1
        try:
            return shape_of(operation, algorithm, ranks, size, chunks, channels)
        except ValueError as error:
            self._wrong(task, f"{error}; choose another by --algorithm {operation}=NAME")
            return None

    def _message(self, task: Task) -> None:
        own, other = ("comm_dst", "comm_src") if task.receives else ("comm_src", "comm_dst")
        mine, peer = task.node.number(own), task.node.number(other)
        if mine is not None and mine != task.rank:
            self._wrong(task, f"{own} {mine} must be the rank itself, {task.rank}")
            return
        if peer is None or not 0 <= peer < len(self._traces) or peer == task.rank:
            self._wrong(
                task, f"{other} {'none' if peer is None else peer} must be another rank, 0 to {len(self._traces) - 1}"
            )
            return
        if not task.receives and (task.node.number("comm_size") or 0) <= 0:
            self._wrong(task, f"comm_size {task.node.number('comm_size') or 0} must be at least 1 byte")
            return
        tag = task.node.number("comm_tag") or 0
        if task.receives:
            self._receives.setdefault((peer, task.rank, tag), []).append(task)
        else:
            task.stream = _NETWORK if self._options.communications == ONE else ""
            self._sends.setdefault((task.rank, peer, tag), []).append(task)

    def _match_messages(self) -> None:
        count = 0
        for (src, dst, tag), sends in self._sends.items():
            receives = self._receives.pop((src, dst, tag), [])
            for send, receive in zip(sends, receives, strict=False):
                message = Message(f"p{count}", src, dst, send.node.number("comm_size") or 0, send)
                send.message = receive.message = message
                count += 1
                size = receive.node.number("comm_size")
                if size and size != message.size_bytes:
                    self._wrong(receive, f"comm_size {size} differs from that of {send}, {message.size_bytes}")
            for send in sends[len(receives) :]:
                self._wrong(send, f"rank {dst} has no COMM_RECV_NODE for it (comm_src {src}, comm_tag {tag})")
            self._unsent(src, tag, receives[len(sends) :])
        for (src, _, tag), receives in self._receives.items():
            self._unsent(src, tag, receives)

    def _unsent(self, src: int, tag: int, receives: Sequence[Task]) -> None:
        for receive in receives:
            self._wrong(receive, f"rank {src} has no COMM_SEND_NODE for it (comm_dst {receive.rank}, comm_tag {tag})")

    def _absent(self, collective: Collective) -> str:
        absent = [rank for place, rank in enumerate(collective.group.ranks) if place not in collective.tasks]
        named = ", ".join(str(rank) for rank in absent[:20])
        return (
            f"{collective.operation} of process group {collective.group.name!r} lacks a node on the ranks {named}; all "
            "ranks of a group must have its collectives"
        )


def _least_bytes(operation: str, ranks: int) -> int:
    """Return the least size that has flows large enough: a broadcast and a reduce are not divided among the ranks."""
    return SMALLEST_BYTES if operation in ("broadcast", "reduce") else SMALLEST_BYTES * ranks


def _places(group: ProcessGroup, kind: str, node: TraceNode) -> tuple[int, ...]:
    """Return the ranks by place: of an operation with a root that is the first: who has the data (`comm_src`) or gets
    them (`comm_dst`), else the first of the group."""
    root = node.number(_ROOT[kind]) if kind in _ROOT else None
    at = group.ranks.index(root) if root in group.ranks else 0
    return (*group.ranks[at:], *group.ranks[:at])
