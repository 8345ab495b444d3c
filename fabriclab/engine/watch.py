"""Watches a running machine: reads its output, passes events on, stops it when it is to stop or hangs,
and says how it ended."""

from __future__ import annotations

import os
import re
import selectors
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Literal, TextIO, cast, get_args

from fabriclab.engine.boundary import SAID
from fabriclab.engine.events import CLOCK, Event, EventCallback, describe_error, parse_event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.own_faults import ANSWER_PATIENCE_S, COMPUTING_S, OwnModules, Standstill
from fabriclab.engine.process import MachineProcess
from fabriclab.engine.virtual_clock import Silence, VirtualClock
from fabriclab.files import no_room, reason
from fabriclab.scratch import Scratch, open_plain

Status = Literal["complete", "limit", "starved", "stopped", "failed", "crashed", "interrupted"]

STOP_PATIENCE_S = 30.0
"""How long an interrupted machine may take to end its traffic, collect and power off, while its clock stands still."""
POWER_OFF_PATIENCE_S = 10.0
"""How long a machine may take from its last event to its end."""

_LOOK_S = 0.1
_TELL_S = 1.0
"""After so long a silence the clock of a machine is told in its place, and as often."""
_READ_BYTES = 1 << 16
_READS_AT_ONCE = 32
_LONGEST_LINE_BYTES = 1 << 20
_LONGEST_LOG_BYTES = 1 << 30
"""A machine that says more is not listened to any longer: its output is written where it can't write itself."""
_KERNEL_TAIL_LINES = 200
_KERNEL_LINES_SHOWN = 8
_USER_MODE = "user mode: "
"""What the kernel says of how it runs programs: `seccomp` or `ptrace`."""
_TELLING = ("Kernel panic", "not syncing", "Out of memory", "Oops", "BUG:")
_PROBLEMS_SHOWN = 8
_PROBLEMS_KEPT = 1000
_FULL_BYTES = 64 << 10
_FULL = "the disk is full"
_SETUP = "setup"
_END_BYTES = 1 << 14
_STACK = re.compile(r"\s+at \S+\(.*\)$|\s*\.\.\. \d+ more$")
"""Lines of an exception's stack, of which Java writes dozens."""
"""The phase in which nodes' own files are carried out."""


@dataclass(frozen=True)
class Outcome:
    """How a machine ended. `message` is empty when there is nothing to say; `virtual_ns` counts from the epoch."""

    status: Status
    message: str
    virtual_ns: int
    wall_s: float
    figures: Mapping[str, Any] = field(default_factory=dict)
    """What the engine measured of itself, for the manifest."""
    full: bool = False
    """Whether the disk had no room left."""

    def leaving_out(self, reasons: Sequence[str]) -> Outcome:
        """Return it with what of the machine's files is not part of the results."""
        return replace(self, message="\n".join(filter(None, [self.message, *reasons]))) if reasons else self


