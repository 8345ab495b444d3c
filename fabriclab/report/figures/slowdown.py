"""Slowdown, the completion time over that on an idle path: by size, and against a parameter such as the load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import setting_noun, value_text
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.pools import Measure, PooledRuns, format_measure, measure_of
from fabriclab.report.drawing.setting_axis import SettingAxis, setting_title
from fabriclab.report.drawing.style import GROUND
from fabriclab.report.drawing.with_matplotlib import drawing, figure_svg, label_rows, new_figure, place_legend
from fabriclab.report.figures.metric import draw_intervals
from fabriclab.report.measured.quantities import format_metric, keep_units
from fabriclab.results.completion import DEFAULT_BINS, completion_table, size_bin_names

STATISTICS = {"median": "median", "p99": "99th percentile"}
IDEAL_FORMULA = (
    "Slowdown is the completion time over that on an idle path: set-up (a base round trip, "
    "nothing on a kept connection) "
    "+ request (a pull's: a one-way delay) + one-way delay + 8 x (bytes on the wire - those of the first frame) / "
    "slowest rate of the path "
    "+ store and forward (on ports of switches with a shared buffer and of hosts that face them: "
    "a frame's own time at every hop)."
)
"""In words what `fabriclab.results.idle_path` computes."""
MOST_POOLS = 6
"""More pools beside each other in one bin can't be told apart."""


@dataclass(frozen=True)
class BinnedSlowdown:
    """A pool's slowdowns: by size bin, of each of STATISTICS; bins without flows have none."""

    pool: PooledRuns
    bins: dict[str, dict[str, Measure]]
    incomplete: int


def binned_slowdowns(
    pools: Sequence[PooledRuns], traffic: Sequence[str] = (), bins: Sequence[int] = DEFAULT_BINS
) -> list[BinnedSlowdown]:
    """Return the slowdowns of the pools that have any, of all classes together or only those named."""
    slowdowns = []
    for pool in pools:
        flows = pool.flows.filter(pl.col("class").is_in(list(traffic))) if traffic else pool.flows
        rows = list(completion_table(flows, by=("size_bin",), bins=bins, of="slowdown").iter_rows(named=True))
        measures = {
            row["size_bin"]: {name: measure_of(row, name) for name in STATISTICS}
            for row in rows
            if row["median"] is not None
        }
        if measures:
            slowdowns.append(BinnedSlowdown(pool, measures, sum(row["incomplete"] for row in rows)))
    return slowdowns


def slowdown_by_size(
    slowdowns: Sequence[BinnedSlowdown], name: str, bins: Sequence[int] = DEFAULT_BINS
) -> Picture | None:
    """Return median and 99th percentile of each pool in each size bin, joined by a line; None without any."""
    slowdowns = slowdowns[:MOST_POOLS]
    shown = [bin_name for bin_name in size_bin_names(bins) if any(bin_name in each.bins for each in slowdowns)]
    if not shown:
        return None
    with drawing():
        figure = new_figure(2.9)
        axes = figure.subplots()
        for index, each in enumerate(slowdowns):
            offset = (index - (len(slowdowns) - 1) / 2) * min(0.16, 0.7 / len(slowdowns))
            _draw_dumbbells(axes, each, shown, offset)
        _shape_slowdown(axes)
        axes.xaxis.set_major_locator(FixedLocator(list(range(len(shown)))))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticklabels(shown)
        axes.set(xlim=(-0.5, len(shown) - 0.5), xlabel="Flow size", ylabel="Slowdown")
        place_legend(axes)
        caption = "Filled: median, hollow: 99th percentile. " + " ".join(_describe(each) for each in slowdowns)
        caption += " " + explain_ideal([each.pool for each in slowdowns])
        svg = figure_svg(figure, name, caption)
    return Picture("Slowdown by flow size", caption, svg, _size_chart(slowdowns, shown))


