"""Axes of a still picture: from values to places on the page, with ticks and their texts."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fabriclab.report.drawing.charts import ChartAxis, ChartPanel, Values
from fabriclab.report.drawing.style import LABEL_CHARACTERS_PER_IN, WIDTH_IN
from fabriclab.report.drawing.svg_text import LINE, text_width
from fabriclab.report.drawing.ticks import linear_ticks, log_ticks, tick_texts

Array = npt.NDArray[np.float64]
TICK_SIZE = 8.5
"""Of the letters beside ticks, points."""
_MOST_TICKS = 9
_MARGIN = 0.05
"""What an axis without limits of its own has beyond its data, as a share of their range."""
_ROOM_IN = 0.9
"""What the vertical axis of a panel takes of its width."""
_ASLANT = 30
"""Degrees by which names are turned that have no room side by side."""
_GAP = 6.0


@dataclass(frozen=True)
class Scale:
    """An axis whose low end is at `begin` and whose high end is at `end`, points."""

    axis: ChartAxis
    low: float
    high: float
    begin: float
    end: float

    def at(self, values: Values | float) -> Array:
        """Return where values stand, no number where there is none; what is 0 is far below a logarithmic axis."""
        array = np.array([values], dtype=np.float64) if isinstance(values, float | int) else numbers(values)
        low, high = self.low, self.high
        if self.axis.scale == "log":
            array = np.log(np.where(array <= 0, low / 100, array))
            low, high = float(np.log(low)), float(np.log(high))
        places: Array = self.begin + (array - low) / ((high - low) or 1.0) * (self.end - self.begin)
        return places

    def one(self, value: float) -> float:
        """Return where a value stands."""
        return float(self.at(value)[0])


@dataclass(frozen=True)
class Ticks:
    """Where an axis has ticks with a text, and where it has some without; `turn`: the texts are aslant."""

    at: list[float]
    texts: list[str]
    small: list[float]
    turn: int = 0

    @property
    def width(self) -> float:
        """Return how wide the widest text is, points."""
        return max((text_width(line, TICK_SIZE) for text in self.texts for line in text.split("\n")), default=0.0)

    @property
    def height(self) -> float:
        """Return how high the highest text is, points."""
        if self.turn:
            return self.width * float(np.sin(np.radians(self.turn))) + TICK_SIZE
        return max((1 + text.count("\n") for text in self.texts), default=0) * LINE * TICK_SIZE


def numbers(values: Values) -> Array:
    """Return values as an array, no number where there is none."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64, copy=False)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def limits(panel: ChartPanel, axis: ChartAxis, *, vertical: bool) -> tuple[float, float]:
    """Return the ends of an axis: its own, or those that leave room for what the panel shows."""
    if axis.low is not None and axis.high is not None:
        return axis.low, axis.high
    if axis.scale == "category":
        spots = axis.spots
        return min(spots) - (0.6 if vertical else 0.5), max(spots) + (0.6 if vertical else 0.5)
    found = np.concatenate([np.zeros(0), *(numbers(each) for each in _shown(panel, vertical=vertical))])
    found = found[np.isfinite(found) & ((found > 0) if axis.scale == "log" else True)]
    least, most = (float(found.min()), float(found.max())) if len(found) else (0.0, 1.0)
    if axis.scale == "log":
        margin = (most / least) ** _MARGIN if most > least else 2.0
        return axis.low or least / margin, axis.high or most * margin
    least, most = axis.low if axis.low is not None else least, axis.high if axis.high is not None else most
    margin = _MARGIN * (most - least) or 0.5
    return (
        axis.low if axis.low is not None else least - margin,
        axis.high if axis.high is not None else most + margin,
    )


def _shown(panel: ChartPanel, *, vertical: bool) -> list[Values]:
    if vertical:
        every = [(each.y, each.low, each.high) for each in panel.series]
        return [*(values for each in every for values in each if values is not None), *(b.places for b in panel.bars)]
    return [*(each.x for each in panel.series), *(ends for each in panel.bars for ends in (each.begin, each.end))]


def ticks_of(axis: ChartAxis, low: float, high: float, length: float, *, vertical: bool, columns: int = 1) -> Ticks:
    """Return the ticks of an axis so many points long, as many as have room."""
    if axis.scale == "category":
        return _names(axis, columns) if not vertical else Ticks(list(axis.spots), list(axis.names), [])
    if axis.places:
        return Ticks(list(axis.places), [f"{each:,.6g}" for each in axis.places], [])
    if axis.scale == "log":
        return _log_ticks(low, high, length, vertical=vertical)
    most = min(_MOST_TICKS, max(1, int(length / (TICK_SIZE * (2 if vertical else 3)))))
    while True:
        ticks = linear_ticks(low, high, most, whole=axis.whole)
        made = Ticks(ticks, tick_texts(ticks), [])
        if vertical or most == 1 or len(ticks) < 2 or (made.width + _GAP) * (len(ticks) - 1) <= length:
            return made
        most -= 1


def _log_ticks(low: float, high: float, length: float, *, vertical: bool) -> Ticks:
    """Return the ticks of a logarithmic axis: powers only, then fewer of them, where texts side by side have no
    room."""
    every = 0
    while True:
        found, small = log_ticks(low, high, every)
        made = Ticks(found, [f"{each:,.12g}" for each in found], small)
        ends = [text_width(text, TICK_SIZE) / 2 for text in made.texts]
        places = length * np.log(np.array(found) / low) / np.log(high / low)
        gaps = [places[index] - places[index - 1] - ends[index] - ends[index - 1] for index in range(1, len(found))]
        if vertical or min(gaps, default=_GAP) >= _GAP:
            return made
        every += 1


def _names(axis: ChartAxis, columns: int) -> Ticks:
    """Return the names of categories, in several lines where that is enough, else aslant."""
    room = int((WIDTH_IN / columns - _ROOM_IN) / len(axis.names) * LABEL_CHARACTERS_PER_IN)
    fits = max(len(word) for name in axis.names for word in name.split() or [""]) <= room
    texts = [textwrap.fill(name, room) if fits else name for name in axis.names]
    return Ticks(list(axis.spots), texts, [], 0 if fits else _ASLANT)
