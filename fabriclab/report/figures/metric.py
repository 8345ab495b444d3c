"""A summary metric against a parameter, a line for each value of the others;
runs that differ only in their seed are one point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartMark, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import Dash, draw_level, setting_label, setting_noun, value_text
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.pools import Measure, PooledRuns
from fabriclab.report.drawing.setting_axis import SettingAxis, setting_title
from fabriclab.report.drawing.studies import Band
from fabriclab.report.drawing.style import DASHES, GROUND, MARKERS, MUTED, algorithm_color, ramp
from fabriclab.report.drawing.with_matplotlib import drawing, figure_svg, label_rows, new_figure, place_legend
from fabriclab.report.measured.port_facts import receiver_port
from fabriclab.report.measured.quantities import (
    Axis,
    axis_label,
    format_metric,
    format_share,
    metric_axis,
    metric_title,
)

COLLAPSED = 0.5
"""A line has collapsed where it falls below this share of its own best."""
MOST_LINES = 5
"""More lines in one panel can't be told apart."""
MOST_DESCRIBED = 6
MOST_NAMED = 4
"""Points that the caption names of those that are not drawn."""


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


def metric_lines(pools: Sequence[PooledRuns], metric: str, x: SettingAxis, series: Sequence[str]) -> list[Line]:
    """Return one line for each combination of the `series` settings; pools without the metric
    have no place in a line."""
    groups: dict[tuple[str, ...], list[PooledRuns]] = {}
    for pool in pools:
        if pool.runs and x.place(pool) is not None and pool.measure(metric).value is not None:
            groups.setdefault(tuple(str(pool.parameters.get(name)) for name in series), []).append(pool)
    varied = [index for index in range(len(series)) if len({key[index] for key in groups}) > 1]
    colors = _line_colors(groups)
    lines = []
    for number, (key, members) in enumerate(groups.items()):
        members.sort(key=lambda pool: x.place(pool) or 0.0)
        label = ", ".join(setting_label(series[index], key[index]) for index in varied) or _only_label(members)
        dash = DASHES[_turn(colors, number) % len(DASHES)]
        places = [x.place(pool) or 0.0 for pool in members]
        measures = [pool.measure(metric) for pool in members]
        lines.append(Line(label, places, measures, members, colors[number], dash, MARKERS[number % len(MARKERS)]))
    return lines


def metric_picture(
    lines: Sequence[Line],
    metric: str,
    x: SettingAxis,
    name: str,
    *,
    log_x: bool,
    bands: Sequence[Band] = (),
    note: str = "",
) -> Picture | None:
    """Return the figure of metric_lines; None when there is no line of two points. `note` ends the caption.

    More than MOST_LINES lines that fall into groups by the last of their settings get a panel a group. Categories have
    no order of their own: their marks are not joined.
    """
    if not any(len(line.x) > 1 for line in lines):
        return None
    limit = _common_limit(lines) if metric == "goodput_bps" else None
    highest = max(
        [limit or 0.0, *(measure.high or measure.value or 0.0 for line in lines for measure in line.measures)]
    )
    axis = metric_axis(metric, [highest])
    # Without dashes, which tell lines of one congestion control apart, colours must.
    panels = panels_of(_told_apart(lines) if x.categories else lines)
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    places = [place for line in lines for place in line.x]
    with drawing():
        figure = new_figure(3.5 if rows == 1 else 2.6 * rows)
        grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
        for index, (axes, (group, members)) in enumerate(zip(grid.flat, panels.items(), strict=False)):
            if not x.categories:
                _draw_bands(axes, bands, axis, x.unit)
            for number, line in enumerate(members):
                placed = replace(
                    line,
                    label=line.label.removesuffix(f", {group}"),
                    x=[at + x.dodge(number, len(members)) for at in line.x],
                )
                _draw_line(axes, placed, axis, x, width=max(1.6, 2.8 - 0.6 * number))
            if limit is not None:
                draw_level(axes, limit / axis.scale, f"link's maximum {format_metric('_bps', limit)}")
            x.shape(axes, places, log_x=log_x, columns=columns)
            axes.set_xlabel(axes.get_xlabel() if index + columns >= len(panels) else "")
            axes.set_ylim(0, (1.13 if limit else 1.08) * (highest / axis.scale or 1))
            if index == 0:
                place_legend(axes if columns == 1 else figure)
            axes.set_title(group)
        label_rows(figure, grid, axis_label(metric_title(metric), axis))
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        caption = f"{_caption(lines, metric, x, limit)} {note}".rstrip()
        svg = figure_svg(figure, name, caption)
    chart = metric_chart(panels, metric, x, axis, log_x=log_x, limit=limit, bands=bands)
    return Picture(f"{metric_title(metric)} against {setting_noun(x.name)}", caption, svg, chart)


