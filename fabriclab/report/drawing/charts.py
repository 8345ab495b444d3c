"""What an interactive chart shows, in numbers: a document that the page's script draws and that Python also writes as a
table.

Values are in the unit that their axis names. Data flow one way: from here into the page, nothing comes back.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Values = Sequence[float] | Sequence[float | None] | npt.NDArray[np.float64]
MOST_ROWS = 60
"""A series with more points has every so-manieth in its table: what a person reads and a page holds."""
_SHORT = 8
"""Fewer numbers are written out: base64 of them would be no shorter."""


@dataclass(frozen=True)
class ChartAxis:
    """An axis: `scale` is `linear`, `log` or `category`, whose places 0, 1, 2 ... have `names`; None: as the data has
    it."""

    title: str
    unit: str = ""
    scale: str = "linear"
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] = ()
    base: float | None = None
    """Of a logarithmic axis' ticks; None: 10."""

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs of it."""
        return _given(
            title=self.title,
            unit=self.unit,
            scale=self.scale,
            min=self.low,
            max=self.high,
            names=list(self.names),
            base=self.base,
        )


@dataclass(frozen=True)
class ChartSeries:
    """A line with a name, or points: `low` and `high` are a band around it, or bars where `bars`.

    `steps`: a value holds until the next. `line` is false for points alone. Nothing is drawn between two values of
    which one is not a number.
    """

    name: str
    color: str
    x: Values
    y: Values
    low: Values | None = None
    high: Values | None = None
    dash: Any = "-"
    marker: str = ""
    steps: bool = False
    line: bool = True
    bars: bool = False
    width: float | None = None
    """Of the line; None: the usual."""

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs of it."""
        return _given(
            name=self.name,
            color=self.color,
            x=packed(self.x),
            y=packed(self.y),
            low=None if self.low is None else packed(self.low),
            high=None if self.high is None else packed(self.high),
            dash=list(self.dash[1]) if isinstance(self.dash, tuple) else None,
            marker=self.marker,
            steps=self.steps,
            line=self.line,
            bars=self.bars,
            width=self.width,
        )


@dataclass(frozen=True)
class ChartMark:
    """A line of reference with a name, at a height, or at a time of which the part up to `until` is shaded."""

    name: str
    at: float
    until: float | None = None

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs of it."""
        return _given(name=self.name, at=self.at, until=self.until)


@dataclass(frozen=True)
class ChartPanel:
    """A pair of axes with what is drawn in it; `levels` are marks at heights, `events` at places."""

    x: ChartAxis
    y: ChartAxis
    series: tuple[ChartSeries, ...]
    title: str = ""
    levels: tuple[ChartMark, ...] = ()
    events: tuple[ChartMark, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs of it."""
        return _given(
            title=self.title,
            x=self.x.document(),
            y=self.y.document(),
            series=[each.document() for each in self.series],
            levels=[each.document() for each in self.levels],
            events=[each.document() for each in self.events],
        )


@dataclass(frozen=True)
class ChartTable:
    """The numbers of a chart, for reading and copying; `note` says what of them is left out, and where all are."""

    headings: list[str]
    rows: list[list[str]]
    texts: int = 1
    """So many columns, from the left, are no numbers."""
    note: str = ""


@dataclass(frozen=True)
class Chart:
    """Panels below each other; where they are `linked`, zooming one zooms all."""

    panels: tuple[ChartPanel, ...]
    linked: bool = False
    source: str = "the run's Parquet files"
    """Where all of the numbers are that a table leaves out."""
    numbers: ChartTable | None = None
    """Its table, where that says more than a row for each point."""
    _table: list[ChartTable] = field(default_factory=list, compare=False, repr=False)

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs of it."""
        return _given(panels=[panel.document() for panel in self.panels], linked=self.linked)

    @property
    def table(self) -> ChartTable:
        """Return its numbers as a table: a row for each point of each series, unless it has one of its own."""
        if self.numbers is not None:
            return self.numbers
        if not self._table:
            self._table.append(_table_of(self))
        return self._table[0]


def packed(values: Values) -> list[float | None] | dict[str, str]:
    """Return numbers for JSON: a list of seven digits each, null where there is none, or where it is shorter 32-bit
    floats in base64."""
    array = np.asarray([np.nan if value is None else value for value in values], dtype=np.float64)
    if len(array) < _SHORT:
        return [None if not np.isfinite(value) else float(f"{value:.7g}") for value in array]
    return {"f32": base64.b64encode(array.astype("<f4").tobytes()).decode("ascii")}


def json_text(document: Any) -> str:
    """Return a document as JSON that may stand in a script element of a page."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def number_text(value: float | None) -> str:
    """Return a number of a table, five significant digits; a dash where there is none."""
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:.5g}"


def _table_of(chart: Chart) -> ChartTable:
    first = chart.panels[0]
    alike = all(panel.y == first.y and panel.x.title == first.x.title for panel in chart.panels)
    has_range = any(series.low is not None for panel in chart.panels for series in panel.series)
    has_titles = any(panel.title for panel in chart.panels)
    headings = [
        *(["Panel"] if has_titles else []),
        "Series",
        _heading(first.x) if alike else "x",
        _heading(first.y) if alike else "y",
        *(["Low", "High"] if has_range else []),
    ]
    rows, left_out = [], 0
    for panel in chart.panels:
        for series in panel.series:
            every = max(1, -(-len(series.x) // MOST_ROWS))
            left_out = max(left_out, every if every > 1 else 0)
            rows += [
                [*([panel.title] if has_titles else []), series.name, *texts]
                for texts in _rows_of(panel, series, every, has_range=has_range)
            ]
    note = f"Up to {MOST_ROWS} points of each series, evenly taken; all are in {chart.source}." if left_out else ""
    return ChartTable(headings, rows, 1 + has_titles, note)


def _rows_of(panel: ChartPanel, series: ChartSeries, every: int, *, has_range: bool) -> Iterator[list[str]]:
    for index in range(0, len(series.x), every):
        place = series.x[index]
        names = panel.x.names
        text = names[round(float(place or 0))] if names else number_text(place)
        values = [series.y, *([series.low, series.high] if has_range else [])]
        yield [text, *(number_text(None if column is None else column[index]) for column in values)]


def _heading(axis: ChartAxis) -> str:
    return f"{axis.title} ({axis.unit})" if axis.unit else axis.title


def _given(**values: Any) -> dict[str, Any]:
    """Return what is not as the page's script takes it anyway."""
    return {
        name: value for name, value in values.items() if value not in (None, "") and value is not False and value != []
    }
