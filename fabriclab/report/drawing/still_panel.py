"""One panel of a still picture: grid, areas, lines, bars, marks of reference, axes and texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabriclab.report.drawing.charts import ChartBars, ChartMark, ChartPanel, ChartSeries
from fabriclab.report.drawing.mark_names import MarkNames
from fabriclab.report.drawing.marks import dash_array, mark_path
from fabriclab.report.drawing.paths import area_path, line_path
from fabriclab.report.drawing.scales import TICK_SIZE, Scale, Ticks
from fabriclab.report.drawing.style import GRID, GROUND, INK, MUTED, WARNING
from fabriclab.report.drawing.svg_text import LINE, label, number, paint

_SMALL = 8.0
_BAND = 0.3
"""How opaque a band around a line is."""
MOST_BANDS = 3
"""More bands in one panel hide each other: it has none of them."""
_MARK = 6.0
_DASHED, _DOTTED = (0, (4, 3)), (0, (1, 1.5))
_RIM = 1.0
_STEP = 4.5
"""Of the lines that hatch a bar."""
Box = tuple[float, float, float, float]


def drawn_panel(panel: ChartPanel, box: Box, scales: tuple[Scale, Scale], x_ticks: Ticks, y_ticks: Ticks) -> str:
    """Return a panel at left, top, width and height `box` as SVG elements."""
    left, top, width, height = box
    x, y = scales
    # An element of its own cuts off what the axes do not show; a line along their ends is seen whole.
    inner = (
        Scale(x.axis, x.low, x.high, _RIM, width + _RIM),
        Scale(y.axis, y.low, y.high, y.begin - top + _RIM, y.end - top + _RIM),
    )
    corner = f'x="{number(left - _RIM)}" y="{number(top - _RIM)}"'
    size = f'width="{number(width + 2 * _RIM)}" height="{number(height + 2 * _RIM)}"'
    clipped = f"<svg {corner} {size}>{''.join(_inside(panel, inner))}</svg>"
    parts = [*_grid(panel, box, scales, x_ticks, y_ticks), clipped, *_axes(panel, box, scales, x_ticks, y_ticks)]
    parts += [_marks(each, scales) for each in panel.series if each.marker]
    return "".join([*parts, *_names(panel, box, scales)]) + "\n"


def _path(d: str, color: str, width: float = 1.0, dash: str = "", extra: str = "") -> str:
    style = f"stroke: {paint(color)}{extra}"
    return f'<path d="{d}" fill="none" stroke-width="{width:g}"{dash} style="{style}"/>' if d else ""


def _filled(d: str, color: str, opacity: float) -> str:
    return f'<path d="{d}" fill-opacity="{opacity:g}" style="fill: {paint(color)}"/>' if d else ""


def _grid(panel: ChartPanel, box: Box, scales: tuple[Scale, Scale], x_ticks: Ticks, y_ticks: Ticks) -> Iterator[str]:
    left, top, width, height = box
    lines = ""
    if panel.y.scale != "category":
        lines += "".join(f"M{number(left)} {number(each)}h{number(width)}" for each in scales[1].at(y_ticks.at))
    if panel.x.grid:
        lines += "".join(f"M{number(each)} {number(top)}v{number(height)}" for each in scales[0].at(x_ticks.at))
    yield _path(lines, GRID, 0.8)


def _inside(panel: ChartPanel, scales: tuple[Scale, Scale]) -> Iterator[str]:
    """Yield what the axes bound, from the back to the front."""
    x, y = scales
    bottom, right = max(y.begin, y.end), x.end
    shaded = [(each.at, each.until, 0.08) for each in panel.events if each.until is not None]
    if panel.larger is not None:
        shaded.append((*panel.larger, 0.10))
    for begin, end, opacity in shaded:
        yield _filled(f"M{_at(x, begin)} 0V{number(bottom)}H{_at(x, end or begin)}V0z", WARNING, opacity)
    has_bands = sum(each.low is not None and not each.bars and not each.is_area for each in panel.series) <= MOST_BANDS
    for series in panel.series:
        yield _area(series, scales, has_bands=has_bands)
    for mark in panel.levels:
        yield _path(f"M{_RIM:g} {_at(y, mark.at)}H{number(right)}", mark.color, 1.0, _dash(mark))
    for mark in panel.events:
        yield _path(f"M{_at(x, mark.at)} 0V{number(bottom)}", mark.color, 1.0, _dash(mark))
    for bars in panel.bars:
        yield from _bars(bars, scales)
    for series in panel.series:
        at, width = x.at(series.x), series.width or 1.6
        if series.line:
            path = line_path(at, y.at(series.y), steps=series.steps)
            yield _path(path, series.color, width, dash_array(series.dash, width), "; stroke-linejoin: round")
        if series.bars and series.low is not None and series.high is not None:
            ends = zip(at, y.at(series.low), y.at(series.high), strict=True)
            known = (each for each in ends if np.isfinite(each).all())
            path = "".join(f"M{number(place)} {number(low)}V{number(high)}" for place, low, high in known)
            yield _path(path, series.color, 1.0)


def _at(scale: Scale, value: float) -> str:
    return number(scale.one(value))


def _dash(mark: ChartMark) -> str:
    return dash_array(_DOTTED if mark.is_dotted else _DASHED, 1.0)


def _area(series: ChartSeries, scales: tuple[Scale, Scale], *, has_bands: bool) -> str:
    x, y = scales
    if series.low is not None and series.high is not None:
        if series.bars or not (series.area or has_bands):
            return ""
        low, high = y.at(series.low), y.at(series.high)
    elif series.area:
        high = y.at(series.y)
        low = np.where(np.isfinite(high), y.begin, np.nan)
    else:
        return ""
    return _filled(area_path(x.at(series.x), low, high, steps=series.steps), series.color, series.area or _BAND)


def _bars(bars: ChartBars, scales: tuple[Scale, Scale]) -> Iterator[str]:
    x, y = scales
    half = abs(y.one(bars.thick) - y.one(0.0)) / 2
    by_color: dict[str, list[str]] = {}
    hatches = []
    ends = zip(x.at(bars.begin), x.at(bars.end), y.at(bars.places), strict=True)
    for index, (begin, end, middle) in enumerate(ends):
        color = bars.colors[index] if bars.colors else bars.color
        corner = f"M{number(begin)} {number(middle - half)}"
        by_color.setdefault(color, []).append(f"{corner}H{number(end)}v{number(2 * half)}H{number(begin)}z")
        if bars.is_hatched:
            hatches.append(_hatch(float(begin), float(end), float(middle - half), float(middle + half)))
    for color, paths in by_color.items():
        yield f'<path d="{"".join(paths)}" style="fill: {paint(color)}"/>'
    yield _path("".join(hatches), GROUND, 1.0)


def _hatch(left: float, right: float, top: float, bottom: float) -> str:
    """Return lines across a bar, to the right and upwards."""
    begin, parts = left - (bottom - top) + _STEP, []
    while begin < right:
        # A line from (begin, bottom) upwards, as far as it is within the bar.
        first, last = max(begin, left), min(begin + bottom - top, right)
        if last > first:
            parts.append(
                f"M{number(first)} {number(bottom - first + begin)}L{number(last)} {number(bottom - last + begin)}"
            )
        begin += _STEP
    return "".join(parts)


def _axes(panel: ChartPanel, box: Box, scales: tuple[Scale, Scale], x_ticks: Ticks, y_ticks: Ticks) -> Iterator[str]:
    left, top, width, height = box
    bottom = top + height
    x_at, y_at = scales[0].at(x_ticks.at), scales[1].at(y_ticks.at)
    lines = f"M{number(left)} {number(top)}V{number(bottom)}H{number(left + width)}"
    lines += "".join(f"M{number(each)} {number(bottom)}v3.5" for each in x_at)
    lines += "".join(f"M{number(each)} {number(bottom)}v2" for each in scales[0].at(x_ticks.small))
    if panel.y.scale != "category":
        lines += "".join(f"M{number(left)} {number(each)}h-3.5" for each in y_at)
        lines += "".join(f"M{number(left)} {number(each)}h-2" for each in scales[1].at(y_ticks.small))
    yield _path(lines, MUTED, 0.8)
    base = bottom + 3.5 + TICK_SIZE
    side = "end" if x_ticks.turn else "middle"
    for place, text in zip(x_at, x_ticks.texts, strict=False):
        yield label(place, base, text, INK, TICK_SIZE, anchor=side, turn=x_ticks.turn)
    for place, text in zip(y_at, y_ticks.texts, strict=False):
        lift = text.count("\n") * LINE * TICK_SIZE / 2
        yield label(left - 6, place + 0.35 * TICK_SIZE - lift, text, INK, TICK_SIZE, anchor="end")


def _marks(series: ChartSeries, scales: tuple[Scale, Scale]) -> str:
    """Return a series' marks; those at an axis' end are seen whole."""
    x, y = scales[0].at(series.x), scales[1].at(series.y)
    size = _MARK if series.width is None else max(_MARK, 3.4 + series.width)
    hollow = np.zeros(len(x), dtype=bool) if not len(series.hollow) else np.array(series.hollow, dtype=bool)
    parts = []
    for chosen, inside in ((~hollow, series.color), (hollow, GROUND)):
        known = chosen & np.isfinite(x) & np.isfinite(y)
        path = "".join(mark_path(series.marker, *at, size) for at in zip(x[known], y[known], strict=True))
        if path:
            parts.append(f'<path d="{path}" style="fill: {paint(inside)}; stroke: {paint(series.color)}"/>')
    return "".join(parts)


def _names(panel: ChartPanel, box: Box, scales: tuple[Scale, Scale]) -> Iterator[str]:
    """Yield the texts in front of everything: names of levels and events, and the panel's own."""
    left, top, width, _ = box
    x, y = scales
    yield from MarkNames(panel, box, x, y).drawn()
    if panel.larger is not None:
        middle = x.one(sum(panel.larger) / 2)
        yield label(middle, top - 3, "shown below", INK, _SMALL, anchor="middle")
    for each in panel.texts:
        place, level = left + width if each.x is None else min(max(x.one(each.x), left), left + width), y.one(each.y)
        if each.is_left:
            yield label(place - 3, level + _SMALL + 1, each.text, each.color, _SMALL, anchor="end")
        else:
            yield label(place + 4, level + 0.35 * _SMALL, each.text, each.color, _SMALL)
