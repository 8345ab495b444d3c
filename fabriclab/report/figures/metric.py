"""A summary metric against a parameter, a line for each value of the others; runs that differ only in their seed are one point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from fabriclab.report.exhibits import Picture
from fabriclab.report.figures.curves import Dash, draw_level, setting_label, setting_noun
from fabriclab.report.network import receiver_port
from fabriclab.report.pools import Measure, PooledRuns
from fabriclab.report.quantities import (
    Axis,
    axis_label,
    format_metric,
    format_share,
    metric_axis,
    metric_title,
    setting_axis,
    setting_number,
)
from fabriclab.report.studies import Band
from fabriclab.report.style import DASHES, GROUND, MARKERS, MUTED, algorithm_color, drawing, figure_svg, new_figure, place_legend, ramp

COLLAPSED = 0.5
"""A line has collapsed where it falls below this share of its own best."""
MOST_LINES = 5
"""More lines in one panel can't be told apart."""
MOST_DESCRIBED = 10
_TICK_GAP = 0.045
"""Least distance of two tick labels, as a share of the figure's width."""


@dataclass(frozen=True)
class Line:
    """The pools of a sweep that belong together, in the order of x."""

    label: str
    x: list[float]
    measures: list[Measure]
    pools: list[PooledRuns]
    color: str
    dash: Dash
    marker: str

    @property
    def y(self) -> list[float]:
        """The values, in the metric's own unit."""
        return [measure.value or 0.0 for measure in self.measures]

    @property
    def whole(self) -> list[bool]:
        """Whether all runs of each pool are complete."""
        return [pool.is_whole for pool in self.pools]


def metric_lines(pools: Sequence[PooledRuns], metric: str, x: str, series: Sequence[str]) -> list[Line]:
    """Return one line for each combination of the `series` settings; pools without the metric have no place in a line."""
    groups: dict[tuple[str, ...], list[PooledRuns]] = {}
    for pool in pools:
        if pool.runs and setting_number(pool.parameters.get(x)) is not None and pool.measure(metric).value is not None:
            groups.setdefault(tuple(str(pool.parameters.get(name)) for name in series), []).append(pool)
    varied = [index for index in range(len(series)) if len({key[index] for key in groups}) > 1]
    colors = _line_colors(groups)
    lines = []
    for number, (key, members) in enumerate(groups.items()):
        members.sort(key=lambda pool: setting_number(pool.parameters.get(x)) or 0.0)
        label = ", ".join(setting_label(series[index], key[index]) for index in varied) or _only_label(members)
        dash = DASHES[_turn(colors, number) % len(DASHES)]
        places = [setting_number(pool.parameters.get(x)) or 0.0 for pool in members]
        measures = [pool.measure(metric) for pool in members]
        lines.append(Line(label, places, measures, members, colors[number], dash, MARKERS[number % len(MARKERS)]))
    return lines


def metric_picture(lines: Sequence[Line], metric: str, x: str, name: str, *, log_x: bool, bands: Sequence[Band] = ()) -> Picture | None:
    """Return the figure of metric_lines; None when there is no line of two points.

    More than MOST_LINES lines that fall into groups by the last of their settings get a panel a group.
    """
    if not any(len(line.x) > 1 for line in lines):
        return None
    limit = _common_limit(lines) if metric == "goodput_bps" else None
    highest = max([limit or 0.0, *(measure.high or measure.value or 0.0 for line in lines for measure in line.measures)])
    axis = metric_axis(metric, [highest])
    dimension, x_axis = setting_axis(pool.parameters.get(x) for line in lines for pool in line.pools)
    panels = panels_of(lines)
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    with drawing():
        figure = new_figure(3.5 if rows == 1 else 2.6 * rows)
        grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
        for index, (axes, (group, members)) in enumerate(zip(grid.flat, panels.items(), strict=False)):
            _draw_bands(axes, bands, axis, x_axis)
            for number, line in enumerate(members):
                _draw_line(axes, line, axis, x_axis, width=max(1.6, 2.8 - 0.6 * number), label=line.label.removesuffix(f", {group}"))
            if limit is not None:
                draw_level(axes, limit / axis.scale, f"link's maximum {format_metric('_bps', limit)}")
            shape_x(axes, sorted({value / x_axis.scale for line in lines for value in line.x}), log_x=log_x, columns=columns)
            axes.set_ylim(0, (1.13 if limit else 1.08) * (highest / axis.scale or 1))
            axes.set_xlabel(axis_label(setting_title(x), x_axis) if dimension else setting_title(x))
            axes.set_ylabel(axis_label(metric_title(metric), axis) if index % columns == 0 else "")
            if index == 0:
                place_legend(axes if columns == 1 else figure)
            axes.set_title(group)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        caption = " ".join(_describe(line, metric, x, limit, brief=len(lines) > 3) for line in lines[:MOST_DESCRIBED])
        if len(lines) > MOST_DESCRIBED:
            caption += f" {len(lines) - MOST_DESCRIBED} more lines."
        if not all(whole for line in lines for whole in line.whole):
            caption += " Hollow marks are runs that are incomplete."
        if any(measure.low is not None for line in lines for measure in line.measures):
            caption += " Bars are 95 % intervals over the seeds."
        return Picture(f"{metric_title(metric)} against {setting_noun(x)}", caption, figure_svg(figure, name, caption))


def collapse_of(line: Line) -> tuple[PooledRuns, PooledRuns] | None:
    """Return the last pool before a line's collapse and the first one in it; None when it never falls below COLLAPSED of its best."""
    best = int(np.argmax(line.y))
    for index in range(best + 1, len(line.y)):
        if line.y[index] < COLLAPSED * line.y[best]:
            return line.pools[index - 1], line.pools[index]
    return None


