"""Bars of a published table: a bar for each number that one of its cells has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabriclab.gallery.published import Cell, Table
from fabriclab.gallery.quantities import in_unit
from fabriclab.gallery.tables import Data, grid, number_text
from fabriclab.report.drawing.chart_parts import rows_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartBars, ChartPanel, ChartText
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import INK, ramp

MEAN, INTERVAL = "mean of the seeds", "95 % interval over seeds"
_BAR_IN, _FRAME_IN, _LEGEND_IN, _FILLED = 0.24, 0.8, 0.25, 0.8
_THIN = 0.12
"""What share of its bar an interval fills."""
_ROOM = 1.18
"""Of the horizontal axis beyond the longest bar, for the number behind it."""


@dataclass(frozen=True)
class _Bar:
    """A number with its interval, in the cell's unit, and the place of the bar on the vertical axis."""

    place: float
    value: float
    low: float
    high: float
    text: str


def table_bars(name: str, table: Table, cell: Cell, data: Data, title: str = "") -> Picture:
    """Return bars of a table's numbers, a row for each of its rows, in it a bar for each of its columns.

    `title`: what they are of; empty: the cell's title. Raises GalleryError where no published point fits the table.
    """
    title = title or cell.title or cell.metric
    points = grid(name, table, data)
    step = _FILLED / len(points.columns)
    colors = ramp(len(points.columns))
    bars, intervals, texts = [], [], []
    for number, column in enumerate(points.columns):
        found = [
            _bar(cell, row.numbers, index + (number - (len(points.columns) - 1) / 2) * step)
            for index, key in enumerate(points.keys)
            if (row := points.at(key, column, cell)) is not None and row.numbers["mean"] is not None
        ]
        label = table.words.get(column, column) or MEAN
        bars.append(_bars(label, colors[number], found, step))
        intervals += [bar for bar in found if bar.low < bar.high]
        texts += [ChartText(bar.text, max(bar.value, bar.high, 0.0), bar.place) for bar in found]
    if intervals:
        ends = [[bar.low for bar in intervals], [bar.high for bar in intervals]]
        places = [bar.place for bar in intervals]
        bars.append(ChartBars(INTERVAL, INK, places, ends[0], ends[1], thick=_THIN * step))
    names = [", ".join(table.words.get(value, value) for value in key if value) for key in points.keys]
    low, high = _reach(bars)
    axis = ChartAxis(title, low=low, high=high, grid=True)
    panel = ChartPanel(axis, rows_axis(names), bars=tuple(bars), texts=tuple(texts))
    has_legend = len(bars) > 1
    height = _FRAME_IN + has_legend * _LEGEND_IN + _BAR_IN * max(len(names) * len(points.columns), 2)
    chart = Chart((panel,), source="the lab's published data", height_in=height, has_legend=has_legend)
    return Picture(title, f"{title}: means of all seeds.", chart)


def _bar(cell: Cell, numbers: Mapping[str, float | None], place: float) -> _Bar:
    value, low, high = (numbers[part] for part in ("mean", "low", "high"))
    assert value is not None
    ends = (value if end is None else end for end in (value, low, high))
    shown = [in_unit(end, cell.metric, cell.unit, is_change=bool(cell.against)) for end in ends]
    return _Bar(place, shown[0], shown[1], shown[2], number_text(cell, value))


def _bars(label: str, color: str, found: Sequence[_Bar], thick: float) -> ChartBars:
    places = [bar.place for bar in found]
    begin, end = [min(bar.value, 0.0) for bar in found], [max(bar.value, 0.0) for bar in found]
    return ChartBars(label, color, places, begin, end, thick=0.85 * thick)


def _reach(bars: Sequence[ChartBars]) -> tuple[float, float]:
    low = min((float(each or 0.0) for one in bars for each in one.begin), default=0.0)
    high = max((float(each or 0.0) for one in bars for each in one.end), default=0.0)
    room = (high - low or 1.0) * (_ROOM - 1)
    return low, high + room
