"""Shares in per cent: `0.1 %` is 1000 parts of a million."""

from __future__ import annotations

import re
from decimal import Decimal

WHOLE_PPM = 10**6
_PERCENT = re.compile(r"(?P<number>[0-9]{1,3}(?:\.[0-9]{1,8})?)\s*%")
_PPM_OF_PERCENT = 10_000


def parse_percent(text: str) -> int | None:
    """Return parts of a million; None for a text that is no percentage, or one with parts smaller than that."""
    match = _PERCENT.fullmatch(text)
    ppm = None if match is None else Decimal(match["number"]) * _PPM_OF_PERCENT
    return None if ppm is None or ppm != int(ppm) else int(ppm)


def format_percent(ppm: int) -> str:
    """Return parts of a million as they are written: 1000 is `0.1 %`."""
    whole, parts = divmod(ppm, _PPM_OF_PERCENT)
    return f"{whole}.{parts:04d}".rstrip("0").rstrip(".") + " %"
