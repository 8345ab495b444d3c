"""The legend of a still picture: a sample of each line, mark or area with its name, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fabriclab.report.drawing.charts import ChartBars, ChartPanel, ChartSeries
from fabriclab.report.drawing.marks import dash_array, mark_path
from fabriclab.report.drawing.style import INK
from fabriclab.report.drawing.svg_text import label, number, paint, text_width

SIZE = 8.5
_SAMPLE, _GAP, _BETWEEN, _LINE = 24.0, 6.0, 16.0, 12.5


@dataclass(frozen=True)
class Legend:
    """Names with their looks, filled into the columns one after the other; none where there are fewer than two."""

    entries: Sequence[ChartSeries | ChartBars] = ()
    rows: int = 0
    widths: Sequence[float] = field(default=())

    @property
    def height(self) -> float:
        """Return how high it is, points."""
        return self.rows * _LINE + 4.0 if self.rows else 0.0

    @property
    def width(self) -> float:
        """Return how wide it is, points."""
        return max(sum(self.widths) - _BETWEEN, 0.0)

    def drawn(self, left: float, top: float) -> str:
        """Return it as SVG elements with its upper left corner at a place."""
        parts = []
        for index, entry in enumerate(self.entries):
            column, row = divmod(index, self.rows)
            x, y = left + sum(self.widths[:column]), top + (row + 0.5) * _LINE
            parts.append(_sample(entry, x, y) + label(x + _SAMPLE + _GAP, y + 0.35 * SIZE, entry.name, INK, SIZE))
        return "".join(parts)


def legend_of(panels: Sequence[ChartPanel], width: float) -> Legend:
    """Return the legend of panels, each name once, in as many columns as fit into a width, points."""
    named: dict[str, ChartSeries | ChartBars] = {}
    for panel in panels:
        named |= {each.name: named.get(each.name, each) for each in panel.series if not each.is_labelled}
        named |= {each.name: named.get(each.name, each) for each in panel.bars}
    entries = [entry for entry in named.values() if entry.name]
    if len(entries) < 2:
        return Legend()
    for rows in range(1, len(entries) + 1):
        columns = [entries[begin : begin + rows] for begin in range(0, len(entries), rows)]
        widths = [max(_SAMPLE + _GAP + text_width(e.name, SIZE) for e in column) + _BETWEEN for column in columns]
        if sum(widths) - _BETWEEN <= width or rows == len(entries):
            return Legend(entries, rows, widths)
    raise AssertionError("as many rows as entries end the search")


def _sample(entry: ChartSeries | ChartBars, x: float, y: float) -> str:
    color = paint(entry.color)
    if isinstance(entry, ChartBars) or entry.is_area:
        opacity = entry.area if isinstance(entry, ChartSeries) else 1.0
        size = f'x="{number(x)}" y="{number(y - 3)}" width="{_SAMPLE:g}" height="6"'
        return f'<rect {size} style="fill: {color}" fill-opacity="{opacity:g}"/>'
    line = ""
    if entry.line:
        width = entry.width or 1.6
        dash = dash_array(entry.dash, width)
        path = f"M{number(x)} {number(y)}h{_SAMPLE:g}"
        line = f'<path d="{path}" fill="none" stroke-width="{width:g}"{dash} style="stroke: {color}"/>'
    if not entry.marker:
        return line
    style = f'style="fill: {color}; stroke: {color}"'
    return line + f'<path d="{mark_path(entry.marker, x + _SAMPLE / 2, y, 6)}" {style}/>'
