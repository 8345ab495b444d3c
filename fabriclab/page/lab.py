"""A live lab's server as the page asks it: the questions and sessions of `fabriclab.live.client`, without blocking."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fabriclab.formats.live import INPUT_CREDIT, Input, Output
from fabriclab.live import labs_up
from fabriclab.live.client import CREDIT_STEP, Gone, LiveError, failure_text
from fabriclab.live.wire import (
    DATA_MAX,
    FRAME_BYTES,
    WireError,
    client_frame,
    decode,
    encode,
    number,
    parse_client_head,
    parse_number,
)

_LOOK_FOR_LAB_S = 1.0
"""How long an answer may take until it is looked whether the lab is still up."""


class Line:
    """A connection to a lab's server."""

    def __init__(self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._name = name
        self._reader = reader
        self._writer = writer

    async def send(self, kind: Input, data: bytes = b"") -> None:
        """Send a frame, and wait until the server takes it. Raises Gone."""
        try:
            self._writer.write(client_frame(kind, data))
            await self._writer.drain()
        except OSError:
            raise Gone(f"{self._name}: the lab has gone down") from None

    async def receive(self) -> tuple[int, bytes]:
        """Return the next frame that comes. Raises Gone, LiveError."""
        try:
            length, kind = parse_client_head(await self._reader.readexactly(FRAME_BYTES))
            return kind, await self._reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError):
            raise Gone(f"{self._name}: the lab has gone down") from None
        except WireError as error:
            raise LiveError(f"{self._name}: the lab's server does not follow the protocol: {error}") from None


@asynccontextmanager
async def connected(name: str) -> AsyncIterator[Line]:
    """Connect to a lab's server. Raises Gone where there is none."""
    try:
        reader, writer = await asyncio.open_unix_connection(labs_up.socket_path(name))
    except OSError:
        raise Gone(f"{name}: the lab is not up") from None
    try:
        yield Line(name, reader, writer)
    finally:
        writer.close()


async def asked(name: str, question: dict[str, Any]) -> bytes:
    """Ask a lab's server; returns its answer as JSON. Raises LiveError with its reason, Gone."""
    async with connected(name) as line:
        await line.send(Input.OPEN, encode(question))
        while True:
            kind, data = await _received(name, line)
            if kind == Output.ANSWER:
                return data
            if kind == Output.ERROR:
                raise LiveError(failure_text(decode(data)))


async def _received(name: str, line: Line) -> tuple[int, bytes]:
    """Return the next frame that comes. Raises Gone also where a lab that is gone left the connection open: a server
    that ends while it is connected to may never say so."""
    coming = asyncio.ensure_future(line.receive())
    try:
        while True:
            done, _ = await asyncio.wait([coming], timeout=_LOOK_FOR_LAB_S)
            if done:
                return coming.result()
            if name not in labs_up.labs():
                raise Gone(f"{name}: the lab has gone down")
    finally:
        coming.cancel()


class Program:
    """A program on a terminal in a node. What nobody reads of it makes it wait."""

    def __init__(self, line: Line) -> None:
        """Take a connection that nothing has been asked on."""
        self._line = line
        self._room = 0
        self._has_room = asyncio.Condition()
        self._consumed = 0

    async def open(self, execution: dict[str, Any]) -> None:
        """Start it. Errors come with what is read."""
        await self._line.send(Input.OPEN, encode({"do": "open", "open": {"exec": execution}}))

    async def read(self) -> bytes | str:
        """Return what it writes next; a text says how it ended. Raises LiveError, Gone."""
        return (await self.read_frame())[1]

    async def read_frame(self) -> tuple[int, bytes | str]:
        """Return what it writes next and where, STDOUT or STDERR; a text says how it ended. Raises LiveError, Gone."""
        while True:
            kind, data = await self._line.receive()
            if kind in (Output.STDOUT, Output.STDERR):
                return kind, data
            if kind == Output.ENDED:
                return kind, str(decode(data).get("status", ""))
            if kind == Output.ERROR:
                raise LiveError(failure_text(decode(data)))
            if kind in (Output.STARTED, Output.CREDIT):
                await self._make_room(INPUT_CREDIT if kind == Output.STARTED else parse_number(data))

    async def consumed(self, length: int) -> None:
        """Say that so much of what it wrote is done with: it may write as much more."""
        self._consumed += length
        if self._consumed >= CREDIT_STEP:
            done, self._consumed = self._consumed, 0
            await self._line.send(Input.CREDIT, number(done))

    async def write(self, data: bytes) -> None:
        """Let it read bytes; waits until there is room for them."""
        while data:
            async with self._has_room:
                await self._has_room.wait_for(lambda: self._room > 0)
                length = min(len(data), self._room, DATA_MAX)
                self._room -= length
            await self._line.send(Input.DATA, data[:length])
            data = data[length:]

    async def finish(self) -> None:
        """End its standard input."""
        await self._line.send(Input.EOF)

    async def signal(self, signal_number: int) -> None:
        """Send a signal to the process group in the foreground."""
        await self._line.send(Input.SIGNAL, bytes([signal_number]))

    async def resize(self, size: bytes) -> None:
        """Tell its terminal's size (`wire.window`)."""
        await self._line.send(Input.RESIZE, size)

    async def _make_room(self, length: int) -> None:
        async with self._has_room:
            self._room += length
            self._has_room.notify_all()
