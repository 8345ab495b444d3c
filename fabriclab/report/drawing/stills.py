"""A figure's description as a still picture: SVG text, laid out for a page that is always as wide.

Why not a plotting library: Matplotlib took a fifth of a second to load and a tenth for each figure, more than half of
what the user of `run` waited for after the machine. The figures need little of it.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass

from fabriclab.report.drawing.charts import Chart, ChartPanel
from fabriclab.report.drawing.legends import Legend, legend_of
from fabriclab.report.drawing.scales import TICK_SIZE, Scale, Ticks, limits, ticks_of
from fabriclab.report.drawing.still_panel import drawn_panel
from fabriclab.report.drawing.style import INK, WIDTH_IN
from fabriclab.report.drawing.svg_text import LINE, escaped, label, number, text_width

WIDTH = WIDTH_IN * 72
_SIZE = 9.0
"""Of the letters of titles, points."""
_SMALL = 8.0
_TICK, _PAD = 6.5, 4.0
"""What a tick and the space to its text take; the space around a panel and between its parts."""
_LEAST_LINE = 10
"""Characters of a line of an axis' name; shorter lines would tear words apart."""
_LETTER = 0.62
"""How wide a letter is, as a multiple of its size."""
_LEAST_HEIGHT = 30.0


@dataclass
class _Cell:
    """A panel with its place in the grid and what stands around it."""

    panel: ChartPanel
    row: int
    column: int
    x: tuple[float, float]
    y: tuple[float, float]
    has_x_texts: bool
    has_x_title: bool
    has_y_texts: bool
    y_title: str
    legend: Legend
    room: float
    """The width of the picture that is this one's, points."""
    x_ticks: Ticks
    y_ticks: Ticks | None = None
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)

    @property
    def above(self) -> float:
        """Return what stands above the panel, points."""
        title = self.panel.title.count("\n") + 1 if self.panel.title else 0
        return _PAD + self.legend.height + title * LINE * _SIZE + (_SMALL if self.panel.larger else 0.0)

    @property
    def below(self) -> float:
        """Return what stands below the panel, points."""
        texts = _TICK + self.x_ticks.height if self.has_x_texts else 0.0
        return _PAD + texts + (LINE * _SIZE if self.has_x_title else 0.0)

    @property
    def left(self) -> float:
        """Return what stands to the left of the panel, points."""
        assert self.y_ticks is not None
        title = (self.y_title.count("\n") + 1) * LINE * _SIZE + _PAD if self.y_title else 0.0
        return max(_PAD + _TICK + title + (self.y_ticks.width if self.has_y_texts else 0.0), self._before_first)

    @property
    def _before_first(self) -> float:
        """Return how far the first name of categories, which stands aslant, reaches to the left of the panel."""
        if not self.x_ticks.turn or not self.has_x_texts:
            return 0.0
        along = text_width(self.x_ticks.texts[0], TICK_SIZE) * math.cos(math.radians(self.x_ticks.turn))
        return _PAD + along - 0.5 * (self.room - along) / len(self.x_ticks.texts)

    @property
    def right(self) -> float:
        """Return what stands to the right of the panel, points."""
        beside = max((text_width(each.text, _SMALL) for each in self.panel.texts if each.x is None), default=0.0)
        last = text_width(self.x_ticks.texts[-1], _SIZE) / 2 if self.x_ticks.texts and self.has_x_texts else 0.0
        return max(beside + 2 * _PAD, min(last, 3 * _SIZE), 2 * _PAD) if beside else max(min(last, 3 * _SIZE), _PAD)


def still(chart: Chart, description: str) -> str:
    """Return a figure as an SVG element. The same figure gives the same text."""
    panels = chart.shown("still")
    columns = min(chart.columns, len(panels))
    cells = [_cell(chart, panels, index, columns) for index in range(len(panels))]
    together = _common_title(cells, columns)
    legend = legend_of(panels, WIDTH - 2 * _PAD) if chart.has_legend and not chart.has_own_legends else Legend()
    height = _lay_out_rows(cells, chart.height_in * 72, legend.height)
    margin = LINE * _SIZE + _PAD if together else 0.0
    _lay_out_columns(cells, columns, margin)
    first = min(cell.box[0] for cell in cells)
    parts = [legend.drawn(_within(first if len(cells) == 1 else _PAD, legend), _PAD)]
    if together:
        middle = (cells[0].box[1] + cells[-1].box[1] + cells[-1].box[3]) / 2
        parts.append(label(_PAD + _SIZE * 0.8, middle, together, INK, _SIZE, anchor="middle", turn=90))
    parts += [_drawn(cell) for cell in cells]
    return (
        f'<svg role="img" aria-label="{escaped(description)}" viewBox="0 0 {number(WIDTH)} {number(height)}" '
        'xmlns="http://www.w3.org/2000/svg" version="1.1" '
        f"style=\"font-family: system-ui, 'DejaVu Sans', sans-serif\">\n{''.join(parts)}</svg>\n"
    )


