"""In which order tasks begin that no dependency orders.

As in ASTRA-sim, each rank has one GPU, one CPU and one memory, each of which does one task at a time: when it is free,
it takes the ready task of the least id. When a task is ready depends on the network, which nobody knows before the run,
so the order is that of a network in which communications take no time. It is fixed by that, and a run waits where its
network is slower.

A task's end here is also the earliest that is possible in any network.

Source: astra-sim, astra-sim/workload/Workload.cc (`issue_dep_free_nodes`) and HardwareResource.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from fabriclab.flow_importers.chakra.tasks import Collective, Message, Task
from fabriclab.workload.trace_problems import TraceProblems

_MOST_NAMED = 6
_Resource = tuple[int, str]


class Order:
    """Lets all tasks begin and end where communications take no time; sets `begun`, `ended_ns` and more of `before`."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._missing = {task: len(task.before) for task in tasks}
        self._dependents: dict[Task, list[Task]] = {}
        for task in tasks:
            for other in task.before:
                self._dependents.setdefault(other, []).append(task)
        self._now_ns = 0
        self._count = 0
        self._running: list[tuple[int, int, Task]] = []
        """Tasks that end at a time, by it and by the order in which they began."""
        self._ready: dict[_Resource, list[tuple[int, int, Task]]] = {}
        """Tasks that could begin if their resource were free, by their ids."""
        self._asked: set[_Resource] = set()
        self._busy: dict[_Resource, Task] = {}
        self._last: dict[_Resource, Task] = {}
        self._started: dict[Collective, int] = {}
        """The places whose ranks have begun it, as bits."""
        self._waiting: dict[Message, Task] = {}
        """Receives that have begun before what they wait for was sent."""
        self._ended: set[Task] = set()

    def run(self, problems: TraceProblems) -> list[Task]:
        """Return the tasks in the order in which they begin; records what can never begin."""
        for task in self._tasks:
            if not self._missing[task]:
                self._let_begin(task)
        self._begin_ready()
        while self._running:
            self._now_ns = self._running[0][0]
            while self._running and self._running[0][0] == self._now_ns:
                self._end(heappop(self._running)[2])
            self._begin_ready()
        left = [task for task in self._tasks if task not in self._ended]
        if left:
            loop = self._loop(left[0])
            says = ", which waits for ".join(str(task) for task in [*loop[:_MOST_NAMED], loop[0]])
            problems.add(
                loop[0].file, loop[0].node.place, f"{says}: none of them can ever begin; change what they depend on"
            )
        return sorted(self._ended, key=lambda task: task.begun)

    def _let_begin(self, task: Task) -> None:
        """Have a task begin whose dependencies are done: at once, or when what it needs is free."""
        if not task.stream:
            self._begin(task)
            return
        resource = task.rank, task.stream
        heappush(self._ready.setdefault(resource, []), (task.node.id, len(self._ready[resource]), task))
        self._asked.add(resource)

    def _begin_ready(self) -> None:
        """Give each free resource that was asked for to the first task, when all that ends at this time has ended."""
        while self._asked:
            for resource in sorted(self._asked):
                self._asked.discard(resource)
                if resource in self._busy or not self._ready[resource]:
                    continue
                task = heappop(self._ready[resource])[2]
                self._busy[resource] = task
                if resource in self._last:
                    task.before.append(self._last[resource])
                self._last[resource] = task
                self._begin(task)

    def _begin(self, task: Task) -> None:
        task.begun = self._count
        self._count += 1
        if task.collective is not None:
            self._begin_collective(task.collective, task)
        elif task.message is None:
            heappush(self._running, (self._now_ns + task.duration_ns, task.begun, task))
        elif task.receives and task.message.send.begun < 0:
            self._waiting[task.message] = task
        else:
            self._end_now(task)
            if not task.receives and task.message in self._waiting:
                self._end_now(self._waiting.pop(task.message))

    def _begin_collective(self, collective: Collective, task: Task) -> None:
        started = self._started.get(collective, 0) | 1 << task.place
        self._started[collective] = started
        for place, other in sorted(collective.tasks.items()):
            needed = collective.shape.completed_by[place]
            if other.begun >= 0 and other not in self._ended and needed & ~started == 0:
                self._end_now(other)

    def _end_now(self, task: Task) -> None:
        heappush(self._running, (self._now_ns, task.begun, task))
        self._ended.add(task)

    def _end(self, task: Task) -> None:
        self._ended.add(task)
        task.ended_ns = self._now_ns
        if task.stream:
            del self._busy[task.rank, task.stream]
            self._asked.add((task.rank, task.stream))
        for other in self._dependents.get(task, ()):
            self._missing[other] -= 1
            if not self._missing[other]:
                self._let_begin(other)

    def _loop(self, task: Task) -> list[Task]:
        """Return tasks each of which waits for the next, and the last one for the first."""
        path = [task]
        while True:
            following = self._awaited(path[-1])
            if following in path:
                return path[path.index(following) :]
            path.append(following)

    def _awaited(self, task: Task) -> Task:
        """Return a task that one waits for which can't begin or can't end."""
        for other in task.before:
            if other not in self._ended:
                return other
        if task.begun < 0:
            return self._busy[task.rank, task.stream]
        if task.message is not None:
            return task.message.send
        assert task.collective is not None, "a computation ends"
        started = self._started[task.collective]
        missing = task.collective.shape.completed_by[task.place] & ~started
        return task.collective.tasks[missing.bit_length() - 1]