def metric_chart(
    panels: dict[str, list[Line]],
    metric: str,
    x: SettingAxis,
    axis: Axis,
    *,
    log_x: bool,
    limit: float | None = None,
    bands: Sequence[Band] = (),
) -> Chart:
    """Return the lines of metric_picture by panel, with their intervals, beside the bands of a published study."""
    names = tuple(value_text(x.name, value) for value in x.categories)
    scale: Literal["linear", "log", "category"] = "category" if names else "log" if log_x else "linear"
    horizontal = ChartAxis(setting_title(x.name), x.unit.unit, scale, names=names, base=2 if log_x else None)
    vertical = ChartAxis(metric_title(metric), axis.unit, low=0)
    levels = (ChartMark("link's maximum", limit / axis.scale),) if limit is not None else ()
    published = () if names else tuple(_published(band, x.unit, axis) for band in bands)
    found = []
    for group, members in panels.items():
        series = tuple(
            _series(line, line.label.removesuffix(f", {group}"), x, axis, x.dodge(number, len(members)))
            for number, line in enumerate(members)
        )
        found.append(ChartPanel(horizontal, vertical, (*series, *published), group, levels))
    return Chart(tuple(found), source="the table of all points")


def _series(line: Line, label: str, x: SettingAxis, axis: Axis, dodge: float) -> ChartSeries:
    place = [(at + dodge) / x.unit.scale for at in line.x]
    low, high = ([None if end is None else end / axis.scale for end in ends] for ends in _ends(line))
    has_bars = any(end is not None for end in low)
    return ChartSeries(
        label,
        line.color,
        place,
        [value / axis.scale for value in line.y],
        low if has_bars else None,
        high if has_bars else None,
        dash=line.dash,
        marker=line.marker,
        line=not x.categories,
        bars=has_bars,
    )


def _ends(line: Line) -> tuple[list[float | None], list[float | None]]:
    return [measure.low for measure in line.measures], [measure.high for measure in line.measures]


def _published(band: Band, x: Axis, axis: Axis) -> ChartSeries:
    low, high = band.low / axis.scale, band.high / axis.scale
    place = [band.x_from / x.scale, band.x_to / x.scale]
    return ChartSeries(band.label, MUTED, place, [(low + high) / 2] * 2, [low] * 2, [high] * 2, dash=(0, (2, 2)))


def left_out(pools: Sequence[PooledRuns], lines: Sequence[Line], metric: str, x: SettingAxis) -> str:
    """Return a sentence on the points with results that no line has; empty where all are drawn."""
    drawn = {id(pool) for line in lines for pool in line.pools}
    missing = [pool for pool in pools if pool.runs and id(pool) not in drawn]
    sentences = []
    for what, members in (
        (setting_noun(x.name), [pool for pool in missing if x.place(pool) is None]),
        (metric_title(metric), [pool for pool in missing if x.place(pool) is not None]),
    ):
        if members:
            more = f" and {len(members) - MOST_NAMED} more" if len(members) > MOST_NAMED else ""
            sentences.append(
                f"Without {what}, so not drawn: {'; '.join(pool.label for pool in members[:MOST_NAMED])}{more}."
            )
    return " ".join(sentences)


