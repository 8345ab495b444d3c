"""A stand-in for a live machine: a program in place of the kernel that speaks its protocol, and PID 1's.

Its programs are a handful of words: `echo`, `cat`, `exit N`, `yes`, `wait` (for a signal), `now` (the virtual instant),
`spin` (which is made to sleep).
Its clock goes at the pace that it is asked for; a timer event happens each virtual millisecond.
"""

from __future__ import annotations

import json
import os
import select
import struct
import sys
import time
from pathlib import Path
from typing import Any

from fake_machine import write_confine

from fabriclab.engine.artefacts import Artefacts
from fabriclab.formats.live import FOR_EVER, FRAME, HEADER, NAP, REAL_TIME, Answer, Input, Output, Request, Stop

TICK_NS = 1_000_000
EPOCH_NS = 20_000_000
_ROOT = Path(__file__).parents[2]


def artefacts(directory: Path) -> Artefacts:
    """Return artefacts whose kernel is this program."""
    kernel = directory / "cache" / "kernel" / "0123456789abcdef" / "linux"
    rootfs = directory / "cache" / "rootfs" / "fedcba9876543210" / "root"
    tools = directory / "cache" / "tools" / "00112233445566aa"
    for path in (kernel.parent, rootfs, tools):
        path.mkdir(parents=True, exist_ok=True)
    paths = [str(_ROOT), str(Path(__file__).parent)]
    kernel.write_text(f"#!{sys.executable}\nimport sys\nsys.path[:0] = {paths}\nimport fake_live\nfake_live.main()\n")
    kernel.chmod(0o755)
    write_confine(tools)
    return Artefacts(kernel=kernel, rootfs=rootfs, tools=tools)


