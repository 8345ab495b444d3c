"""A live machine and its host's end of the socket, one message after another: for tests of PID 1.

What the kernel and its host say to each other is in `include/uapi/linux/fabriclab_live.h`, what PID 1 and its host say
in `images/machine/README.md`.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from patience import patient

from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.private_directory import memory_directory, memory_places
from fabriclab.engine.process import MachineProcess
from fabriclab.engine.virtual import Machine, machine_argv
from fabriclab.formats.live import FOR_EVER, FRAME, HEADER, PAYLOAD_MAX, Answer, Input, Output, Request
from fabriclab.scratch import Scratch

WALL_LIMIT_S = 300
"""Far above what anything takes: a machine that hangs must not hang the tests."""
MAX_SPEED = 0
INPUT = (Request.INPUT, 0, 0)

Taken = tuple[Request, int, int, bytes]
"""An input or a nap with its place, as a replay is told of it: timer events so far, the instant, and what it said."""


@dataclass
class Session:
    """What PID 1 has said of one."""

    number: int
    started: dict[str, Any] | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    credit: int = 0
    status: str | None = None
    error: dict[str, Any] | None = None
    kinds: list[Output] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return self.status is not None or self.error is not None

    @property
    def complaint(self) -> str:
        """Why it failed; it must have."""
        assert self.error is not None, self.status
        return str(self.error["message"])

    def note(self, kind: Output, data: bytes) -> None:
        assert not self.ended, (kind, data)
        self.kinds.append(kind)
        match kind:
            case Output.STDOUT:
                self.stdout += data
            case Output.STDERR:
                self.stderr += data
            case Output.CREDIT:
                self.credit += int.from_bytes(data, "little")
            case Output.STARTED:
                self.started = json.loads(data)
            case Output.ENDED:
                self.status = json.loads(data)["status"]
            case Output.ERROR:
                self.error = json.loads(data)


class LiveMachine:
    """A machine whose time the test lets pass."""

    def __init__(self, end: socket.socket, log: Path) -> None:
        self._end = end
        self._log = log
        self.sessions: dict[int, Session] = {}
        self.taken: list[Taken] = []
        self.outputs: list[bytes] = []
        self.stops: list[tuple[int, int]] = []
        self.now_ns = 0
        self._pending: tuple[int, bytes] | None = None
        self.diverged = False
        self.gone = False

    def pace(self, speed: int = MAX_SPEED, until_ns: int = FOR_EVER) -> None:
        """Let time go on."""
        self._tell(Request.PACE, speed, until_ns)

    def step(self, duration_ns: int) -> None:
        """Let so much time pass, and wait until it has."""
        stops = len(self.stops)
        self.pace(until_ns=self.now_ns + duration_ns)
        self.wait(lambda: len(self.stops) > stops)

    def stop(self) -> None:
        """Make time stand still."""
        stops = len(self.stops)
        self._tell(Request.STOP)
        self.wait(lambda: len(self.stops) > stops)

    def open(self, **asked: object) -> Session:
        """Open a session, and wait until PID 1 has said something of it."""
        session = self.begin(**asked)
        self.wait(lambda: bool(session.kinds))
        return session

    def begin(self, **asked: object) -> Session:
        """Open a session."""
        session = Session(len(self.sessions) + 1)
        self.sessions[session.number] = session
        self.say(session.number, Input.OPEN, json.dumps(asked).encode())
        return session

    def run(self, node: str | None, *argv: str, **more: object) -> Session:
        """Run a program in a node to its end."""
        return self.finish(self.open(exec={"node": node, "argv": argv, **more}))

    def finish(self, session: Session) -> Session:
        """Wait for a session's end."""
        self.wait(lambda: session.ended)
        return session

    def until(self, session: Session, text: bytes) -> None:
        """Wait until a session has written a text."""
        self.wait(lambda: text in session.stdout or session.ended)
        assert text in session.stdout, session

    def say(self, session: int, kind: int, data: bytes = b"") -> None:
        """Give PID 1 an input, and wait until it has been taken."""
        self._give(struct.pack(FRAME, session, kind) + data, *INPUT)

    def replay(self, recording: list[Taken]) -> None:
        """Give a recording's inputs at their places, at full speed."""
        self._tell(Request.REPLAY, 1)
        self.pace()
        for request, events, instant, payload in recording:
            number, kind = struct.unpack_from(FRAME, payload)
            if request is Request.INPUT_AT and kind == Input.OPEN:
                self.sessions[number] = Session(number)
            self._give(payload, request, events, instant)
        self._tell(Request.REPLAY, 0)

    def down(self) -> list[dict[str, Any]]:
        """Take the lab down; returns the machine's events."""
        self.begin(down={})
        with contextlib.suppress(BrokenPipeError):  # where time goes on already, the machine may be gone by now
            self.pace()
        return self.die()

    def die(self) -> list[dict[str, Any]]:
        """Wait for the machine's end; returns its events."""
        self.wait(lambda: self.gone)
        return [json.loads(line[1:]) for line in self._log.read_text().splitlines() if line.startswith("@")]

    def wait(self, is_so: Callable[[], bool]) -> None:
        """Take messages until something is so."""
        while not is_so():
            assert not self.gone, self._log.read_text()[-2000:]
            self._take()

    def _give(self, payload: bytes, kind: int, events: int, instant: int) -> None:
        self._pending = kind, payload
        self._end.sendall(struct.pack(HEADER, kind, len(payload), events, instant) + payload)
        self.wait(lambda: self._pending is None or self.diverged)
        assert not self.diverged

    def _tell(self, kind: int, a: int = 0, b: int = 0) -> None:
        self._end.sendall(struct.pack(HEADER, kind, 0, a, b))

    def _take(self) -> None:
        header = self._receive(struct.calcsize(HEADER))
        if not header:
            self.gone = True
            return
        kind, length, a, b = struct.unpack(HEADER, header)
        data = self._receive(length)
        match kind:
            case Answer.OUTPUT:
                self._note(data)
            case Answer.TAKEN:
                assert self._pending is not None
                self.taken.append((Request.INPUT_AT, a, b, self._pending[1]))
                self._pending = None
                self.now_ns = b
            case Answer.NAPPED:
                self.taken.append((Request.NAP_AT, a, b, data))
                if self._pending is not None and self._pending[0] == Request.NAP_AT:
                    self._pending = None
            case Answer.CLOCK:
                self.now_ns = a
            case Answer.STOPPED:
                self.now_ns = a
                self.stops.append((a, b))
            case Answer.DIVERGED:
                self.diverged = True

    def _note(self, data: bytes) -> None:
        assert len(data) <= PAYLOAD_MAX
        self.outputs.append(data)
        number, kind = struct.unpack_from(FRAME, data)
        session = self.sessions.setdefault(number, Session(number))
        session.note(Output(kind), data[struct.calcsize(FRAME) :])

    def _receive(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            try:
                part = self._end.recv(length - len(data))
            except ConnectionResetError:  # It ended without reading all that we said.
                part = b""
            if not part:
                return b""
            data += part
        return data


def write_job(directory: Path, job: Mapping[str, object], files: Mapping[str, str]) -> None:
    """Write a run directory."""
    for name, text in {"machine/job.json": json.dumps(job), **files}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (directory / "logs").mkdir(exist_ok=True)


def machine_of(artefacts: Artefacts, directory: Path) -> Machine:
    """Return how a small machine is started."""
    cpu = min(os.sched_getaffinity(0))
    return Machine(artefacts=artefacts, directory=directory, seed=1, memory_bytes=256 << 20, cpu=cpu)


@contextlib.contextmanager
def taken_over(scratch: Scratch) -> Iterator[None]:
    """Take over what a machine has written when it has ended."""
    try:
        yield
    finally:
        scratch.take_over()


@contextlib.contextmanager
def live_machine(
    artefacts: Artefacts, directory: Path, job: Mapping[str, object], files: Mapping[str, str]
) -> Iterator[LiveMachine]:
    """Boot a machine with a live job, and wait until it has stopped its clock. Nothing of it is left afterwards."""
    write_job(directory, job, files)
    machine = machine_of(artefacts, directory)
    ours, its = socket.socketpair()
    ours.settimeout(patient(WALL_LIMIT_S))
    log = directory / "console"
    scratch = Scratch(directory)
    scratch.make()
    with (
        taken_over(scratch),
        MachineProcess(memory_directory(machine.memory_bytes, memory_places(directory))) as process,
    ):
        argv = [*machine_argv(machine, process.directory), f"fabriclab.live={its.fileno()}"]
        environment = {"PATH": os.environ["PATH"], "TMPDIR": str(process.directory)}
        with log.open("wb") as output, ours:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=process.directory,
                pass_fds=(its.fileno(),),
            )
            its.close()
            live = LiveMachine(ours, log)
            try:
                live.wait(lambda: bool(live.stops))
                yield live
            finally:
                child.kill()
                child.wait()
