"""The description of a figure: panels with axes, series, bars, lines of reference and texts, in plain records.

A figure is described once. `stills.py` draws it as SVG, the page's script as a chart that moves, and `table` has its
numbers for reading. Values are in the unit that their axis names. Data flow one way: from here into the page.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fabriclab.report.drawing.style import INK, MUTED

Values = Sequence[float] | Sequence[float | None] | npt.NDArray[np.float64]
MOST_ROWS = 60
"""A series with more points has every so-manieth in its table: what a person reads and a page holds."""
_SHORT = 8
"""Fewer numbers are written out: base64 of them would be no shorter."""


@dataclass(frozen=True)
class ChartAxis:
    """An axis. `scale` is `linear`, `log` or `category`.

    An axis without `low` or `high` has room for its data. Categories stand at 0, 1, 2 ..., or at `places`, and have
    `names`. Numbers have their ticks at `places`, where there are some.
    """

    title: str
    unit: str = ""
    scale: Literal["linear", "log", "category"] = "linear"
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] = ()
    base: float | None = None
    """Of a logarithmic axis' ticks; None: 10."""
    places: tuple[float, ...] = ()
    whole: bool = False
    """Whether ticks stand at whole numbers only: these are counts."""
    downward: bool = False
    """Whether a vertical axis begins at the top, as a list does."""
    grid: bool = False
    """Whether a horizontal axis has grid lines; a vertical one that is not of categories always has."""

    @property
    def label(self) -> str:
        """Return what stands beside it: `Queue (KB)`."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def spots(self) -> tuple[float, ...]:
        """Return where the names of categories stand."""
        return self.places or tuple(float(index) for index in range(len(self.names)))

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
            places=list(self.places) if self.names else None,
            whole=self.whole,
            downward=self.downward,
        )


@dataclass(frozen=True)
class ChartSeries:
    """A line with a name, or points: `low` and `high` are a band around it, or bars where `bars`.

    `steps`: a value holds until the next. `line` is false for points alone, or for an area alone. Nothing is drawn
    between two values of which one is not a number.
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
    area: float = 0.0
    """How opaque what lies between `low` and `high` is, or below `y` where these are None; 0: the usual for a band,
    nothing below `y`."""
    hollow: Sequence[bool] = ()
    """Which marks are hollow; empty: none."""
    is_labelled: bool = False
    """Whether its name stands beside it: the still picture has it in no legend."""

    @property
    def is_area(self) -> bool:
        """Return whether it is an area without a line."""
        return self.area > 0 and not self.line and not self.marker

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
            area=self.area or None,
            hollow=[int(each) for each in self.hollow] if any(self.hollow) else None,
            labelled=self.is_labelled,
        )


@dataclass(frozen=True)
class ChartBars:
    """Horizontal bars with a name, each from `begin` to `end` at a place of the vertical axis; `thick` is the share of
    a row that a bar fills."""

    name: str
    color: str
    places: Values
    begin: Values
    end: Values
    thick: float = 0.62
    is_hatched: bool = False
    colors: tuple[str, ...] = ()
    """Of each bar, where they differ."""

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs of it."""
        return _given(
            name=self.name,
            color=self.color,
            colors=list(self.colors),
            places=packed(self.places),
            begin=packed(self.begin),
            end=packed(self.end),
            thick=self.thick,
            hatched=self.is_hatched,
        )


@dataclass(frozen=True)
class ChartMark:
    """A line of reference with a name, at a height, or at a time of which the part up to `until` is shaded."""

    name: str
    at: float
    until: float | None = None
    color: str = MUTED
    is_dotted: bool = False
    place: Literal["end", "start", "along"] = "end"
    """Where its name stands: at the axis' end, at its start, or along the line."""

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs of it."""
        return _given(name=self.name, at=self.at, until=self.until, foot=self.place == "start")


@dataclass(frozen=True)
class ChartText:
    """A text to the right of a point, vertically in its middle; `x` None: to the right of the panel."""

    text: str
    x: float | None
    y: float
    color: str = INK
    is_left: bool = False
    """Whether it stands to the left of the point instead, and below it."""

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs of it."""
        return _given(text=self.text, x=self.x, y=self.y, left=self.is_left)