def _within(left: float, legend: Legend) -> float:
    """Return where a legend begins: at a place, or as far to the left of it as its last column needs."""
    return max(_PAD, min(left, WIDTH - _PAD - legend.width))


def _cell(chart: Chart, panels: tuple[ChartPanel, ...], index: int, columns: int) -> _Cell:
    """Return a panel with what is said beside it; where the panel below or to the left has the same axis, once."""
    panel, (row, column) = panels[index], divmod(index, columns)
    below = panels[index + columns] if index + columns < len(panels) else None
    beside = panels[index - 1] if column else None
    x, y = limits(panel, panel.x, vertical=False), limits(panel, panel.y, vertical=True)
    alike = beside is not None and beside.y == panel.y and (panel.y.high is not None or panel.y.scale == "category")
    return _Cell(
        panel,
        row,
        column,
        x,
        y,
        has_x_texts=below is None or below.x != panel.x,
        has_x_title=bool(panel.x.title) and (below is None or below.x != panel.x),
        has_y_texts=not alike,
        y_title="" if beside is not None and beside.y.label == panel.y.label else panel.y.label,
        legend=legend_of((panel,), WIDTH / columns - 2 * _PAD) if chart.has_own_legends else Legend(),
        room=WIDTH / columns,
        x_ticks=ticks_of(panel.x, *x, WIDTH / columns - 60, vertical=False, columns=columns),
    )


def _common_title(cells: list[_Cell], columns: int) -> str:
    """Return the name that the vertical axes of all rows of a grid have, which then stands once; empty where there is
    none."""
    titles = {cell.panel.y.label for cell in cells}
    if columns < 2 or len(cells) <= columns or len(titles) > 1:
        return ""
    for cell in cells:
        cell.y_title = ""
    return titles.pop()


def _lay_out_rows(cells: list[_Cell], height: float, legend: float) -> float:
    """Give every panel its height; return that of the picture."""
    rows = [[cell for cell in cells if cell.row == row] for row in range(cells[-1].row + 1)]
    around = [(max(cell.above for cell in row), max(cell.below for cell in row)) for row in rows]
    shares = [max(cell.panel.height for cell in row) for row in rows]
    room = height - legend - 2 * _PAD - sum(map(sum, around))
    unit = max(room / sum(shares), _LEAST_HEIGHT / min(shares))
    top = _PAD + legend
    for row, (above, below), share in zip(rows, around, shares, strict=True):
        for cell in row:
            cell.box = (0.0, top + above, 0.0, unit * share)
            cell.y_ticks = ticks_of(cell.panel.y, *cell.y, unit * share, vertical=True)
            characters = max(_LEAST_LINE, int((unit * share + below) / _SIZE / _LETTER))
            cell.y_title = textwrap.fill(cell.y_title, characters) if cell.y_title else ""
        top += above + unit * share + below
    return top + _PAD


def _lay_out_columns(cells: list[_Cell], columns: int, margin: float) -> None:
    """Give every panel its width and, now that it is known, its horizontal ticks."""
    every = [[cell for cell in cells if cell.column == column] for column in range(columns)]
    left = [max(cell.left for cell in column) for column in every]
    right = [max(cell.right for cell in column) for column in every]
    width = (WIDTH - margin - sum(left) - sum(right) - _PAD) / columns
    begin = margin
    for column, before, after in zip(every, left, right, strict=True):
        for cell in column:
            cell.box = (begin + before, cell.box[1], width, cell.box[3])
            cell.x_ticks = ticks_of(cell.panel.x, *cell.x, width, vertical=False, columns=columns)
        begin += before + width + after


def _drawn(cell: _Cell) -> str:
    assert cell.y_ticks is not None
    left, top, width, height = cell.box
    y = (top, top + height) if cell.panel.y.downward else (top + height, top)
    scales = Scale(cell.panel.x, *cell.x, left, left + width), Scale(cell.panel.y, *cell.y, *y)
    x_ticks = cell.x_ticks if cell.has_x_texts else Ticks(cell.x_ticks.at, [], cell.x_ticks.small)
    y_ticks = cell.y_ticks if cell.has_y_texts else Ticks(cell.y_ticks.at, [], cell.y_ticks.small)
    parts = [drawn_panel(cell.panel, cell.box, scales, x_ticks, y_ticks)]
    if cell.has_x_title:
        base = top + height + cell.below - _PAD - 0.3 * _SIZE
        parts.append(label(left + width / 2, base, cell.panel.x.label, INK, _SIZE, anchor="middle"))
    if cell.y_title:
        x = left - cell.left + _PAD + 0.8 * _SIZE
        parts.append(label(x, top + height / 2, cell.y_title, INK, _SIZE, anchor="middle", turn=90))
    lift = _PAD + (_SMALL if cell.panel.larger else 0.0)
    if cell.panel.title:
        lines = cell.panel.title.count("\n")
        parts.append(label(left, top - lift - lines * LINE * _SIZE, cell.panel.title, INK, _SIZE))
        lift += (lines + 1) * LINE * _SIZE
    parts.append(cell.legend.drawn(_within(left, cell.legend), top - lift - cell.legend.height + _PAD))
    return "".join(parts)