def collapse_of(line: Line) -> tuple[PooledRuns, PooledRuns] | None:
    """Return the last pool before a line's collapse and the first one in it;
    None when it never falls below COLLAPSED of its best."""
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

    looks = dict(zip(first, _told_apart(list(first.values())), strict=True))

    def alike(line: Line) -> Line:
        look = looks[line.label.rpartition(", ")[0]]
        return replace(line, color=look.color, dash="-", marker=look.marker)

    return {group: [alike(line) for line in members] for group, members in groups.items()}


def _told_apart(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with colours of their own where some have the same."""
    if len({line.color for line in lines}) == len(lines):
        return list(lines)
    return [replace(line, color=color) for line, color in zip(lines, ramp(len(lines)), strict=True)]


def _line_colors(groups: dict[tuple[str, ...], list[PooledRuns]]) -> list[str]:
    """Return a colour a line: the congestion control's, or one each where all lines have the
    same congestion control."""
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


def _draw_line(axes: Axes, line: Line, axis: Axis, x_axis: SettingAxis, width: float) -> None:
    """Draw a line with its marks; the first lines are the widest, so that a later one that hides them leaves a rim."""
    x, y = np.array(line.x) / x_axis.unit.scale, np.array(line.y) / axis.scale
    whole = np.array(line.whole)
    look: dict[str, Any] = {
        "color": line.color,
        "marker": line.marker,
        "markersize": 7.0 if x_axis.categories else 3.4 + width,
    }
    look |= {"clip_on": False, "in_layout": False}  # a mark at 0 is seen whole
    axes.plot(x, y, linestyle="" if x_axis.categories else line.dash, label=line.label, linewidth=width, **look)
    axes.plot(x[~whole], y[~whole], linestyle="", markerfacecolor=GROUND, markeredgecolor=line.color, **look)
    draw_intervals(axes, x, line.measures, axis.scale, line.color)


def draw_intervals(
    axes: Axes, x: Sequence[float] | np.ndarray, measures: Sequence[Measure], scale: float, color: str
) -> None:
    """Draw the intervals of measures that have one as bars."""
    bars = [
        (place, measure.low, measure.high)
        for place, measure in zip(x, measures, strict=True)
        if None not in (measure.low, measure.high)
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
        axes.annotate(
            band.label,
            (right, low),
            xytext=(-3, -2),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=8,
            color=MUTED,
        )


def _caption(lines: Sequence[Line], metric: str, x: SettingAxis, limit: float | None) -> str:
    caption = " ".join(_describe(line, metric, x, limit, brief=len(lines) > 3) for line in lines[:MOST_DESCRIBED])
    if len(lines) > MOST_DESCRIBED:
        caption += f" {len(lines) - MOST_DESCRIBED} more lines."
    if not all(whole for line in lines for whole in line.whole):
        caption += " Hollow marks are runs that are incomplete."
    if any(measure.low is not None for line in lines for measure in line.measures):
        counts = sorted({len(pool.runs) for line in lines for pool in line.pools})
        seeds = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        caption += f" Bars are 95 % intervals over {seeds} seeds: they resample the runs."
    return caption


def _describe(line: Line, metric: str, x: SettingAxis, limit: float | None, *, brief: bool) -> str:
    best = int(np.argmax(line.y))
    share = f" ({format_share(line.y[best] / limit)} of the link's maximum)" if limit and not brief else ""
    at = setting_label(x.name, line.pools[best].parameters.get(x.name))
    text = f"{line.label}: highest {format_metric(metric, line.y[best])} with {at}{share}"
    fall = collapse_of(line) if limit and not x.categories else None
    if fall is not None:
        before, first = fall
        index = line.pools.index(first)
        if not brief and index - 1 != best:
            text += (
                f", {format_metric(metric, line.y[index - 1])} with "
                f"{setting_label(x.name, before.parameters.get(x.name))}"
            )
        return (
            text + f", then {format_metric(metric, line.y[index])} with "
            f"{setting_label(x.name, first.parameters.get(x.name))}."
        )
    lowest = int(np.argmin(line.y))
    return (
        text + f", lowest {format_metric(metric, line.y[lowest])} with "
        f"{setting_label(x.name, line.pools[lowest].parameters.get(x.name))}."
    )
