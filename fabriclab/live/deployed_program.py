"""A program in a container, as a session of a live lab: bytes both ways, as many as the other end gives credit for."""

from __future__ import annotations

import asyncio
import os
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from fabriclab.engine.containers.docker import Container
from fabriclab.engine.containers.execution import Execution
from fabriclab.formats.live import OUTPUT_CREDIT, Input, Output
from fabriclab.live.wire import encode, number, parse_number

_READ_BYTES = 1 << 15
_MOST_KEPT_BYTES = 1 << 22
"""What a program that has been sent a signal may still write before the rest is dropped."""

Tell = Callable[[int, Output, bytes], None]


class DeployedProgram:
    """One program of one session."""

    def __init__(self, container: Container, session: int, asked: Mapping[str, Any], tell: Tell) -> None:
        """Start what a client asked for (`terminal.execution`). Raises OSError."""
        terminal = asked.get("terminal")
        size = (terminal["rows"], terminal["columns"]) if terminal else None
        name = f"{os.getpid()}-{session}"
        self._execution = Execution(container, asked["argv"], asked.get("environment", {}), name, size)
        self._session = session
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._credit = OUTPUT_CREDIT
        self._drains = False
        self._kept: list[tuple[Output, bytes]] = []
        self._kept_bytes = 0
        self._open = {self._execution.output: Output.STDOUT}
        if self._execution.error is not None:
            self._open[self._execution.error] = Output.STDERR
        self._end = self._execution.process()
        self._waiting: set[int] = set()
        self._listen()
        self._loop.add_reader(self._end, self._finished)

    # -- From the client ----------------------------------------------------------------------------------------------

    async def obey(self, kind: int, data: bytes) -> None:
        """Do what the client asks."""
        execution = self._execution
        if kind == Input.DATA:
            await self._write(data)
            self._tell(self._session, Output.CREDIT, number(len(data)))
        elif kind == Input.EOF:
            execution.end_input()
        elif kind == Input.CREDIT:
            self._credit += parse_number(data)
            self._give_kept()
            self._listen()
        elif kind == Input.SIGNAL:
            # Docker lets nothing into a container, a signal neither, while it waits for somebody to read.
            self._drains = True
            self._listen()
            execution.signal(data[0])
        elif kind == Input.RESIZE:
            execution.resize(*struct.unpack("<HH", data))

    async def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._execution.input, view) :]
            except BlockingIOError:
                await self._writable()
            except (OSError, ValueError):
                return  # It does not read any more.

    async def _writable(self) -> None:
        ready: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_writer(self._execution.input, _fulfil, ready)
        try:
            await ready
        finally:
            self._loop.remove_writer(self._execution.input)

    # -- To the client ------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Read while there is credit."""
        for descriptor in self._open if self._credit > 0 or self._drains else ():
            if descriptor not in self._waiting:
                self._waiting.add(descriptor)
                self._loop.add_reader(descriptor, self._read, descriptor)

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, _READ_BYTES if self._drains else min(_READ_BYTES, self._credit))
        except BlockingIOError:
            return
        except OSError:  # A terminal whose other end has been closed.
            data = b""
        if data:
            self._give(self._open[descriptor], data)
            if self._credit <= 0 and not self._drains:
                for other in list(self._waiting):
                    self._leave(other)
        else:
            self._leave(descriptor)
            del self._open[descriptor]
            self._conclude()

    def _give(self, stream: Output, data: bytes) -> None:
        """Tell the client, or keep it until there is credit."""
        if len(data) <= self._credit and not self._kept:
            self._credit -= len(data)
            self._tell(self._session, stream, data)
        elif self._kept_bytes < _MOST_KEPT_BYTES:
            self._kept.append((stream, data))
            self._kept_bytes += len(data)

    def _give_kept(self) -> None:
        while self._kept and len(self._kept[0][1]) <= self._credit:
            stream, data = self._kept.pop(0)
            self._kept_bytes -= len(data)
            self._credit -= len(data)
            self._tell(self._session, stream, data)
        self._conclude()

    def _leave(self, descriptor: int) -> None:
        self._waiting.discard(descriptor)
        self._loop.remove_reader(descriptor)

    def _finished(self) -> None:
        self._loop.remove_reader(self._end)
        self._conclude()

    def _conclude(self) -> None:
        """Tell how it ended, when all that it wrote has been read."""
        status = self._execution.status()
        if status is not None and not self._open and not self._kept:
            self._tell(self._session, Output.ENDED, encode({"status": status}))

    def close(self) -> None:
        """Let go of it, whatever it does."""
        for descriptor in list(self._waiting):
            self._leave(descriptor)
        with suppress(ValueError):
            self._loop.remove_reader(self._end)
        os.close(self._end)
        self._execution.close()


def _fulfil(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
