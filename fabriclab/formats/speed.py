"""How fast virtual time goes, as people write it: `1`, `1/100`, `0.5`, `max`."""

from __future__ import annotations

from fractions import Fraction

from fabriclab.errors import ArgumentError
from fabriclab.formats.live import REAL_TIME

FASTEST = "max"
_LARGEST = 10**6

Speed = Fraction | None
"""Virtual seconds a second; None: as many as the host can."""


def parse_speed(text: str) -> Speed:
    """Return the speed that is written: `1`, `1/100`, `0.5`, `max`. Raises ArgumentError."""
    word = text.strip()
    if word == FASTEST:
        return None
    try:
        speed = Fraction(word) if len(word) <= 40 else Fraction(0)
    except (ValueError, ZeroDivisionError):
        speed = Fraction(0)
    if not Fraction(1, _LARGEST) <= speed <= _LARGEST:
        raise ArgumentError(
            "{speed} {0!r}: write virtual seconds per second, 1/{1} to {1}, such as 1, 1/100 or 0.5; or max",
            word[:40],
            _LARGEST,
        )
    return speed


def format_speed(speed: Speed) -> str:
    """Return a speed as it is written."""
    return FASTEST if speed is None else str(speed)


def kernel_speed(speed: Speed) -> int:
    """Return a speed as the kernel takes it; never 0 but for the fastest."""
    return 0 if speed is None else max(1, round(speed * REAL_TIME))
