"""What other programs' flow files have in common."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

MOST_NODES = 100_000
LARGEST_BYTES = 2**62


class ForeignFlow(NamedTuple):
    """A flow as another program's file has it: nodes are numbers from 0, the start is rounded to whole nanoseconds."""

    line: int
    src: int
    dst: int
    size_bytes: int
    start_ns: int
    group: str | None = None
    """What belongs together, such as a coflow."""


def whole(text: str, largest: int) -> int | None:
    """Return a whole number from 0 to `largest`, None for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) <= 20):
        return None
    value = int(text)
    return value if value <= largest else None


def nanoseconds(text: str, per_unit: Decimal) -> int | None:
    """Return a time in whole nanoseconds, halves up; None for what is not a number of at most 40
    characters, or negative."""
    mantissa = text.lower().partition("e")[0].replace(".", "", 1)
    if len(text) > 40 or not (mantissa.isascii() and mantissa.isdigit()):
        return None
    try:
        value = Decimal(text) * per_unit
    except ArithmeticError:
        return None
    return int(value.to_integral_value(ROUND_HALF_UP)) if value < LARGEST_BYTES else LARGEST_BYTES