def _size_chart(slowdowns: Sequence[BinnedSlowdown], shown: Sequence[str]) -> Chart:
    x = ChartAxis("Flow size", "", "category", names=tuple(shown))
    panels = []
    for statistic, title in STATISTICS.items():
        series = []
        for each in slowdowns:
            places = [float(index) for index, name in enumerate(shown) if name in each.bins]
            measures = [each.bins[name][statistic] for name in shown if name in each.bins]
            series.append(_chart_series(each.pool, each.pool.label, places, measures))
        panels.append(ChartPanel(x, ChartAxis("Slowdown", "", "log"), tuple(series), title.capitalize()))
    return Chart(tuple(panels), source="flows.parquet of each run")


def _chart_series(
    pool: PooledRuns, label: str, places: list[float], measures: Sequence[Measure], *, line: bool = True
) -> ChartSeries:
    low, high = [measure.low for measure in measures], [measure.high for measure in measures]
    has_bars = any(end is not None for end in low)
    return ChartSeries(
        label,
        pool.color,
        places,
        [measure.value for measure in measures],
        low if has_bars else None,
        high if has_bars else None,
        dash=pool.dash,
        marker=pool.marker,
        line=line,
        bars=has_bars,
    )


def slowdown_against(
    slowdowns: Sequence[BinnedSlowdown], x: SettingAxis, name: str, bins: Sequence[int] = DEFAULT_BINS
) -> Picture | None:
    """Return median and 99th percentile against a parameter, a row of panels for each size bin; None where no line has
    two points.

    Pools of one label are one line.
    """
    shown = [bin_name for bin_name in size_bin_names(bins) if any(bin_name in each.bins for each in slowdowns)]
    lines: dict[str, list[BinnedSlowdown]] = {}
    for each in slowdowns:
        lines.setdefault(each.pool.label, []).append(each)
    if not shown or max(map(len, lines.values())) < 2:
        return None
    places = [_place(each, x) for each in slowdowns]
    with drawing():
        figure = new_figure(0.4 + 2.2 * len(shown))
        grid = figure.subplots(len(shown), len(STATISTICS), squeeze=False, sharex=True)
        for row, bin_name in zip(grid, shown, strict=True):
            for axes, (statistic, title) in zip(row, STATISTICS.items(), strict=True):
                for number, (label, members) in enumerate(lines.items()):
                    _draw_line(axes, label, members, x, x.dodge(number, len(lines)), bin_name, statistic)
                _shape_slowdown(axes)
                axes.set_title(f"{bin_name}, {title}")
        for axes in grid[-1]:
            x.shape(axes, places, log_x=x.crowds(places), columns=len(STATISTICS))
        label_rows(figure, grid, "Slowdown")
        place_legend(figure)
        caption = " ".join(_describe_line(label, members, x, shown[0]) for label, members in lines.items())
        caption += " " + explain_ideal([each.pool for each in slowdowns])
        svg = figure_svg(figure, name, caption)
    chart = _against_chart(lines, x, shown, log_x=x.crowds(places))
    return Picture(f"Slowdown against {setting_noun(x.name)}", caption, svg, chart)


def _against_chart(
    lines: dict[str, list[BinnedSlowdown]], x: SettingAxis, shown: Sequence[str], *, log_x: bool
) -> Chart:
    names = tuple(value_text(x.name, value) for value in x.categories)
    axis = ChartAxis(
        setting_title(x.name),
        x.unit.unit,
        "category" if names else "log" if log_x else "linear",
        names=names,
        base=2 if log_x else None,
    )
    panels = []
    for bin_name in shown:
        for statistic, title in STATISTICS.items():
            series = []
            for number, (label, members) in enumerate(lines.items()):
                present = sorted((each for each in members if bin_name in each.bins), key=lambda each: _place(each, x))
                places = [(_place(each, x) + x.dodge(number, len(lines))) / x.unit.scale for each in present]
                measures = [each.bins[bin_name][statistic] for each in present]
                series.append(_chart_series(members[0].pool, label, places, measures, line=not names))
            panels.append(ChartPanel(axis, ChartAxis("Slowdown", "", "log"), tuple(series), f"{bin_name}, {title}"))
    return Chart(tuple(panels), source="flows.parquet of each run")


