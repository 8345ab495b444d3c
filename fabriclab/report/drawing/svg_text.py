"""Texts and numbers of an SVG picture: how wide a text is where nobody can measure it, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable

from fabriclab.report.drawing.style import DARK, GROUND, variable

LINE = 1.2
"""The height of a line of text, as a multiple of the size of its letters."""

_WIDTHS = (
    *(32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34),
    *(84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99),
    *(69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52),
    *(39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84),
)
"""Of DejaVu Sans, wider than most systems' own font: hundredths of the size, from the space to the tilde."""
_OTHER_WIDTH = 64


def text_width(text: str, size: float) -> float:
    """Return how wide a line of text is at most, in the unit of its size."""
    return sum(_WIDTHS[ord(each) - 32] if 32 <= ord(each) < 127 else _OTHER_WIDTH for each in text) * size / 100


def number(value: float) -> str:
    """Return a coordinate, to a hundredth of a point: nobody sees more."""
    return f"{round(float(value), 2):g}"


def points(values: Iterable[float]) -> list[str]:
    """Return coordinates as texts."""
    return [f"{value:.6g}" for value in values]


def paint(color: str) -> str:
    """Return one of the report's colours as a CSS variable, which has another value on a dark ground."""
    return f"var({variable(color)}, {color})" if color in DARK else color


def escaped(text: str) -> str:
    """Return text for an element or an attribute."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def label(
    x: float,
    y: float,
    text: str,
    color: str,
    size: float,
    *,
    anchor: str = "start",
    turn: int = 0,
    has_rim: bool = False,
) -> str:
    """Return a text whose baseline begins, or whose `anchor` is, at a place; further lines stand below the first.

    `turn`: so many degrees to the left. A rim in the colour of the ground keeps it apart from lines behind it.
    """
    where = f' transform="rotate({-turn} {number(x)} {number(y)})"' if turn else ""
    look = f"fill: {paint(color)}"
    if has_rim:
        look += f"; stroke: {paint(GROUND)}; stroke-width: 2.5; stroke-linejoin: round; paint-order: stroke"
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    begin = f'<text x="{number(x)}" y="{number(y)}" font-size="{size:g}"{side}{where} style="{look}">'
    lines = text.split("\n")
    if len(lines) == 1:
        return f"{begin}{escaped(text)}</text>"
    spans = [
        f'<tspan x="{number(x)}" y="{number(y + index * LINE * size)}">{escaped(line)}</tspan>'
        for index, line in enumerate(lines)
    ]
    return f"{begin}{''.join(spans)}</text>"
