"""A live lab's clients at their server: connections, and sessions, whose outputs somebody is told of."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fabriclab.errors import FabriclabError
from fabriclab.formats.live import Input, Output
from fabriclab.live.client import CREDIT_STEP, failure_text
from fabriclab.live.machine import MachineGone
from fabriclab.live.wire import FRAME_BYTES, WireError, client_frame, decode, encode, number, parse_client_head

if TYPE_CHECKING:
    from fabriclab.live.server import Server

HANG_UP_PATIENCE_S = 2.0
"""How long a process may live on after SIGHUP when its client has gone."""
_SIGHUP, _SIGKILL = 1, 9


class Refused(FabriclabError):  # noqa: N818 - it says what happened
    """What a client asks can't be done; the text says why."""


class Client:
    """A client's connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> tuple[int, bytes]:
        """Return the next frame's kind and data. Raises IncompleteReadError at the end, WireError."""
        length, kind = parse_client_head(await self._reader.readexactly(FRAME_BYTES))
        return kind, await self._reader.readexactly(length) if length else b""

    def say(self, kind: int, data: bytes = b"") -> None:
        """Send a frame. What is said is bounded by the credit that the client gives."""
        self._writer.write(client_frame(kind, data))

    async def flush(self) -> None:
        """Wait until all that was said is with the client. Raises OSError."""
        await self._writer.drain()


class Session(ABC):
    """Whoever is told of a session's outputs."""

    @abstractmethod
    def heard(self, kind: int, data: bytes) -> None:
        """Take an output of the session."""


class Task(Session):
    """A session of the server's own: nobody reads what it writes, but how it begins and ends."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.started: asyncio.Future[dict[str, Any]] = loop.create_future()
        """What `started` said."""
        self.done: asyncio.Future[dict[str, Any]] = loop.create_future()
        """The same when it has ended."""

    def heard(self, kind: int, data: bytes) -> None:
        """Take note of its beginning and its end."""
        if kind == Output.STARTED and not self.started.done():
            self.started.set_result(decode(data))
        elif kind == Output.ENDED:
            status = str(decode(data).get("status", ""))
            if status == "exit 0":
                self._succeed()
            else:
                self._fail(Refused(f"ended with {status}"))
        elif kind == Output.ERROR:
            self._fail(Refused(failure_text(decode(data))))

    def _succeed(self) -> None:
        if not self.started.done():
            self.started.set_result({})
        if not self.done.done():
            self.done.set_result(self.started.result())

    def _fail(self, error: Refused) -> None:
        for future in (self.started, self.done):
            if not future.done():
                future.set_exception(error)
                future.exception()  # Nobody may wait for it.


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
            raise Refused("what is to be opened is not said")
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
                await asyncio.wait_for(self._over.wait(), HANG_UP_PATIENCE_S)
                return

    async def _quietly(self, kind: Input, data: bytes = b"") -> None:
        with suppress(MachineGone):
            await self._submit(kind, data)