@dataclass(frozen=True)
class ChartPanel:
    """A pair of axes with what is drawn in it; `levels` are marks at heights, `events` at places."""

    x: ChartAxis
    y: ChartAxis
    series: tuple[ChartSeries, ...] = ()
    title: str = ""
    levels: tuple[ChartMark, ...] = ()
    events: tuple[ChartMark, ...] = ()
    bars: tuple[ChartBars, ...] = ()
    texts: tuple[ChartText, ...] = ()
    height: float = 1.0
    """Of the still picture's rows, this one's share."""
    only: Literal["", "still", "chart"] = ""
    """Which of the two has it, where only one does: a chart needs no part that is shown larger."""
    larger: tuple[float, float] | None = None
    """What part of its horizontal axis a panel of the still picture shows larger."""

    @property
    def names(self) -> list[str]:
        """Return the names that a legend has, each once."""
        return list(dict.fromkeys([*(each.name for each in self.series), *(each.name for each in self.bars)]))

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs of it."""
        return _given(
            title=self.title,
            x=self.x.document(),
            y=self.y.document(),
            series=[each.document() for each in self.series],
            levels=[each.document() for each in self.levels],
            events=[each.document() for each in self.events],
            bars=[each.document() for each in self.bars],
            texts=[each.document() for each in self.texts],
        )


@dataclass(frozen=True)
class ChartTable:
    """The numbers of a chart, for reading and copying; `note` says what of them is left out, and where all are."""

    headings: list[str]
    rows: list[list[str]]
    texts: int = 1
    """So many columns, from the left, are not numbers."""
    note: str = ""


@dataclass(frozen=True)
class Chart:
    """A figure: panels in `columns`, row by row; where they are `linked`, zooming one zooms all.

    A chart in the page has them all below each other.
    """

    panels: tuple[ChartPanel, ...]
    linked: bool = False
    source: str = "the run's Parquet files"
    """Where all of the numbers are that a table leaves out."""
    numbers: ChartTable | None = None
    """Its table, where that says more than a row for each point."""
    height_in: float = 2.7
    """Of the still picture, whose width is always the same, inches."""
    columns: int = 1
    has_own_legends: bool = False
    """Whether each panel has a legend of its own."""
    has_legend: bool = True
    """Whether there is any: panels whose titles say it all need none."""
    _table: list[ChartTable] = field(default_factory=list, compare=False, repr=False)

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs of it."""
        legend = "own" if self.has_own_legends else "" if self.has_legend else "none"
        panels = [panel.document() for panel in self.shown("chart")]
        return _given(panels=panels, linked=self.linked, legend=legend)

    def shown(self, where: Literal["still", "chart"]) -> tuple[ChartPanel, ...]:
        """Return the panels that the still picture has, or the chart in the page."""
        return tuple(panel for panel in self.panels if panel.only in ("", where))

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
    panels = chart.shown("chart")
    first = panels[0]
    alike = all(panel.y == first.y and panel.x.title == first.x.title for panel in panels)
    has_range = any(series.low is not None and not series.is_area for panel in panels for series in panel.series)
    has_titles = any(panel.title for panel in panels)
    headings = [
        *(["Panel"] if has_titles else []),
        "Series",
        first.x.label if alike else "x",
        first.y.label if alike else "y",
        *(["Low", "High"] if has_range else []),
    ]
    rows, left_out = [], 0
    for panel in panels:
        for series in panel.series:
            every = max(1, -(-len(series.x) // MOST_ROWS))
            left_out = max(left_out, every if every > 1 else 0)
            rows += [
                [*([panel.title] if has_titles else []), series.name, *texts]
                for texts in _rows_of(panel, series, every, has_range=has_range)
            ]
    note = (
        f"The table has at most {MOST_ROWS} points of each series, at even distances; {chart.source} has all of them."
        if left_out
        else ""
    )
    return ChartTable(headings, rows, 1 + has_titles, note)


def _rows_of(panel: ChartPanel, series: ChartSeries, every: int, *, has_range: bool) -> Iterator[list[str]]:
    for index in range(0, len(series.x), every):
        place = series.x[index]
        names = panel.x.names
        text = names[round(float(place or 0))] if names else number_text(place)
        ends = [None, None] if series.is_area else [series.low, series.high]
        values = [series.y, *(ends if has_range else [])]
        yield [text, *(number_text(None if column is None else column[index]) for column in values)]


def _given(**values: Any) -> dict[str, Any]:
    """Return what is not as the page's script takes it anyway."""
    return {
        name: value for name, value in values.items() if value not in (None, "") and value is not False and value != []
    }
