"""The events of a job: changes of links at their times, nodes that lose their processes and boot, how long routing
takes to follow.

The commands wait in their containers from the start, so that an event is late by a process's start only, not by Docker.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.docker import Container, copy_in
from fabriclab.engine.containers.job import Change, Task
from fabriclab.engine.containers.processes import Process, Processes
from fabriclab.engine.containers.route_watch import RouteWatch

_STEP_S = 30.0
_LOOK_S = 0.02
_HALT_SCRIPT = """kill -s KILL $1; kill -s PWR $2; sleep 1; kill -s KILL $2; ss --kill --all --tcp"""
"""Daemons end at once; traffic has a second to write down what became of its flows. Then the kernel
forgets their connections."""
Emit = Callable[..., int]


@dataclass(frozen=True)
class _Prepared:
    change: Change
    steps: Sequence[Process]
    ending: Sequence[Process]
    """Processes of nodes that go down."""
    halting: Sequence[Process]
    """What ends them."""
    booting: Sequence[Process]
    """The daemons of nodes that come back."""


class Timeline:
    """The changes of a run, carried out in a thread of their own. Use as a context manager around the traffic."""

    def __init__(
        self,
        changes: Sequence[Change],
        containers: Mapping[str, Container],
        emit: Emit,
        routes: RouteWatch | None = None,
    ) -> None:
        """`routes` is wanted where a change has a reconvergence."""
        self._routes = routes
        self._changes = sorted(changes, key=lambda change: change.at_ns)
        self._containers = containers
        self._emit = emit
        self._prepared: list[_Prepared] = []
        self._epoch_ns = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.problems: list[str] = []
        """What went wrong; the run fails of it."""

    def prepare(self, processes: Processes, daemons: Sequence[Process] = (), traffic: Sequence[Process] = ()) -> None:
        """Let every step wait in its container, and what ends the nodes' processes or starts them again.

        Raises EngineError.
        """
        running = list(daemons)
        for change in self._changes:
            steps = []
            for number, step in enumerate(change.steps):
                name = f"event-{change.name}-{number}@{step.node}"
                path = f"/job/events/{name}.batch"
                copy_in(self._containers[step.node], {path: "".join(f"{line}\n" for line in step.lines).encode()})
                steps.append(
                    processes.start(Task(name, step.node, (step.tool, "-batch", path)), self._containers[step.node])
                )
            processes.await_ready(steps)
            dying = [process for process in (*running, *traffic) if process.task.node in change.down]
            halting = [self._halt(processes, change, node, running, traffic) for node in change.down]
            booting = [
                self._boot(processes, change, process.task) for process in daemons if process.task.node in change.up
            ]
            processes.await_ready([*halting, *booting])
            running = [process for process in running if process not in dying] + booting
            self._prepared.append(_Prepared(change, steps, dying, halting, booting))

    def _halt(
        self, processes: Processes, change: Change, node: str, daemons: Sequence[Process], traffic: Sequence[Process]
    ) -> Process:
        numbers = [
            " ".join(str(each.number) for each in group if each.task.node == node) for group in (daemons, traffic)
        ]
        # Word splitting is meant: each word is a process; of none, or of those that have ended, kill complains, and
        # nobody minds.
        script = f"exec 2>/dev/null; {_HALT_SCRIPT} >/dev/null; true"
        return processes.start(
            Task(f"event-{change.name}-down@{node}", node, ("sh", "-c", script, "sh", *numbers)), self._containers[node]
        )

    def _boot(self, processes: Processes, change: Change, daemon: Task) -> Process:
        task = Task(f"{daemon.name}-{change.name}", daemon.node, daemon.argv)
        return processes.start(task, self._containers[daemon.node or ""])

    def begin(self, epoch_ns: int) -> None:
        """Begin: the times of events count from now on."""
        self._epoch_ns = epoch_ns
        self._thread.start()

    def end(self) -> None:
        """Leave out what has not happened yet."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            for index, prepared in enumerate(self._prepared):
                if self._stop.wait(self._seconds_to(prepared.change.at_ns)):
                    return
                self._execute(prepared)
                # What an earlier change led to can't be told from a later one any more.
                following = self._prepared[index + 1].change.at_ns if index + 1 < len(self._prepared) else None
                self._watch(prepared.change, following)
        except EngineError as error:
            self.problems.append(str(error))

    def _seconds_to(self, at_ns: int) -> float:
        return max(0.0, (self._epoch_ns + at_ns - time.monotonic_ns()) / 1e9)

    def _execute(self, prepared: _Prepared) -> None:
        self._emit("change", name=prepared.change.name)
        for process in prepared.steps:
            process.give_epoch(self._epoch_ns)
            status = process.wait(_STEP_S)
            if status != "exit 0":
                raise EngineError(f"event {prepared.change.name}: {process.describe()}")
        for process in prepared.ending:
            process.halted = True
        for process in (*prepared.halting, *prepared.booting):
            process.give_epoch(self._epoch_ns)

    def _watch(self, change: Change, until_ns: int | None) -> None:
        if change.reconvergence is None or self._routes is None:
            return
        at_ns = self._epoch_ns + change.at_ns
        while not self._stop.is_set() and (until_ns is None or self._seconds_to(until_ns) > 0):
            reached = self._routes.reached(change.reconvergence, at_ns)
            if reached is not None:
                took_ns = reached.at_ns - at_ns
                self._emit("reconverged", name=change.name, reconvergence_ns=took_ns, within_ns=reached.within_ns)
                return
            self._stop.wait(_LOOK_S)
