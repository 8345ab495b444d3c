"""Where the names of levels and events stand in a panel of a still picture: where they cover least of its lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fabriclab.report.drawing.charts import ChartMark, ChartPanel, ChartSeries
from fabriclab.report.drawing.scales import Array, Scale, numbers
from fabriclab.report.drawing.style import INK
from fabriclab.report.drawing.svg_text import LINE, label, text_width

SIZE = 8.0
LEVEL_ROOM = 0.14
"""Levels that are closer than this share of the axis have their names side by side, at one place."""
_GAP = 3.0
"""Between a mark's line and its name, points."""
_DESCENT = 0.2
"""How far letters reach below their line, as a multiple of their size."""
_COLUMN = 2.0
"""A line is looked at every so many points."""
_TAKEN = 1000.0
"""What it costs to cover another name: more than any line."""
_PALE = 0.5
"""What it costs to cover a column of a band, as a multiple of that of a line."""
_HABIT = 1.5
"""What it costs to stand at a place that is not the usual one."""
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class _Place:
    """A name at a place: the text's own coordinates, and the left, top, right and bottom of what it covers."""

    x: float
    y: float
    anchor: str
    box: Box
    turn: int = 0

    def drawn(self, text: str) -> str:
        """Return it as an SVG element, kept apart from what is behind it."""
        return label(self.x, self.y, text, INK, SIZE, anchor=self.anchor, turn=self.turn, has_rim=True)


