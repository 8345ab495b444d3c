"""Numbers without a unit as people write them: `1/8`, `0.5`, `4`."""

from __future__ import annotations

import re
from fractions import Fraction

_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,12})?"
_FRACTION = re.compile(rf"(?P<over>{_NUMBER})(?:\s*/\s*(?P<under>{_NUMBER}))?")


def parse_fraction(text: str) -> Fraction | None:
    """Return the exact number; None for a text that is none."""
    match = _FRACTION.fullmatch(text.strip())
    if match is None:
        return None
    under = Fraction(match["under"] or 1)
    return None if under == 0 else Fraction(match["over"]) / under


def format_fraction(number: Fraction) -> str:
    """Return a number as it is written: `1/8`, `4`."""
    return str(number)
