"""Several machines that run one lab at once, in step: each is watched as one is, and their events become one stream.

One that dies or hangs ends all; one that fails asks the others to end, as a user's Ctrl-C does.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.events import CLOCK, Event, EventCallback
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.own_faults import OwnModules
from fabriclab.engine.private_directory import clear_abandoned, memory_directory, memory_places
from fabriclab.engine.process import MachineProcess
from fabriclab.engine.virtual import Machine, machine_argv
from fabriclab.engine.virtual_clock import VirtualClock
from fabriclab.engine.watch import Outcome, Status, Watch
from fabriclab.scratch import Scratch

_WORST_FIRST: tuple[Status, ...] = ("crashed", "failed", "starved", "interrupted", "stopped", "limit", "complete")
_ORDERLY = ("complete", "limit", "stopped", "interrupted")
_ONCE = {
    "epoch": "",
    "phase": "phase",
    "module": "name",
    "converged": "",
    "change": "name",
    "reconverged": "name",
}
"""Events that are of the lab when all machines have told them, and the field that tells one from another."""


class MergedEvents:
    """The events of all machines as those of one."""

    def __init__(self, count: int, scratch: Scratch, file: TextIO, on_event: EventCallback) -> None:
        self._count = count
        self._scratch = scratch
        self._file = file
        self._on_event = on_event
        self._lock = threading.Lock()
        self._told: Counter[tuple[str, str]] = Counter()
        self._latest_ns = {"waiting": -1, "progress": -1}
        self._ended: list[Status] = []
        self._last_ns = 0

    def take(self, part: int, event: Event) -> None:
        """Take an event of a machine."""
        with self._lock:
            if event.name == CLOCK:
                self._on_event(event)
            elif event.name == "end":
                self._take_end(event)
            elif event.name == "error":
                # It waits for the others, which are not to go on to the end of their traffic.
                self._scratch.ask_to_stop()
                self._take_error(event, part)
            elif self._is_news(event):
                self._tell(event)

    def _is_news(self, event: Event) -> bool:
        if event.name in _ONCE:
            key = event.name, event.text(_ONCE[event.name])
            self._told[key] += 1
            return self._told[key] == self._count
        if event.name in self._latest_ns:
            is_later = event.t_ns > self._latest_ns[event.name]
            self._latest_ns[event.name] = max(self._latest_ns[event.name], event.t_ns)
            return is_later
        return True

    def _take_error(self, event: Event, part: int) -> None:
        key = f"{event.fields.get('node')}: {event.text('message')}"
        self._told["error", key] += 1
        # What is wrong with the whole lab each machine says.
        if self._told["error", key] == 1:
            self._tell(_of_part(event, part))

    def _take_end(self, event: Event) -> None:
        known = [status for status in _WORST_FIRST if status == event.text("status")]
        self._ended += known or ["failed"]
        self._last_ns = max(self._last_ns, event.t_ns)
        if len(self._ended) == self._count:
            self._tell(
                Event("end", self._last_ns, {"event": "end", "status": worst(self._ended), "t_ns": self._last_ns})
            )

    def _tell(self, event: Event) -> None:
        self._file.write(json.dumps(event.fields, separators=(",", ":")) + "\n")
        self._on_event(event)


def _of_part(event: Event, part: int) -> Event:
    return replace(event, fields={**event.fields, "part": part})


def worst(statuses: Sequence[Status]) -> Status:
    """Return the worst of how machines ended."""
    return min(statuses, key=_WORST_FIRST.index)


class _Group:
    """Machines that end together."""

    def __init__(self, processes: Sequence[MachineProcess], watches: Sequence[Watch]) -> None:
        self._processes = processes
        self._watches = watches
        self._lock = threading.Lock()
        self._first_bad: int | None = None
        self.outcomes: dict[int, Outcome] = {}

    def follow(self, part: int, output: int) -> None:
        """Follow one machine to its end; runs in a thread of its own."""
        try:
            self._watches[part].follow(output)
        finally:
            self._processes[part].kill()
            outcome = self._watches[part].outcome()
            with self._lock:
                self.outcomes[part] = outcome
                if outcome.status not in _ORDERLY and self._first_bad is None:
                    self._first_bad = part
            if outcome.status == "crashed" or self._watches[part].gave_up:
                for process in self._processes:
                    process.kill()

    def outcome(self) -> Outcome:
        """Return how all ended: as the first that ended badly, else as the worst."""
        status = worst([outcome.status for outcome in self.outcomes.values()])
        part = self._first_bad
        if part is None:
            part = next(number for number, outcome in self.outcomes.items() if outcome.status == status)
        first = self.outcomes[part]
        message = first.message if first.status in _ORDERLY else f"virtual machine {part}: {first.message}"
        virtual_ns = max(outcome.virtual_ns for outcome in self.outcomes.values())
        wall_s = max(outcome.wall_s for outcome in self.outcomes.values())
        full = any(outcome.full for outcome in self.outcomes.values())
        return Outcome(first.status, message, virtual_ns, wall_s, first.figures, full=full)


def run_machines(
    machines: Sequence[Machine], need_bytes: int, on_event: EventCallback, interrupt: Interrupt
) -> Outcome:
    """Boot all machines, pass their events on as one stream, return how they ended. `need_bytes`: of memory, together.

    Nothing of them is left running. Raises EngineError when one can't start.
    """
    directory = machines[0].directory
    places = memory_places(directory)
    clear_abandoned(places)
    parent = memory_directory(need_bytes, places)
    scratch = Scratch(directory)
    scratch.make(machines[0].adds_to)
    try:
        (directory / "logs").mkdir(exist_ok=True)
        outcome = _all_booted(machines, parent, scratch, on_event, interrupt)
    finally:
        left_out = scratch.take_over()
    wired = machines[0].wired
    steps = [] if wired is None else wired.shared.figures()
    figures = {"memory_directory": str(parent), "machines": len(machines), "steps": steps}
    return replace(outcome, figures={**outcome.figures, **figures}).leaving_out(left_out)


def _all_booted(
    machines: Sequence[Machine], parent: Path, scratch: Scratch, on_event: EventCallback, interrupt: Interrupt
) -> Outcome:
    with ExitStack() as stack:
        events = scratch.run_directory / "events.jsonl"
        file = stack.enter_context(events.open("w", buffering=1))
        stream = MergedEvents(len(machines), scratch, file, on_event)
        processes = [stack.enter_context(MachineProcess(parent)) for _ in machines]
        watches = [
            Watch(
                *(scratch, process, _taking(stream, part), interrupt, machine.stall_s),
                VirtualClock(process, machine.artefacts.kernel),
                part=part,
                own=OwnModules(machine.directory, machine.own) if machine.own else None,
            )
            for part, (machine, process) in enumerate(zip(machines, processes, strict=True))
        ]
        # By this thread: a machine dies with the thread that started it.
        outputs = [_start(machine, process) for machine, process in zip(machines, processes, strict=True)]
        group = _Group(processes, watches)
        threads = [threading.Thread(target=group.follow, args=pair) for pair in enumerate(outputs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return group.outcome()


def _taking(stream: MergedEvents, part: int) -> EventCallback:
    return lambda event: stream.take(part, event)


def _start(machine: Machine, process: MachineProcess) -> int:
    argv = machine_argv(machine, process.directory)
    shared = machine.wired.shared.descriptor if machine.wired is not None else -1
    try:
        return process.start(argv, [shared] if shared >= 0 else [])
    except OSError as error:
        raise EngineError(
            f"can't start {argv[0]}: {error.strerror} (`fabriclab doctor` shows what is missing)"
        ) from error
