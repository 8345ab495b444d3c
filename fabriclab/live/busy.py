"""Which programs in a live lab never sleep, as far as the machine tells."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_FORGET_S = 3.0
"""A program of which nothing was told for so long sleeps by now, or has ended."""
_MOST = 64
"""So many are remembered; of more, those that were told of last."""


@dataclass
class _Told:
    first_s: float
    last_s: float


class Busy:
    """The programs that do not sleep, each with how long it has not, in seconds of the wall clock."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._told: dict[tuple[str, str], _Told] = {}

    def told(self, program: str, node: str) -> None:
        """Take note that a program in a node does not sleep."""
        now_s = self._clock_s()
        self._forget(now_s)
        found = self._told.pop((program, node), None) or _Told(now_s, now_s)
        found.last_s = now_s
        self._told[program, node] = found
        while len(self._told) > _MOST:
            del self._told[next(iter(self._told))]

    def programs(self) -> list[tuple[str, str, float]]:
        """Return program, node and seconds of each, the longest first."""
        now_s = self._clock_s()
        self._forget(now_s)
        found = [(program, node, now_s - told.first_s) for (program, node), told in self._told.items()]
        return sorted(found, key=lambda each: -each[2])

    def _forget(self, now_s: float) -> None:
        self._told = {key: told for key, told in self._told.items() if now_s - told.last_s < _FORGET_S}
