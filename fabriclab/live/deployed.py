"""Containers as a live lab's server sees a machine: programs in nodes and changes of links, in real time.

What takes a machine's own clock is refused: nothing here stops, goes slower, or happens again.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NoReturn

from fabriclab.engine.containers import Stay
from fabriclab.engine.containers.command import CommandError, run_command
from fabriclab.engine.containers.docker import Container, exec_argv
from fabriclab.formats.live import FOR_EVER, Input, Output
from fabriclab.live.busy import Busy
from fabriclab.live.clients import Refused
from fabriclab.live.deployed_program import DeployedProgram
from fabriclab.live.machine import Broke, LiveMachine, MachineGone
from fabriclab.live.pace import Ratio
from fabriclab.live.recording import Taken
from fabriclab.live.wire import Frame, WireError, decode, encode

_STEP_S = 30.0
_IN_REAL_TIME = "containers run in real time; {} only in the virtual machine (`fabriclab up LAB`)"


class DeployedMachine:
    """The containers of a lab that is up. All of it belongs to one event loop, but `stay`."""

    is_stopped = False
    speed = Fraction(1)
    gone: MachineGone | None = None
    broke: Broke | None = None
    """No condition stops a clock that can't be stopped."""

    def __init__(self, on_output: Callable[[Frame], None]) -> None:
        """Take whom to tell of outputs."""
        self._on_output = on_output
        self._loop = asyncio.get_running_loop()
        self._containers: Mapping[str, Container] = {}
        self._up_at_ns = time.monotonic_ns()
        self._programs: dict[int, DeployedProgram] = {}
        self._has_ended = asyncio.Event()
        self.ratio = Ratio()
        self.busy = Busy()
        """Nobody's: containers have processors of their own."""
        self.is_up = asyncio.Event()
        self.stay = Stay(self._came_up, threading.Event(), self.leave)
        """What the engine is told."""

    def _came_up(self, containers: Mapping[str, Container]) -> None:
        """Take the containers: the run's thread."""
        self._containers = dict(containers)
        self._up_at_ns = time.monotonic_ns()
        self._loop.call_soon_threadsafe(self.is_up.set)

    def leave(self) -> None:
        """Take note that the containers have gone, or never will be: the run's thread."""
        self._loop.call_soon_threadsafe(self._has_ended.set)

    async def follow(self) -> None:
        """Wait until the containers have gone, and tell whoever waits for anything of theirs."""
        await self._has_ended.wait()
        self.gone = MachineGone("the lab has gone down")
        for program in list(self._programs.values()):
            program.close()
        self.is_up.set()

    async def ended(self) -> None:
        """Wait until the containers have gone."""
        await self._has_ended.wait()

    def now_ns(self) -> int:
        """Return for how long the containers have been up."""
        return time.monotonic_ns() - self._up_at_ns

    # -- Inputs -------------------------------------------------------------------------------------------------------

    async def submit(self, session: int, kind: int, data: bytes = b"") -> Taken:
        """Do what PID 1 would do in a machine, and return when that was; no events are counted.

        Raises MachineGone; what can't be done is told to the session.
        """
        if self.gone is not None:
            raise self.gone
        taken = Taken(0, self.now_ns(), Frame(session, kind, data), "")
        program = self._programs.get(session)
        try:
            if program is not None:
                await program.obey(kind, data)
            elif kind == Input.OPEN:
                await self._open(session, decode(data))
        except (Refused, CommandError, WireError, OSError) as error:
            self._tell(session, Output.ERROR, {"message": str(error)})
        return taken

    async def _open(self, session: int, body: Mapping[str, Any]) -> None:
        what, asked = next(iter(body.items()))
        if what == "exec":
            self._execute(session, asked)
            return
        if what == "change":
            await asyncio.to_thread(self._change, asked)
        elif what == "down":
            self.stay.over.set()
        else:
            raise Refused(_IN_REAL_TIME.format(_UNABLE.get(what, f"{what!r} is possible")))
        self._tell(session, Output.STARTED, {})
        self._tell(session, Output.ENDED, {"status": "exit 0"})

    def _execute(self, session: int, asked: Mapping[str, Any]) -> None:
        node = asked.get("node")
        if node is None:
            raise Refused("name a node: the containers run directly on this computer")
        program = DeployedProgram(self._containers[node], session, asked, self._told)
        self._programs[session] = program
        self._tell(session, Output.STARTED, {})

    def _told(self, session: int, kind: Output, data: bytes) -> None:
        if kind == Output.ENDED:
            self._programs.pop(session).close()
        self._on_output(Frame(session, kind, data))

    def _tell(self, session: int, kind: Output, what: Mapping[str, Any]) -> None:
        self._on_output(Frame(session, kind, encode(what)))

    def _change(self, asked: Mapping[str, Any]) -> None:
        """Change links: a thread of its own. Raises CommandError, Refused."""
        if "undo" in asked:
            raise Refused(_IN_REAL_TIME.format("settings can change while the lab is up"))
        if asked.get("down") or asked.get("up"):
            raise Refused("a container that stays up can't lose its power: `exec NODE -- ip link set PORT down`")
        for step in asked.get("steps", ()):
            argv = exec_argv(self._containers[step["node"]], [step["tool"], "-batch", "-"], interactive=True)
            run_command(argv, data="".join(f"{line}\n" for line in step["lines"]).encode(), timeout_s=_STEP_S)

    # -- Time ---------------------------------------------------------------------------------------------------------

    def go_on(self, until_ns: int = FOR_EVER) -> None:
        """Do nothing: time goes on."""

    async def come_to(self, instant_ns: int) -> None:
        """Do nothing: it is later than that."""

    def set_speed(self, speed: Fraction | None) -> NoReturn:
        """Refuse."""
        raise Refused(_IN_REAL_TIME.format("time can go faster or slower"))

    def set_condition(self, number: int, condition: bytes) -> NoReturn:
        """Refuse."""
        raise Refused(_IN_REAL_TIME.format("a condition can stop time"))

    def forget_conditions(self) -> None:
        """Do nothing: there are none."""

    async def stop(self) -> NoReturn:
        """Refuse."""
        raise Refused(_IN_REAL_TIME.format("time can be stopped"))

    async def step(self, duration_ns: int) -> NoReturn:
        """Refuse."""
        raise Refused(_IN_REAL_TIME.format("time can be stepped"))


_UNABLE = {
    "connect": "a port can be forwarded to a node",
    "files": "traffic can be started by hand",
    "start": "traffic can be started by hand",
}

Machine = LiveMachine | DeployedMachine
"""What a live lab runs on."""
