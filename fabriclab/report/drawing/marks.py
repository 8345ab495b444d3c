"""Shapes and dashes of a still picture's lines."""

from __future__ import annotations

from typing import Any

from fabriclab.report.drawing.svg_text import number

_CORNERS: dict[str, tuple[tuple[float, float], ...]] = {
    "s": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "^": ((0, -1.1), (1.1, 0.9), (-1.1, 0.9)),
    "v": ((0, 1.1), (1.1, -0.9), (-1.1, -0.9)),
    "D": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "P": (
        *((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4), (0.4, 1.2)),
        *((-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    ),
    "X": (
        *((-1.2, -0.6), (-0.6, -1.2), (0, -0.6), (0.6, -1.2), (1.2, -0.6), (0.6, 0), (1.2, 0.6)),
        *((0.6, 1.2), (0, 0.6), (-0.6, 1.2), (-1.2, 0.6), (-0.6, 0)),
    ),
}
"""Of each mark but the round one, in halves of its size."""


def mark_path(marker: str, x: float, y: float, size: float) -> str:
    """Return the path of a mark around a place; one that has no shape here is round."""
    half = size / 2
    if marker not in _CORNERS:
        turn = f"a{number(half)} {number(half)} 0 1 0"
        return f"M{number(x - half)} {number(y)}{turn} {number(size)} 0{turn} {number(-size)} 0z"
    corners = " ".join(f"{number(x + dx * half)} {number(y + dy * half)}" for dx, dy in _CORNERS[marker])
    return f"M{corners}z"


def dash_array(dash: Any, width: float) -> str:
    """Return the attribute for a dash, a pair as Matplotlib has them: lengths are multiples of the line's width."""
    if not isinstance(dash, tuple):
        return ""
    return f' stroke-dasharray="{" ".join(number(each * width) for each in dash[1])}"'