class MarkNames:
    """The names of a panel's marks, each once; `box` is left, top, width and height of the panel."""

    def __init__(self, panel: ChartPanel, box: Box, x: Scale, y: Scale) -> None:
        self._panel, self._x, self._y = panel, x, y
        left, top, width, height = box
        self._left, self._top, self._right, self._bottom = left, top, left + width, top + height
        self._lines = [_corners(x.at(each.x), y.at(each.y), each) for each in panel.series if each.line]
        self._bands = [
            tuple(_corners(x.at(each.x), y.at(end), each) for end in (each.low, each.high))
            for each in panel.series
            if each.low is not None and each.high is not None and not each.bars
        ]
        self._taken: list[Box] = []

    def drawn(self) -> Iterator[str]:
        """Yield the names as SVG elements: those of events first, which have less choice."""
        rows: list[float] = []
        for mark in sorted(self._panel.events, key=lambda mark: mark.at):
            place = self._of_event(mark, rows)
            self._taken.append(place.box)
            yield place.drawn(mark.name)
        for group in self._groups():
            names = ", ".join(filter(None, (mark.name for mark in group)))
            if names:
                place = self._least_covering(list(self._beside_levels(group, names)))
                self._taken.append(place.box)
                yield place.drawn(names)

    def _groups(self) -> Iterator[list[ChartMark]]:
        """Yield levels from the lowest to the highest, together those too close for names of their own."""
        levels = sorted(self._panel.levels, key=lambda mark: mark.at)
        if not levels:
            return
        heights: Array = np.abs(self._y.at(numbers([mark.at for mark in levels])) - self._y.begin)
        group: list[ChartMark] = []
        for index, mark in enumerate(levels):
            group.append(mark)
            far = LEVEL_ROOM * (self._bottom - self._top)
            if index + 1 == len(levels) or heights[index + 1] - heights[index] >= far:
                yield group
                group = []

    def _beside_levels(self, group: Sequence[ChartMark], text: str) -> Iterator[_Place]:
        """Yield the places at the ends and in the middle, above the highest line or below the lowest, the usual one
        first; of those within the panel, if any is."""
        wide = text_width(text, SIZE)
        ends = {"start": self._left + _GAP, "end": self._right - 2 - wide}
        usual = "start" if group[-1].place == "start" else "end"
        begins = [ends.pop(usual), *ends.values(), (self._left + self._right - wide) / 2]
        heights = sorted(self._y.one(mark.at) for mark in group)
        found = []
        for base in (heights[0] - _GAP, heights[-1] + _GAP + SIZE * (1 - _DESCENT)):
            for begin in begins:
                box = (begin, base - SIZE * (1 - _DESCENT), begin + wide, base + SIZE * _DESCENT)
                at_end = usual == "end" and begin == begins[0]
                found.append(_Place(begin + wide if at_end else begin, base, "end" if at_end else "start", box))
        within = [place for place in found if place.box[1] >= self._top - 1 and place.box[3] <= self._bottom + 1]
        yield from within or found[:1]

    def _of_event(self, mark: ChartMark, rows: list[float]) -> _Place:
        """Return the place of an event's name: along its line, at its foot, or at its head, there in the first of the
        rows, which end at places, that has room."""
        place = self._x.one(mark.at)
        if mark.place == "along":
            every = list(self._along(mark, place))
            within = [each for each in every if self._left <= each.box[0] and each.box[2] <= self._right]
            return self._least_covering(within or every)
        wide = text_width(mark.name, SIZE)
        if mark.place == "start":
            base = self._top + (self._bottom - self._top) * 0.94
            right, left = (self._upright(place, base, wide, is_left=is_left) for is_left in (False, True))
            middle, *others = (each for each in self._along(mark, place) if each.box[0] > place)
            behind = [each for each in (right, *others, middle) if each.box[2] <= self._right]
            return self._least_covering([*behind, left])
        is_late = place > self._left + 0.75 * (self._right - self._left)
        begin, end = (place - wide - 2 * _GAP, place) if is_late else (place, place + wide + 2 * _GAP)
        row = next((row for row, last in enumerate(rows) if last <= begin), len(rows))
        rows[row : row + 1] = [end]
        base = self._top + _GAP + SIZE + row * LINE * SIZE
        return self._upright(place, base, wide, is_left=is_late)

    def _upright(self, place: float, base: float, wide: float, *, is_left: bool) -> _Place:
        """Return a place to the left or to the right of an upright line, `place`."""
        at = place - _GAP if is_left else place + _GAP
        begin = at - wide if is_left else at
        box = (begin, base - SIZE * (1 - _DESCENT), begin + wide, base + SIZE * _DESCENT)
        return _Place(at, base, "end" if is_left else "start", box)

    def _along(self, mark: ChartMark, place: float) -> Iterator[_Place]:
        """Yield places along an upright line: to its right, then to its left, in the middle, at the foot, at the head;
        a panel lower than the name is long has the middle only."""
        half = text_width(mark.name, SIZE) / 2
        middle, room = (self._top + self._bottom) / 2, (self._bottom - self._top) / 2 - half - 2 * _GAP
        for base in (place + _GAP + SIZE, place - _GAP):
            for shift in (0.0, room, -room) if room > 0 else (0.0,):
                y = middle + shift
                box = (base - SIZE, y - half, base + SIZE * _DESCENT, y + half)
                yield _Place(base, y, "middle", box, turn=90)

    def _least_covering(self, places: Sequence[_Place]) -> _Place:
        costs = [self._covered(place.box) + _HABIT * (index > 0) for index, place in enumerate(places)]
        return places[int(np.argmin(costs))]

    def _covered(self, box: Box) -> float:
        """Return how much a box covers: for each line the columns in which it runs through the box, its corners there,
        for lines that go up and down within a column, and what goes through all of its height."""
        left, top, right, bottom = box
        columns = np.arange(left, right + _COLUMN, _COLUMN)
        taken = [left < each[2] and each[0] < right and top < each[3] and each[1] < bottom for each in self._taken]
        cost: float = _TAKEN * sum(taken)
        for x, y in self._lines:
            if len(x) and x[0] <= right and x[-1] >= left:
                heights = np.interp(columns, x, y, np.nan, np.nan)
                corners = (x >= left) & (x <= right) & (y > top) & (y < bottom)
                cost += 2 * int(np.count_nonzero((heights > top) & (heights < bottom)))
                cost += min(int(np.count_nonzero(corners)), len(columns))
                above = np.where(heights <= top, -1, np.where(heights >= bottom, 1, 0))
                cost += 2 * int(np.count_nonzero(above[:-1] * above[1:] < 0))
        for low, high in self._bands:
            if len(low[0]) and low[0][0] <= right and low[0][-1] >= left:
                bottoms, tops = (np.interp(columns, *end, np.nan, np.nan) for end in (low, high))
                cost += _PALE * int(np.count_nonzero((bottoms > top) & (tops < bottom) & (bottoms - tops > 1)))
        cost += sum(left < self._x.one(mark.at) < right for mark in self._panel.events)
        cost += len(columns) * sum(top < self._y.one(mark.at) < bottom for mark in self._panel.levels)
        return cost


def _corners(at: Array, height: Array, series: ChartSeries) -> tuple[Array, Array]:
    """Return where one of a series' lines goes, ascending in x."""
    if series.steps and len(at):
        at, height = np.repeat(at, 2)[1:], np.repeat(height, 2)[:-1]
    known = np.isfinite(at) & np.isfinite(height)
    return at[known], height[known]