def explain_ideal(pools: Sequence[PooledRuns]) -> str:
    """Return the formula of the idle path's completion time and the base round-trip times that went into it."""
    flows = pl.concat([pool.flows.select("base_rtt_ns") for pool in pools])
    low, high = (
        flows.select(pl.col("base_rtt_ns").min().alias("low"), pl.col("base_rtt_ns").max().alias("high"))
        .collect()
        .row(0)
    )
    if low is None:
        return IDEAL_FORMULA
    texts = [format_metric("_ns", value) for value in (low, high)]
    return f"{IDEAL_FORMULA} Base round-trip time here: {texts[0] if low == high else ' to '.join(texts)}."


def _draw_dumbbells(axes: Axes, each: BinnedSlowdown, shown: Sequence[str], offset: float) -> None:
    pool, places = each.pool, [index + offset for index, name in enumerate(shown) if name in each.bins]
    median, high = (
        [each.bins[name][statistic].value or 0.0 for name in shown if name in each.bins] for statistic in STATISTICS
    )
    look: dict[str, Any] = {"color": pool.color, "marker": pool.marker, "linestyle": "", "markersize": 6}
    axes.vlines(places, median, high, color=pool.color, linestyle=pool.dash, linewidth=1.4)
    axes.plot(places, median, label=pool.label, **look)
    axes.plot(places, high, markerfacecolor=GROUND, markeredgewidth=1.4, **look)


def _draw_line(
    axes: Axes,
    label: str,
    members: Sequence[BinnedSlowdown],
    x: SettingAxis,
    dodge: float,
    bin_name: str,
    statistic: str,
) -> None:
    present = sorted((each for each in members if bin_name in each.bins), key=lambda each: _place(each, x))
    pool = members[0].pool
    places = (np.array([_place(each, x) for each in present]) + dodge) / x.unit.scale
    measures = [each.bins[bin_name][statistic] for each in present]
    values = np.array([measure.value or 0.0 for measure in measures])
    dash = "" if x.categories else pool.dash
    axes.plot(places, values, color=pool.color, linestyle=dash, marker=pool.marker, markersize=5, label=label)
    bounds = np.array([measure.is_lower_bound for measure in measures], dtype=bool)
    axes.plot(
        places[bounds],
        values[bounds],
        linestyle="",
        marker=pool.marker,
        markersize=5,
        markerfacecolor=GROUND,
        markeredgecolor=pool.color,
    )
    draw_intervals(axes, places, measures, 1.0, pool.color)


def _shape_slowdown(axes: Axes) -> None:
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.9), max(1.2 * high, 2.0))
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0) if high < 100 else (1.0,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _place(each: BinnedSlowdown, x: SettingAxis) -> float:
    return x.place(each.pool) or 0.0


def _describe(each: BinnedSlowdown) -> str:
    parts = [
        f"{name} {format_measure('slowdown', measures['median'], 3)} and "
        f"{format_measure('slowdown', measures['p99'], 3)}"
        for name, measures in each.bins.items()
    ]
    missing = f"; {each.incomplete:,} flows never completed" if each.incomplete else ""
    return keep_units(f"{each.pool.label}: {', '.join(parts)}{missing}.")


def _describe_line(label: str, members: Sequence[BinnedSlowdown], x: SettingAxis, bin_name: str) -> str:
    present = sorted((each for each in members if bin_name in each.bins), key=lambda each: _place(each, x))
    if not present:
        return f"{label}: no flow of {bin_name}."
    ends = (present[0], present[-1])
    texts = [
        f"{format_measure('slowdown', end.bins[bin_name]['p99'], 3)} at {end.pool.parameters.get(x.name)}"
        for end in ends
    ]
    missing = sum(each.incomplete for each in members)
    lost = f"; {missing:,} flows never completed" if missing else ""
    return f"{label}: 99th percentile of {bin_name} {texts[0]}, {texts[1]}{lost}."
