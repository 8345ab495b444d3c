"""How virtual time keeps up with the speed that was asked for, and the words for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from fabriclab.formats.speed import parse_speed

_WINDOW_NS = 10**9
"""The ratio to the wall clock is taken over that much of it."""

_KEPT = 0.97
"""What is slower than that part of the speed asked for is told."""


class Ratio:
    """How fast virtual time has gone of late. It is told the time now and then."""

    def __init__(self) -> None:
        self._told: deque[tuple[int, int]] = deque()

    def told(self, wall_ns: int, instant_ns: int) -> None:
        """Take the virtual instant of a moment of the wall clock."""
        self._told.append((wall_ns, instant_ns))
        while len(self._told) > 2 and wall_ns - self._told[1][0] >= _WINDOW_NS:
            self._told.popleft()

    def forget(self) -> None:
        """Begin anew: time stood still, or goes at another pace."""
        self._told.clear()

    @property
    def value(self) -> float | None:
        """Virtual seconds a second of late; None as long as nobody can tell."""
        if len(self._told) < 2:
            return None
        (first_wall, first), (last_wall, last) = self._told[0], self._told[-1]
        return (last - first) / (last_wall - first_wall) if last_wall > first_wall else None


def time_text(state: Mapping[str, Any]) -> str:
    """Return the virtual time and how it goes, in words, of what a server says of its lab."""
    now = f"{state['now_ns'] / 1e9:.9f} s"
    if state.get("stopped"):
        return f"{now}, stopped: {state['stopped']} (speed {state['speed']})"
    if state["paused"]:
        return f"{now}, paused (speed {state['speed']})"
    asked, ratio = parse_speed(state["speed"]), state["ratio"]
    if ratio is None:
        return f"{now}, speed {state['speed']}"
    if asked is None:
        return f"{now}, speed max: {ratio:.3g} virtual seconds per second"
    late = ratio < _KEPT * float(asked)
    return f"{now}, speed {state['speed']}" + (
        f", which this computer does not keep up with: {ratio:.3g} virtual seconds per second" if late else ""
    )
