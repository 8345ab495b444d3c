"""Connections that ask for nothing: they are closed after a while, and at once where others need their places.

Uvicorn serves so many connections at a time and answers 503 beyond that, and it waits for a first request for ever: any
program on this computer could keep the page from its user.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from itertools import count

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_S = 20.0
"""How long the server waits for a browser that does not read."""


async def within_reason(sending: Awaitable[None]) -> None:
    """Send something. Raises TimeoutError where the browser does not take it: then it is dropped."""
    await asyncio.wait_for(sending, PATIENCE_S)


MOST_CONNECTIONS = 64
"""Beyond so many, a new connection makes idle ones close."""
MOST_REQUESTS = 4 * MOST_CONNECTIONS
"""Beyond so many that are all being answered, which no one closes, a new request is told to come later (503)."""
FIRST_REQUEST_S = 10.0
"""How long a connection may take until its first request is whole. Between requests Uvicorn waits 5 s."""
_NUMBERS = count()


class Connection(H11Protocol):
    """A connection of HTTP/1.1 to the page."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as Uvicorn has it
        """Take a place, for which the one that has been idle for longest makes room."""
        super().connection_made(transport)
        self._number = next(_NUMBERS)
        self._first_request = self.loop.call_later(FIRST_REQUEST_S, self._drop_unless_asked)
        idle = [each for each in self.connections if isinstance(each, Connection) and each.is_idle and each is not self]
        for each in sorted(idle, key=lambda one: one._number)[: max(0, len(self.connections) - MOST_CONNECTIONS + 1)]:
            each.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._first_request.cancel()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether it has no request that is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def drop(self) -> None:
        """Close the connection; its place is free at once."""
        self.connections.discard(self)
        self.transport.abort()

    def _drop_unless_asked(self) -> None:
        if self.scope is None:
            self.drop()
