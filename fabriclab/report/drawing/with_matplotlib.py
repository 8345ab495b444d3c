"""Figures that are not described yet are drawn by matplotlib."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from fabriclab.report.drawing.style import GRID, INK, LABEL_CHARACTERS_PER_IN, MUTED, WIDTH_IN, themed

_PATH = re.compile(r'(?<= d=")[^"]+')
_SURPLUS_DIGITS = re.compile(r"(?<=\.\d\d)\d+")
"""Beyond a hundredth of a point, which nobody sees; they would be half of a page."""
_LEAST_LINE = 10
"""Characters; shorter lines would tear words apart."""
_BESIDES_PANEL_IN = 1.0
"""What legend, ticks and the name of the horizontal axis take of a figure's height."""
_LEGEND_CHARACTERS = 96
"""Characters that a line of the legend has room for, its samples counted as seven each."""

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handlelength": 2.8,
    "lines.linewidth": 1.6,
    "lines.solid_joinstyle": "round",
    "path.simplify": False,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with the report's settings, without a screen, and leave matplotlib as it was."""
    with matplotlib.rc_context(_SETTINGS):
        yield


def new_figure(height_in: float) -> Figure:
    """Return an empty figure that never touches a screen."""
    return Figure(figsize=(WIDTH_IN, height_in), layout="constrained")


def place_legend(place: Axes | Figure) -> None:
    """Put the legend above the axes (of a figure: above all of them), in as many columns as its longest
    label leaves room for."""
    axes = place if isinstance(place, Axes) else place.axes[0]
    handles, labels = axes.get_legend_handles_labels()
    columns = max(1, _LEGEND_CHARACTERS // (max(map(len, labels), default=0) + 7))
    if len(labels) > columns:  # a grid: columns are filled one after the other
        columns = -(-len(labels) // -(-len(labels) // columns))
    if len(labels) < 2:
        return
    if isinstance(place, Axes):
        place.legend(handles, labels, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=columns, borderaxespad=0.2)
    else:
        place.legend(handles, labels, loc="outside upper left", ncols=columns)


def label_y(axes: Axes, text: str, height_in: float) -> None:
    """Name a vertical axis so many inches high, in several lines where the name is longer than that."""
    axes.set_ylabel(textwrap.fill(text, max(_LEAST_LINE, int(height_in * LABEL_CHARACTERS_PER_IN))))


def label_rows(figure: Figure, grid: npt.NDArray[Any], text: str) -> None:
    """Name the vertical axis that all panels of a grid, shape (rows, columns), have:
    of several rows once, in the middle."""
    height_in = figure.get_figheight()
    if len(grid) == 1:
        label_y(grid[0, 0], text, height_in - _BESIDES_PANEL_IN)
    else:
        figure.supylabel(textwrap.fill(text, int(height_in * LABEL_CHARACTERS_PER_IN)), fontsize=9)


def figure_svg(figure: Figure, name: str, description: str) -> str:
    """Return a figure as an SVG element; `name` keeps its inner identifiers apart from those of the page's other
    figures.

    The same figure gives the same text: no date, no random identifier.
    """
    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        _lay_out(figure)
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[a-zA-Z]+[\w.]*_\d+"', "<g", svg)
    svg = svg.replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'")
    svg = re.sub(r' width="[\d.]+pt"| height="[\d.]+pt"', "", svg, count=2)
    svg = _PATH.sub(lambda path: _SURPLUS_DIGITS.sub("", path[0]), svg)
    svg = themed(svg)
    label = description.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _lay_out(figure: Figure) -> None:
    """Give everything its place.

    To save a figure whose layout is not made yet would be to draw it twice: the first time for that.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        FigureCanvasSVG(figure)  # texts are as wide as in the SVG
        engine.execute(figure)
        figure.set_layout_engine(None)
