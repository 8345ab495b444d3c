"""The server of a live lab: clients on a socket of this user's, each with one question or one process in a node.

Nothing slow is done here: the run is in a thread of its own, and what a client does not read makes its process wait,
not the lab.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fabriclab.api.progress import Progress
from fabriclab.errors import FabriclabError
from fabriclab.files import explain
from fabriclab.formats.live import Input, Output
from fabriclab.live.client import CREDIT_STEP
from fabriclab.live.clients import Client, Refused, Session, Task
from fabriclab.live.deployed import Machine
from fabriclab.live.labs_up import Entry
from fabriclab.live.machine import MachineGone
from fabriclab.live.running import Running
from fabriclab.live.wire import Frame, WireError, client_frame, decode, encode, number
from fabriclab.runs import RunResult

_MOST_CLIENTS = 256
_QUESTION_PATIENCE_S = 10.0
"""How long a client may take to say what it wants."""
_DOWN_PATIENCE_S = 60.0
_LISTEN = 64
_HANG_UP_PATIENCE_S = 2.0
"""How long a process may live on after SIGHUP when its client has gone."""
_SIGHUP, _SIGKILL = 1, 9


Question = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Answers what a client asks. Raises FabriclabError, MachineGone, OSError where it can't."""


class Server:
    """The clients of one live lab."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._sessions: dict[int, Session] = {}
        self._next_session = 1
        self._clients: set[asyncio.Task[None]] = set()
        self._questions: dict[str, Question] = {}
        self._going_down: asyncio.Task[None] | None = None
        self.running: Running | None = None
        self.result: asyncio.Future[RunResult] | None = None
        self.check_opening: Callable[[dict[str, Any]], None] = lambda _body: None
        """Raises for what PID 1 must not be asked."""
        self.stage = ""
        self.why_stopped: Callable[[], str | None] = lambda: None
        """Which break point stopped the clock, in words."""

    @property
    def is_going_down(self) -> bool:
        """Whether the lab is being ended."""
        return self._going_down is not None

    def answer(self, name: str, question: Question) -> None:
        """Let a question of this name be answered by a function."""
        self._questions[name] = question

    async def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a question of the server's own. Raises what the question raises."""
        return await self._questions[question["do"]](dict(question))

    # -- Sessions -----------------------------------------------------------------------------------------------------

    def heard(self, frame: Frame) -> None:
        """Pass an output on to whom it belongs."""
        session = self._sessions.get(frame.session)
        if session is not None:
            session.heard(frame.kind, frame.data)

    def progressed(self, event: Progress) -> None:
        """Take the stage that the run is in; called by its thread."""
        self.stage = event.stage

    def new_session(self, session: Session) -> int:
        """Return the number of a new session. Its outputs go to `session` until it is over."""
        found, self._next_session = self._next_session, self._next_session + 1
        self._sessions[found] = session
        return found

    def forget(self, session: int) -> None:
        """Take a session that is over out."""
        self._sessions.pop(session, None)

    async def opened(self, body: dict[str, Any]) -> dict[str, Any]:
        """Let PID 1 do something, wait until it is done, and return what `started` said, with `t_ns`, the instant.

        Raises Refused with its error, MachineGone.
        """
        task, t_ns = await self._open_task(body)
        return {**await self._or_gone(task.done), "t_ns": t_ns}

    async def begun(self, body: dict[str, Any], on_end: Callable[[], None]) -> dict[str, Any]:
        """Let PID 1 begin something, and return what `started` said; `on_end` is called when it is over.

        Raises Refused with its error, MachineGone.
        """
        task, _ = await self._open_task(body)
        task.done.add_done_callback(lambda _: on_end())
        return await self._or_gone(task.started)

    async def _open_task(self, body: dict[str, Any]) -> tuple[Task, int]:
        task = Task()
        session = self.new_session(task)
        task.done.add_done_callback(lambda _: self.forget(session))
        taken = await self.machine.submit(session, Input.OPEN, encode(body))
        return task, taken.t_ns

    async def _or_gone(self, future: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
        """Return a future's result. Raises MachineGone where the machine ends before there is one."""
        gone = asyncio.ensure_future(self.machine.ended())
        try:
            await asyncio.wait((future, gone), return_when=asyncio.FIRST_COMPLETED)
            if not future.done():
                raise self.machine.gone or MachineGone("the virtual machine has ended")
            return future.result()
        finally:
            gone.cancel()

    # -- Clients ------------------------------------------------------------------------------------------------------

    @property
    def machine(self) -> Machine:
        """What the lab runs on. Raises MachineGone before there is one."""
        if self.running is None:
            raise MachineGone("the lab is not up yet")
        return self.running.machine

    async def listen(self) -> asyncio.Server:
        """Begin to take clients. Raises OSError."""
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        end.bind(self.entry.socket)
        Path(self.entry.socket).chmod(0o600)
        return await asyncio.start_unix_server(self._accepted, sock=end, backlog=_LISTEN, limit=1 << 17)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or not _is_ours(writer) or len(self._clients) >= _MOST_CLIENTS:
            writer.write(
                client_frame(Output.ERROR, encode({"message": f"{_MOST_CLIENTS} clients are connected already"}))
            )
            writer.close()
            return
        self._clients.add(task)
        try:
            await self._serve(Client(reader, writer))
        except (WireError, asyncio.IncompleteReadError, OSError, TimeoutError):
            pass  # It has gone, or is none of ours.
        finally:
            self._clients.discard(task)
            writer.close()

    async def _serve(self, client: Client) -> None:
        kind, data = await asyncio.wait_for(client.read(), _QUESTION_PATIENCE_S)
        try:
            if kind != Input.OPEN:
                raise Refused("a client's first message must be its request")
            question = decode(data)
            name = str(question.get("do"))
            if name == "open":
                await ClientSession(self, client).run(question.get("open"))
            elif name in self._questions:
                client.say(Output.ANSWER, encode(await self._answered(client, self._questions[name], question)))
            else:
                raise Refused(f"{name!r}: unknown request")
        except OSError as error:
            client.say(Output.ERROR, encode({"message": explain(error)}))
        except (FabriclabError, MachineGone, WireError) as error:
            client.say(Output.ERROR, encode({"message": str(error)}))
        await client.flush()

    async def _answered(self, client: Client, question: Question, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the answer; whoever goes away before takes back what was asked."""
        answering = asyncio.ensure_future(question(asked))
        leaving = asyncio.ensure_future(client.read())
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                answering.cancel()
            return await answering
        except asyncio.CancelledError:
            if answering.cancelled():
                raise WireError("the client has gone") from None
            raise
        finally:
            leaving.cancel()
            with suppress(asyncio.CancelledError, asyncio.IncompleteReadError, OSError, WireError):
                await leaving

    # -- The end ------------------------------------------------------------------------------------------------------

    def go_down(self) -> None:
        """End the lab in order: its traffic, what is collected, its results."""
        if self._going_down is None:
            self._going_down = asyncio.create_task(self._end_lab())

    async def _end_lab(self) -> None:
        running = self.running
        if running is None:
            return
        machine = running.machine
        with suppress(MachineGone, Refused):
            machine.forget_conditions()
            machine.speed = None
            machine.go_on()
            session = self.new_session(Task())
            await machine.submit(session, Input.OPEN, encode({"down": {}}))
        with suppress(TimeoutError):
            await asyncio.wait_for(machine.ended(), _DOWN_PATIENCE_S)
            return
        running.interrupt.request()
        running.interrupt.request()

    async def drain(self) -> None:
        """Wait until every client has been told of the end."""
        tasks = [task for task in self._clients if task is not asyncio.current_task()]
        for session in list(self._sessions.values()):
            session.heard(Output.ERROR, encode({"message": "the lab has gone down"}))
        if tasks:
            await asyncio.wait(tasks, timeout=_HANG_UP_PATIENCE_S)


class ClientSession(Session):
    """A client's process in a node: frames go both ways until one of the two ends."""

    def __init__(self, server: Server, client: Client) -> None:
        self._server = server
        self._client = client
        self._over = asyncio.Event()
        self._left = False
        self._number = 0
        self._dropped = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self, body: object) -> None:
        """Open it, and pass frames on until it is over. Raises Refused, MachineGone."""
        if not isinstance(body, dict):
            raise Refused("the request does not name what to open")
        self._server.check_opening(body)
        self._number = self._server.new_session(self)
        try:
            await self._submit(Input.OPEN, encode(body))
            reading = asyncio.create_task(self._pass_on())
            waiting = asyncio.create_task(self._over.wait())
            await asyncio.wait((reading, waiting), return_when=asyncio.FIRST_COMPLETED)
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading
            if not self._over.is_set():
                await self._hang_up()
            waiting.cancel()
        finally:
            self._server.forget(self._number)

    async def _submit(self, kind: Input, data: bytes = b"") -> None:
        await self._server.machine.submit(self._number, kind, data)

    async def _pass_on(self) -> None:
        """Pass the client's frames on, each when the machine has taken the one before, until it goes."""
        with suppress(asyncio.IncompleteReadError, OSError, WireError, MachineGone):
            while True:
                kind, data = await self._client.read()
                if kind == Input.OPEN:
                    raise WireError("a session is opened once")
                await self._submit(Input(kind), data)
        return

    def heard(self, kind: int, data: bytes) -> None:
        """Pass an output on to the client, or drop it where that has gone."""
        if not self._left:
            self._client.say(kind, data)
        elif kind in (Output.STDOUT, Output.STDERR):
            self._drop(len(data))
        if kind in (Output.ENDED, Output.ERROR):
            self._over.set()

    def _drop(self, length: int) -> None:
        """Take output that nobody reads any more: a process that is to end must not wait for its reader."""
        self._dropped += length
        if self._dropped >= CREDIT_STEP:
            task = asyncio.create_task(self._quietly(Input.CREDIT, number(self._dropped)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            self._dropped = 0

    async def _hang_up(self) -> None:
        """End what a client left behind, as a terminal does that is closed; what does not heed it is killed."""
        self._left = True
        await self._quietly(Input.EOF)
        for signal_number in (_SIGHUP, _SIGKILL):
            await self._quietly(Input.SIGNAL, bytes([signal_number]))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), _HANG_UP_PATIENCE_S)
                return

    async def _quietly(self, kind: Input, data: bytes = b"") -> None:
        with suppress(MachineGone):
            await self._submit(kind, data)


def _is_ours(writer: asyncio.StreamWriter) -> bool:
    """Return whether the client's process belongs to this user."""
    end = writer.get_extra_info("socket")
    _, user, _ = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return bool(user == os.geteuid())