class Machine:
    """The kernel: its clock, its pace, the input that waits."""

    def __init__(self, descriptor: int, job: Path) -> None:
        self._descriptor = descriptor
        self.init = Init(self, job)
        self.now_ns = EPOCH_NS
        self._speed, self._until_ns, self._stopped = 0, FOR_EVER, False
        self._wall_ns = time.monotonic_ns()
        self._told_ns = 0
        self._held: tuple[int, int, int, bytes] | None = None
        self._replaying = False

    def tell(self, kind: Answer, a: int = 0, b: int = 0, payload: bytes = b"") -> None:
        os.write(self._descriptor, struct.pack(HEADER, kind, len(payload), a, b) + payload)

    def stop(self, why: Stop) -> None:
        self._stopped = True
        self.tell(Answer.STOPPED, self.now_ns, why)

    def run(self) -> None:
        self.stop(Stop.BY_INIT)
        while not self.init.is_over:
            self._listen(0.0 if self.init.is_busy else 0.002)
            self._advance()
            self.init.work()

    def _listen(self, timeout_s: float) -> None:
        while select.select([self._descriptor], [], [], timeout_s)[0]:
            kind, length, a, b = struct.unpack(HEADER, self._read(struct.calcsize(HEADER)))
            payload = self._read(length)
            self._advance()
            match kind:
                case Request.INPUT:
                    self._take(payload)
                case Request.INPUT_AT | Request.NAP_AT:
                    self._held = (kind, a, b, payload)
                case Request.PACE:
                    self._speed, self._until_ns, self._stopped = a, b, False
                    self._wall_ns = time.monotonic_ns()
                case Request.STOP:
                    self.stop(Stop.ASKED)
                case Request.REPLAY:
                    self._replaying = bool(a)
            timeout_s = 0.0

    def _read(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            piece = os.read(self._descriptor, length - len(data))
            if not piece:
                sys.exit("the host has gone")
            data += piece
        return data

    def _take(self, payload: bytes) -> None:
        self.tell(Answer.TAKEN, self.now_ns // TICK_NS, self.now_ns)
        self.init.take(payload)

    def spin(self) -> None:
        if not self._replaying:
            self.nap()

    def nap(self) -> None:
        place = self.now_ns // TICK_NS, self.now_ns
        self.tell(Answer.NAPPED, *place, struct.pack(NAP, 3, 100_000_000, 5, b"spin", b"h1"))

    def _advance(self) -> None:
        wall_ns = time.monotonic_ns()
        passed_ns, self._wall_ns = wall_ns - self._wall_ns, wall_ns
        if self._replaying and self._held is None:
            return
        if not self._stopped:
            step_ns = passed_ns * self._speed // REAL_TIME if self._speed else 10 * TICK_NS
            self._go(step_ns)
        if wall_ns - self._told_ns > 20_000_000 and not self._stopped:
            self._told_ns = wall_ns
            self.tell(Answer.CLOCK, self.now_ns, wall_ns)

    def _go(self, step_ns: int) -> None:
        target_ns = min(self.now_ns + step_ns, self._until_ns)
        if self._held is not None and self._held[2] <= target_ns:
            kind, events, instant_ns, payload = self._held
            self._held = None
            if instant_ns < self.now_ns or events != instant_ns // TICK_NS:
                self._stopped = True
                self.tell(Answer.DIVERGED, self.now_ns // TICK_NS, self.now_ns)
                return
            self.now_ns = instant_ns
            if kind == Request.NAP_AT:
                self.nap()
            else:
                self._take(payload)
            return
        self.now_ns = target_ns
        if target_ns == self._until_ns:
            self._until_ns = FOR_EVER
            self.stop(Stop.UNTIL)


class Init:
    """PID 1: its sessions, each a program's name and what it may still write."""

    def __init__(self, machine: Machine, job: Path) -> None:
        self._machine = machine
        self._job = job
        self._sessions: dict[int, tuple[str, int]] = {}
        self.is_over = False

    @property
    def is_busy(self) -> bool:
        return any(word == "yes" and credit > 0 for word, credit in self._sessions.values())

    def take(self, payload: bytes) -> None:
        session, kind = struct.unpack_from(FRAME, payload)
        data = payload[struct.calcsize(FRAME) :]
        if kind == Input.OPEN:
            self._open(session, json.loads(data))
        elif session not in self._sessions:
            return
        elif kind == Input.SIGNAL:
            self._end(session, f"signal {data[0]}")
        elif kind == Input.CREDIT:
            word, credit = self._sessions[session]
            self._sessions[session] = (word, credit + struct.unpack("<I", data)[0])
        elif kind == Input.DATA and self._sessions[session][0] == "cat":
            self._say(session, Output.STDOUT, data)
            self._say(session, Output.CREDIT, struct.pack("<I", len(data)))
        elif kind == Input.RESIZE:
            self._say(session, Output.STDOUT, "{}x{}".format(*struct.unpack("<HH", data)).encode())
        elif kind == Input.EOF and self._sessions[session][0] == "cat":
            self._end(session, "exit 0")

    def _open(self, session: int, asked: dict[str, Any]) -> None:
        ((what, body),) = asked.items()
        if what == "exec":
            self._execute(session, *body["argv"])
        elif what in ("files", "append"):
            for name, text in body.items():
                path = self._job / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("a" if what == "append" else "w") as file:
                    file.write(text)
            self._done(session)
        elif what == "start":
            epoch_ns = self._machine.now_ns - EPOCH_NS + 10_000_000
            self._say(session, Output.STARTED, json.dumps({"epoch_ns": epoch_ns}).encode())
            self._sessions[session] = ("programs", 0)
            (self._job / "live" / "started.json").write_text(json.dumps(body))
        elif what == "change" and "refused" in json.dumps(body["steps"]):
            self._say(session, Output.ERROR, json.dumps({"message": "the kernel refuses it"}).encode())
        elif what == "change":
            self._done(session)
        elif what == "stop":
            for number in [number for number, (word, _) in self._sessions.items() if word == "programs"]:
                self._end(number, "exit 0")
            self._done(session)
        elif what == "down":
            self._done(session)
            say_event(event="end", status="complete", t_ns=self._machine.now_ns - EPOCH_NS)
            self.is_over = True
        else:
            self._say(session, Output.ERROR, json.dumps({"message": f"{what}: not here"}).encode())

    def _execute(self, session: int, word: str, *rest: str) -> None:
        if word not in ("echo", "cat", "exit", "yes", "wait", "now", "spin"):
            self._say(session, Output.ERROR, json.dumps({"message": f"{word}: no such program"}).encode())
            return
        self._say(session, Output.STARTED, b"{}")
        self._sessions[session] = (word, 262144)
        if word == "echo":
            self._say(session, Output.STDOUT, " ".join(rest).encode() + b"\n")
            self._say(session, Output.STDERR, b"echoed\n")
            self._end(session, "exit 0")
        elif word == "exit":
            self._end(session, f"exit {rest[0]}")
        elif word == "now":
            self._say(session, Output.STDOUT, f"{self._machine.now_ns}\n".encode())
            self._end(session, "exit 0")
        elif word == "spin":
            self._end(session, "exit 0")
            self._machine.spin()

    def work(self) -> None:
        for session, (word, credit) in list(self._sessions.items()):
            if word == "yes" and credit > 0:
                length = min(credit, 60_000)
                self._say(session, Output.STDOUT, b"y" * length)
                self._sessions[session] = (word, credit - length)

    def _say(self, session: int, kind: Output, data: bytes) -> None:
        self._machine.tell(Answer.OUTPUT, payload=struct.pack(FRAME, session, kind) + data)

    def _done(self, session: int) -> None:
        self._say(session, Output.STARTED, b"{}")
        self._end(session, "exit 0")

    def _end(self, session: int, status: str) -> None:
        self._sessions.pop(session, None)
        self._say(session, Output.ENDED, json.dumps({"status": status}).encode())


def say_event(**fields: Any) -> None:
    print("@" + json.dumps(fields), flush=True)


def main() -> None:
    """Be the machine."""
    words = dict(word.split("=", 1) for word in sys.argv if "=" in word)
    job = Path(words["fabriclab_job"])
    say_event(event="phase", phase="nodes", t_ns=100)
    say_event(event="phase", phase="traffic", t_ns=200)
    say_event(event="epoch", t_ns=EPOCH_NS)
    Machine(int(words["fabriclab.live"]), job).run()
