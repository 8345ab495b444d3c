"""A summary metric against a parameter, a line for each value of the others;
runs that differ only in their seed are one point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartMark, ChartPanel, ChartSeries, ChartText
from fabriclab.report.drawing.curves import Dash, setting_label, setting_noun
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.pools import Measure, PooledRuns
from fabriclab.report.drawing.setting_axis import SettingAxis
from fabriclab.report.drawing.studies import Band
from fabriclab.report.drawing.style import DASHES, MARKERS, MUTED, algorithm_color, ramp
from fabriclab.report.measured.port_facts import receiver_port
from fabriclab.report.measured.quantities import (
    Axis,
    format_metric,
    format_share,
    metric_axis,
    metric_title,
)
from fabriclab.units import format_count

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
    shown = () if x.categories else bands
    caption = " ".join(filter(None, (_caption(lines, metric, x, limit), *(band.note for band in shown), note)))
    top = (1.13 if limit else 1.08) * (highest / axis.scale or 1)
    columns = min(2, len(panels))
    horizontal = x.chart_axis([place for line in lines for place in line.x], log_x=log_x, columns=columns)
    vertical = ChartAxis(metric_title(metric), axis.unit, low=0, high=top)
    chart = metric_chart(panels, (horizontal, vertical), x, axis, limit=limit, bands=shown)
    return Picture(f"{metric_title(metric)} against {setting_noun(x.name)}", caption, chart)


def metric_chart(
    panels: dict[str, list[Line]],
    axes: tuple[ChartAxis, ChartAxis],
    x: SettingAxis,
    axis: Axis,
    *,
    limit: float | None = None,
    bands: Sequence[Band] = (),
) -> Chart:
    """Return the lines of metric_picture by panel, with their intervals, beside the bands of a published study."""
    levels: tuple[ChartMark, ...] = ()
    if limit is not None:
        levels = (ChartMark(f"link's maximum {format_metric('_bps', limit)}", limit / axis.scale),)
    published = tuple(_published(band, x.unit, axis) for band in bands)
    names = tuple(
        ChartText(band.label, band.x_to / x.unit.scale, band.low / axis.scale, MUTED, is_left=True) for band in bands
    )
    found = []
    for group, members in panels.items():
        series = tuple(
            # The first lines are the widest, so that a later one that hides them leaves a rim.
            replace(_series(line, line.label.removesuffix(f", {group}"), x, axis, dodge), width=max(1.6, 2.8 - 0.6 * n))
            for n, line in enumerate(members)
            for dodge in (x.dodge(n, len(members)),)
        )
        found.append(ChartPanel(*axes, (*published, *series), group, levels, texts=names))
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    height = 3.5 if rows == 1 else 2.6 * rows
    return Chart(tuple(found), source="the table of all points", height_in=height, columns=columns)


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
        hollow=[not whole for whole in line.whole],
    )


def _ends(line: Line) -> tuple[list[float | None], list[float | None]]:
    return [measure.low for measure in line.measures], [measure.high for measure in line.measures]


def _published(band: Band, x: Axis, axis: Axis) -> ChartSeries:
    """Return what the published study found as an area, which has its name beside it."""
    low, high = band.low / axis.scale, band.high / axis.scale
    place, middle = [band.x_from / x.scale, band.x_to / x.scale], [(low + high) / 2] * 2
    area = ChartSeries(band.label, MUTED, place, middle, [low] * 2, [high] * 2, line=False, area=0.16)
    return replace(area, is_labelled=True)


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
                f"These points have no {what} and are not drawn: "
                f"{'; '.join(pool.label for pool in members[:MOST_NAMED])}{more}."
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


def _caption(lines: Sequence[Line], metric: str, x: SettingAxis, limit: float | None) -> str:
    caption = " ".join(_describe(line, metric, x, limit, brief=len(lines) > 3) for line in lines[:MOST_DESCRIBED])
    if len(lines) > MOST_DESCRIBED:
        caption += f" The caption leaves out {format_count(len(lines) - MOST_DESCRIBED, 'more line')}."
    if not all(whole for line in lines for whole in line.whole):
        caption += " Hollow marks are incomplete runs."
    if any(measure.low is not None for line in lines for measure in line.measures):
        counts = sorted({len(pool.runs) for line in lines for pool in line.pools})
        seeds = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        caption += f" Bars are 95 % intervals over {seeds} seeds, made by resampling the runs."
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