def panels_of(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Return the lines by panel; the panel's name is the end that its lines' labels have in common.

    What is left of a label has the same looks in every panel: they share one legend.
    """
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.label.rpartition(", ")[2], []).append(line)
    if len(lines) <= MOST_LINES or len(groups) == len(lines) or len(groups) < 2:
        return {"": list(lines)}
    first: dict[str, Line] = {}
    for line in lines:
        first.setdefault(line.label.rpartition(", ")[0], line)

    def alike(line: Line) -> Line:
        look = first[line.label.rpartition(", ")[0]]
        return replace(line, color=look.color, dash="-", marker=look.marker)

    return {group: [alike(line) for line in members] for group, members in groups.items()}


def _line_colors(groups: dict[tuple[str, ...], list[PooledRuns]]) -> list[str]:
    """Return a colour a line: the congestion control's, or one each where all lines have the same congestion control."""
    algorithms = [pools[0].runs[0].congestion_control for pools in groups.values()]
    if len(set(algorithms)) == 1 and len(algorithms) > 1:
        return ramp(len(algorithms))
    return [algorithm_color(algorithm) for algorithm in algorithms]


def _turn(colors: Sequence[str], number: int) -> int:
    """Return how many lines before this one have its colour."""
    return sum(color == colors[number] for color in colors[:number])


def _only_label(pools: Sequence[PooledRuns]) -> str:
    return setting_label("variant", pools[0].runs[0].congestion_control)


def _common_limit(lines: Sequence[Line]) -> float | None:
    runs = [run for line in lines for pool in line.pools for run in pool.runs[:1]]
    limits = {port.goodput_limit_bps for run in runs if (port := receiver_port(run)) is not None}
    return limits.pop() if len(limits) == 1 else None


def _draw_line(axes: Axes, line: Line, axis: Axis, x_axis: Axis, width: float, label: str) -> None:
    """Draw a line with its marks; the first lines are the widest, so that a later one that hides them leaves a rim."""
    x, y = np.array(line.x) / x_axis.scale, np.array(line.y) / axis.scale
    whole = np.array(line.whole)
    axes.plot(x, y, color=line.color, linestyle=line.dash, marker=line.marker, markersize=3.4 + width, label=label, linewidth=width)
    axes.plot(
        x[~whole], y[~whole], linestyle="", marker=line.marker, markersize=3.4 + width, markerfacecolor=GROUND, markeredgecolor=line.color
    )
    draw_intervals(axes, x, line.measures, axis.scale, line.color)


def draw_intervals(axes: Axes, x: Sequence[float] | np.ndarray, measures: Sequence[Measure], scale: float, color: str) -> None:
    """Draw the intervals of measures that have one as bars."""
    bars = [
        (place, measure.low, measure.high) for place, measure in zip(x, measures, strict=True) if None not in (measure.low, measure.high)
    ]
    if bars:
        places, low, high = (np.array(column, dtype=np.float64) for column in zip(*bars, strict=True))
        axes.vlines(places, low / scale, high / scale, color=color, linewidth=1.0)


def _draw_bands(axes: Axes, bands: Sequence[Band], axis: Axis, x_axis: Axis) -> None:
    """Shade what the published study found."""
    for band in bands:
        left, right = band.x_from / x_axis.scale, band.x_to / x_axis.scale
        low, high = band.low / axis.scale, band.high / axis.scale
        axes.fill_between([left, right], low, high, color=MUTED, alpha=0.16, linewidth=0, zorder=0.5)
        axes.annotate(band.label, (right, low), xytext=(-3, -2), textcoords="offset points", ha="right", va="top", fontsize=8, color=MUTED)


def shape_x(axes: Axes, places: Sequence[float], *, log_x: bool, columns: int) -> None:
    """Put ticks at the places (ascending) that a setting has, as many as labels fit in so many columns of panels."""
    gap = _TICK_GAP * columns
    if log_x:
        axes.set_xscale("log", base=2)
    low, high = places[0], places[-1]
    axes.set_xlim((low / 1.12, high * 1.12) if log_x else (low - 0.04 * (high - low), high + 0.04 * (high - low)))

    def share(place: float) -> float:
        return float(np.log(place / low) / np.log(high / low)) if log_x else (place - low) / (high - low)

    ticks: list[float] = []
    for place in reversed(places):
        if not ticks or share(ticks[-1]) - share(place) >= gap:
            ticks.append(place)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def setting_title(x: str) -> str:
    """Return what a setting is called on an axis."""
    noun = setting_noun(x)
    return noun[:1].upper() + noun[1:]


def _describe(line: Line, metric: str, x: str, limit: float | None, *, brief: bool) -> str:
    best = int(np.argmax(line.y))
    share = f" ({format_share(line.y[best] / limit)} of the link's maximum)" if limit and not brief else ""
    at = setting_label(x, line.pools[best].parameters.get(x))
    text = f"{line.label}: highest {format_metric(metric, line.y[best])} with {at}{share}"
    fall = collapse_of(line) if limit else None
    if fall is not None:
        before, first = fall
        index = line.pools.index(first)
        if not brief and index - 1 != best:
            text += f", {format_metric(metric, line.y[index - 1])} with {setting_label(x, before.parameters.get(x))}"
        return text + f", then {format_metric(metric, line.y[index])} with {setting_label(x, first.parameters.get(x))}."
    lowest = int(np.argmin(line.y))
    return text + f", lowest {format_metric(metric, line.y[lowest])} with {setting_label(x, line.pools[lowest].parameters.get(x))}."
