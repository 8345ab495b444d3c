"""A live lab's clients at their server: connections, and sessions, whose outputs somebody is told of."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Any

from fabriclab.errors import FabriclabError
from fabriclab.formats.live import Output
from fabriclab.live.client import failure_text
from fabriclab.live.wire import FRAME_BYTES, client_frame, decode, parse_client_head


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