class Watch:
    """Follows one machine to its end. What it is told goes into the run directory (events.jsonl, logs/kernel.log),
    which has `logs`; the machine writes into `scratch`."""

    def __init__(
        self,
        scratch: Scratch,
        process: MachineProcess,
        on_event: EventCallback,
        interrupt: Interrupt,
        stall_s: float,
        clock: VirtualClock,
        *,
        paced: bool = False,
        part: int | None = None,
        own: OwnModules | None = None,
        standstill: Standstill | None = None,
    ) -> None:
        """Take whom to tell of events, and after which wall time without progress a machine counts as hung.

        `part`: its number among several, whose events are written by who watches them all.

        `paced`: from its epoch on the host says when time goes on, so that silence means nothing. `own`: the user's own
        modules; `standstill` looks whether one of them never ends.
        """
        self._own = own
        self._standstill = standstill
        self._stuck: tuple[float, str] | None = None
        self._scratch = scratch
        self._directory = directory = scratch.run_directory
        self._process = process
        self._on_event = on_event
        self._interrupt = interrupt
        self._stall_s = stall_s
        self._paced = paced
        self._events = directory / ("events.jsonl" if part is None else f"logs/events-{part}.jsonl")
        self._kernel_log = directory / "logs" / ("kernel.log" if part is None else f"kernel-{part}.log")
        self._silence = Silence(clock)
        self._started = self._last_event = self._last_sign = self._last_told = time.monotonic()
        self._stop_asked: float | None = None
        self._partial = b""
        self._said_bytes = 0
        self._kernel_tail: deque[str] = deque(maxlen=_KERNEL_TAIL_LINES)
        self._problems: deque[str] = deque(maxlen=_PROBLEMS_KEPT)
        self._phase = ""
        self._of_setup: list[str] = []
        self._epoch_ns: int | None = None
        self._virtual_ns = self._clock_ns = 0
        self._end: str | None = None
        self._user_mode: str | None = None
        self._boundary: str | None = None
        self._full = False
        self._given_up: tuple[Status, str] | None = None

    def follow(self, output: int) -> None:
        """Read the machine's output until it has ended or is given up."""
        try:
            self._follow(output)
        except OSError as error:
            if not no_room(error):
                raise
            self._full = True
            self._given_up = ("failed", self._no_room_message(reason(error)))

    def _follow(self, output: int) -> None:
        os.set_blocking(output, False)
        with ExitStack() as stack:
            events = stack.enter_context(self._events.open("w", buffering=1))
            kernel = stack.enter_context(self._kernel_log.open("w", buffering=1))
            selector = stack.enter_context(selectors.DefaultSelector())
            selector.register(output, selectors.EVENT_READ)
            while self._given_up is None:
                selector.select(_LOOK_S)
                # Asked before reading: what a dead machine had to say is then all there. (A process that it left
                # behind may hold the pipe open, so the pipe's end is not waited for.)
                dead = self._process.exit_status() is not None
                closed = self._read(output, events, kernel)
                if closed:
                    self._process.wait(POWER_OFF_PATIENCE_S)
                if self._given_up is not None:
                    return
                if dead or closed:
                    if self._partial:
                        self._take(self._partial.decode(errors="replace"), events, kernel)
                    return
                self._look()

    def _read(self, output: int, events: TextIO, kernel: TextIO) -> bool:
        """Take what there is; returns whether the output is closed. A pipe holds less than is read at once, so what a
        dead machine had to say is all there; one that never stops talking is looked at in between."""
        for _ in range(_READS_AT_ONCE):
            try:
                data = os.read(output, _READ_BYTES)
            except BlockingIOError:
                return False
            if not data:
                return True
            *lines, self._partial = (self._partial + data).split(b"\n")
            if len(self._partial) > _LONGEST_LINE_BYTES:
                lines, self._partial = [*lines, self._partial], b""
            for line in lines:
                self._take(line.decode(errors="replace").rstrip("\r"), events, kernel)
            if self._given_up is not None:
                break
        return False

    def _take(self, line: str, events: TextIO, kernel: TextIO) -> None:
        self._said_bytes += len(line) + 1
        if self._said_bytes > _LONGEST_LOG_BYTES:
            self._given_up = (
                "crashed",
                f"the virtual machine wrote more than {_LONGEST_LOG_BYTES >> 30} GiB; it was killed",
            )
            return
        event = parse_event(line)
        if event is None:
            kernel.write(line + "\n")
            if self._boundary is None and line.startswith(SAID):
                self._boundary = line.removeprefix(SAID)
                return
            self._boundary = self._boundary or ""
            if line.startswith(_USER_MODE):
                self._user_mode = line.removeprefix(_USER_MODE)
            if line.strip():
                self._kernel_tail.append(line)
            return
        events.write(line[1:] + "\n")
        self._last_event = self._last_sign = self._last_told = time.monotonic()
        self._silence.ends()
        if self._standstill is not None:
            self._standstill.moved()
        self._note(event)
        self._on_event(event)

    def _note(self, event: Event) -> None:
        match event.name:
            case "epoch":
                self._epoch_ns = event.t_ns
            case "module" if self._own is not None:
                self._own.loaded(event.text("name"), event.text("address"))
            case "error":
                self._problems.append(describe_error(event))
            case "phase":
                self._phase = event.text("phase")
            case "process" if event.text("status") != "exit 0":
                described = self._describe_process(event)
                self._problems.append(described)
                if self._phase == _SETUP:
                    self._of_setup.append(described)
            case "end":
                self._end = event.text("status")
        if self._epoch_ns is not None and event.name != "epoch":
            self._virtual_ns = max(self._virtual_ns, event.t_ns)

    def _describe_process(self, event: Event) -> str:
        name = event.text("name")
        said = last_lines(self._scratch.path / "logs" / f"{name}.log", 2) if PurePath(name).name == name else ""
        return f"{name} ended with {event.text('status')}" + (f": {said}" if said else "")

    def _look(self) -> None:
        now = time.monotonic()
        if self._interrupt.at_once:
            self._given_up = ("interrupted", "interrupted: the virtual machine was killed")
        elif self._interrupt.requested and self._stop_asked is None:
            self._stop_asked = now
            self._scratch.ask_to_stop()
        elif self._stop_asked is not None and self._stands_since(self._stop_asked, STOP_PATIENCE_S):
            self._given_up = (
                "interrupted",
                f"interrupted: the virtual machine did not stop within {STOP_PATIENCE_S:.0f} s and was killed",
            )
        elif self._stuck is not None:
            if now - self._stuck[0] > ANSWER_PATIENCE_S:
                self._given_up = "crashed", self._own_said()
        elif self._end is None:
            self._look_for_progress(now)
        elif now - self._last_event > POWER_OFF_PATIENCE_S:
            self._process.kill()

    def _look_for_progress(self, now: float) -> None:
        if self._is_standing_still():
            self._ask_where(f"the virtual machine computed for {COMPUTING_S:.0f} s without progress")
        elif not self._is_paced and self._stands_since(self._last_event, self._stall_s):
            hangs = f"the virtual machine hangs: there was no progress for {self._stall_s:g} s of wall time"
            if self._own is not None and self._own.are_loaded:
                self._ask_where(hangs)
            else:
                self._given_up = "crashed", f"{hangs}; it was killed{self._kernel_said()}"
        else:
            self._tell_time(now)

    @property
    def _is_paced(self) -> bool:
        return self._paced and self._epoch_ns is not None

    def _stands_since(self, since: float, patience_s: float) -> bool:
        """Return whether there was no sign of life for longer than this; that the clock goes on is one."""
        now = time.monotonic()
        if now - max(since, self._last_sign) <= patience_s:
            return False
        if self._epoch_ns is None or self._is_paced or not self._silence.has_progress():
            return True
        self._last_sign = now
        return False

    def _tell_time(self, now: float) -> None:
        """Tell the time of a machine that is silent for long, since it has so much to simulate."""
        if self._epoch_ns is None or self._is_paced or now - self._last_told < _TELL_S:
            return
        self._last_told = now
        clock_ns = self._silence.now_ns()
        if clock_ns is not None:
            self._clock_ns = max(0, clock_ns - self._epoch_ns)
            self._on_event(Event(CLOCK, self._clock_ns, {}))

    def _is_standing_still(self) -> bool:
        if self._standstill is None or self._own is None or not self._own.are_loaded:
            return False
        return self._standstill.is_reached(speaks=self._epoch_ns is not None and not self._paced)

    def _ask_where(self, why: str) -> None:
        """Let the kernel say which of the user's functions it is in, which is its end."""
        self._stuck = (time.monotonic(), why)
        self._process.ask_where()

    def _own_said(self) -> str:
        """Return what an algorithm of the user's own did, with its function and line where the kernel says so."""
        place = None if self._own is None else self._own.place(self._kernel_tail)
        if self._stuck is None:
            told = self._kernel_said()
            if place is not None:
                return f"{place[0]}: {place[1]} crashed the virtual machine's kernel{told}"
            names = "" if self._own is None else self._own.names
            died = f"the virtual machine died ({self._process.exit_status()})"
            return f"{died} with your own algorithms in it: {names}{told}"
        if place is not None:
            return f"{place[0]}: {place[1]} does not end: {self._stuck[1]}; it was killed"
        names = "" if self._own is None else self._own.names
        return f"{self._stuck[1]}, with your own algorithms in it: {names}; it was killed"

    @property
    def gave_up(self) -> bool:
        """Whether the virtual machine was killed, or is to be."""
        return self._given_up is not None

    def outcome(self) -> Outcome:
        """Return how the machine ended; asked when it is dead."""
        status, message = self._given_up or self._judge()
        if status not in ("complete", "limit", "stopped"):
            message = "\n".join([message, *list(self._problems)[:_PROBLEMS_SHOWN]]).strip()
            if len(self._problems) > _PROBLEMS_SHOWN:
                message += f"\nand {len(self._problems) - _PROBLEMS_SHOWN} more problems (events.jsonl)"
        elif not message:
            # A command of a node's own files that failed stops nobody, as in containers, and is told.
            message = "\n".join(self._of_setup[:_PROBLEMS_SHOWN])
        figures = {"user_mode": self._user_mode, "boundary": self._boundary or None}
        virtual_ns = self._virtual_ns if self._given_up is None else max(self._virtual_ns, self._clock_ns)
        return Outcome(status, message, virtual_ns, time.monotonic() - self._started, figures, full=self._full)

    def _judge(self) -> tuple[Status, str]:
        """Return status and message of a machine that ended by itself."""
        if self._end == "stopped" and self._interrupt.requested:
            return "interrupted", "interrupted: the traffic was ended early; measurements until then are kept"
        if self._end == "limit":
            return "limit", "the limit of virtual time was reached before the traffic was complete"
        if self._end in get_args(Status):
            status = cast(Status, self._end)
            self._full = status != "complete" and self._disk_is_full()
            return status, self._no_room_message(_FULL) if self._full else ""
        if self._end is not None:
            return "failed", f"the virtual machine ended with an unknown status {self._end!r}"
        if self._disk_is_full():
            self._full = True
            return "failed", self._no_room_message(_FULL)
        if self._own is not None and self._own.are_loaded:
            return "crashed", self._own_said()
        return "crashed", f"the virtual machine died ({self._process.exit_status()}){self._kernel_said()}"

    def _kernel_said(self) -> str:
        # A panic is followed by pages of registers: the line that tells is what the reader wants.
        telling = [line for line in self._kernel_tail if any(word in line for word in _TELLING)]
        lines = telling[:_KERNEL_LINES_SHOWN] or list(self._kernel_tail)[-_KERNEL_LINES_SHOWN:]
        if not lines:
            return "; its kernel said nothing"
        return f"; the last lines of its kernel are (logs/{self._kernel_log.name}):\n" + "\n".join(
            f"  {line}" for line in lines
        )

    def _disk_is_full(self) -> bool:
        state = os.statvfs(self._directory)
        return state.f_bavail * state.f_frsize < _FULL_BYTES

    def _no_room_message(self, why: str) -> str:
        return f"{self._directory}: {why}; measurements until then are kept"


def last_lines(path: Path, count: int) -> str:
    """Return the last `count` lines of a file that say something, joined by ` | `; empty when there is none. What an
    exception of Java's has below its words says only where it was."""
    try:
        with open_plain(path) as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _END_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _STACK.match(line)]
    return " | ".join(lines[-count:])
