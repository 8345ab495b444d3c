"""Traffic that starts again when it has ended, until it is stopped. Each start is an input like one by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fabriclab.errors import FabriclabError
from fabriclab.live.machine import MachineGone
from fabriclab.live.server import Server


class TrafficLoop:
    """Which traffic of one lab goes on, and how often it has started again."""

    def __init__(self, server: Server, start: Callable[[str], Awaitable[Any]]) -> None:
        """Take what starts a traffic by its name."""
        self._server = server
        self._start = start
        self._again: dict[str, int] = {}
        self._failed = ""
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, traffic: str) -> None:
        """Let a traffic start again when it has ended."""
        self._again.setdefault(traffic, 0)
        self._failed = ""

    def remove(self, traffic: str) -> bool:
        """Let a traffic end for good when it ends; returns whether it would have started again."""
        return self._again.pop(traffic, None) is not None

    def told(self) -> dict[str, Any]:
        """Return how often each traffic has started again, and why one does not any more; empty: it does."""
        return {"again": dict(self._again), "failed": self._failed}

    def ended(self, traffic: str) -> None:
        """Start a traffic again of which the last program has ended."""
        if traffic in self._again and not self._server.is_going_down:
            task = asyncio.create_task(self._restart(traffic))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _restart(self, traffic: str) -> None:
        if traffic not in self._again:
            return
        try:
            await self._start(traffic)
        except (FabriclabError, MachineGone) as error:
            self.remove(traffic)
            self._failed = f"{traffic} does not start again: {error}"
            return
        if traffic in self._again:
            self._again[traffic] += 1
