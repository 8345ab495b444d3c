"""Flow completion times as cumulative distributions, and what the last few per cent of the flows have to wait."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartMark, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import Dash
from fabriclab.report.drawing.exhibits import Picture, titled
from fabriclab.report.drawing.pools import PooledRuns, format_measure, measure_of
from fabriclab.report.drawing.style import DASHES, ramp
from fabriclab.report.drawing.traffic_classes import sized_classes
from fabriclab.report.drawing.with_matplotlib import drawing, figure_svg, new_figure, place_legend
from fabriclab.report.measured.quantities import Axis, axis_for, axis_label, format_share
from fabriclab.results.completion import completion_cdf

MOST_STEPS = 400
"""The most steps of a curve: the page holds many, and a figure is no wider than that."""
LEAST_OF_A_TAIL = 100
"""With fewer flows in a curve there is no tail to look at."""
MOST_BANDS = 3
"""More bands in one panel hide each other."""
_PERCENTILES = (50, 95, 99)
_FLOOR = 0.5
"""A tail is drawn down to so many flows."""


@dataclass(frozen=True)
class Distribution:
    """A curve: columns of completion_cdf, and what the caption says of it."""

    label: str
    color: str
    dash: Dash
    steps: pl.DataFrame
    summary: str

    @property
    def flows(self) -> int:
        """Sized flows, incomplete ones included."""
        return int(self.steps["flows"][0])


def fct_cdf(pools: Sequence[PooledRuns], name: str, traffic: Sequence[str] = ()) -> Picture | None:
    """Return the share of sized flows that were complete after each time, and beside it the share that was not; a row
    for each class.

    A single pool has one row with a curve a class. Incomplete flows count in the share: a curve that ends below 100 %
    is one in which flows are missing. Where several runs are pooled a band is the 95 % interval. None where no two
    flows are complete.
    """
    panels = [(title, curves) for title, curves in _panels(pools, traffic) if curves]
    if not panels:
        return None
    everything = [curve for _, curves in panels for curve in curves]
    with drawing():
        figure = new_figure(0.3 + 2.5 * len(panels))
        has_tail = max(curve.flows for curve in everything) >= LEAST_OF_A_TAIL
        grid = figure.subplots(len(panels), 2 if has_tail else 1, squeeze=False)
        for row, (title, curves) in zip(grid, panels, strict=True):
            _draw_panel(row, curves, title if len(panels) > 1 else "")
        place_legend(figure if has_tail or len(panels) > 1 else grid[0, 0])
        caption = " ".join(_describe(title if len(panels) > 1 else "", curves) for title, curves in panels)
        caption += _explain(everything, has_tail=has_tail)
        svg = figure_svg(figure, name, caption)
    return Picture(titled("Flow completion times", traffic), caption, svg, cdf_chart(panels, has_tail=has_tail))


def cdf_chart(panels: Sequence[tuple[str, Sequence[Distribution]]], *, has_tail: bool) -> Chart:
    """Return the curves of fct_cdf with the heights of the percentiles marked: a panel a class, one more where there is
    a tail."""
    found = []
    for title, curves in panels:
        axis = _time_unit(curves)
        where = title if len(panels) > 1 else ""
        x = ChartAxis("Flow completion time", axis.unit, "log")
        levels = tuple(ChartMark(f"p{percent}", float(percent)) for percent in _PERCENTILES)
        series = tuple(_cdf_series(curve, axis, is_tail=False) for curve in curves)
        found.append(ChartPanel(x, ChartAxis("Flows complete", "%", low=0, high=100), series, where, levels))
        if has_tail:
            tail = tuple(_cdf_series(curve, axis, is_tail=True) for curve in curves)
            y = ChartAxis("Not yet complete", "%", "log", high=100)
            found.append(ChartPanel(x, y, tail, f"{where}, those not yet complete" if where else "Not yet complete"))
    return Chart(tuple(found), source="flows.parquet of each run")


def _cdf_series(curve: Distribution, axis: Axis, *, is_tail: bool) -> ChartSeries:
    steps = curve.steps
    x = steps["value"].to_numpy() / axis.scale
    share, low, high = (100 * steps[name].cast(pl.Float64).to_numpy() for name in ("share", "share_low", "share_high"))
    if is_tail:
        share, low, high = 100 - share, 100 - high, 100 - low
        share = np.where(share > 0, share, np.nan)
    has_band = not is_tail and steps["share_low"].null_count() == 0
    band_low, band_high = (low, high) if has_band else (None, None)
    return ChartSeries(curve.label, curve.color, x, share, band_low, band_high, dash=curve.dash, steps=True)


def _time_unit(curves: Sequence[Distribution]) -> Axis:
    """Return the unit of a logarithmic axis: that of its middle."""
    ends = [float(curve.steps["value"][end]) for curve in curves for end in (0, -1)]
    return axis_for("ns", [math.sqrt(min(ends) * max(ends))])


def _panels(pools: Sequence[PooledRuns], traffic: Sequence[str]) -> Iterator[tuple[str, list[Distribution]]]:
    classes = [each for each in sized_classes(pools) if not traffic or each in traffic]
    tables = [_distributions(pool, classes) for pool in pools if pool.runs]
    if len(tables) == 1:
        looks = ramp(len(classes)) if len(classes) > 1 else [pools[0].color]
        curves = [
            Distribution(
                each if len(classes) > 1 else pools[0].label,
                looks[index],
                DASHES[index % len(DASHES)],
                *tables[0][each],
            )
            for index, each in enumerate(classes)
            if each in tables[0]
        ]
        yield "", curves
        return
    for each in classes:
        found = [
            (pool, table[each])
            for pool, table in zip((p for p in pools if p.runs), tables, strict=True)
            if each in table
        ]
        yield each, [Distribution(pool.label, pool.color, pool.dash, *of_class) for pool, of_class in found]


def _distributions(pool: PooledRuns, classes: Sequence[str]) -> dict[str, tuple[pl.DataFrame, str]]:
    """Return steps and description of each class of which two flows are complete."""
    flows = pool.flows.filter(pl.col("class").is_in(list(classes)))
    steps = completion_cdf(flows, most_steps=MOST_STEPS).partition_by("class", as_dict=True)
    texts = {row["class"]: _statistics(row) for row in pool.statistics("fct", ("class",)).iter_rows(named=True)}
    return {str(key[0]): (table, texts[key[0]]) for key, table in steps.items() if table["complete"][0] >= 2}


def _statistics(row: dict[str, object]) -> str:
    median, high = (format_measure("_ns", measure_of(row, statistic)) for statistic in ("median", "p99"))
    text = f"median {median}, 99th percentile {high}"
    missing, flows = int(str(row["incomplete"])), int(str(row["flows"]))
    return text + (
        f", {missing:,} of {flows:,} flows ({format_share(missing / flows)}) never completed" if missing else ""
    )


def _draw_panel(row: npt.NDArray[np.object_], curves: Sequence[Distribution], title: str) -> None:
    shortest = min(float(curve.steps["value"][0]) for curve in curves)
    longest = max(float(curve.steps["value"][-1]) for curve in curves)
    axis = _time_unit(curves)
    banded = len(curves) <= MOST_BANDS
    for axes, is_tail in zip(row, (False, True), strict=False):
        for curve in curves:
            _draw_curve(axes, curve, axis.scale, 2 * longest, banded=banded, is_tail=is_tail)
        _shape_time(axes, shortest / axis.scale, longest / axis.scale)
        axes.set_xlabel(axis_label("Flow completion time", axis))
    row[0].set(ylim=(0, 102), ylabel="Flows complete (%)", title=title)
    if len(row) > 1:
        row[1].set_yscale("log")
        row[1].set(ylim=(100 * _FLOOR / max(curve.flows for curve in curves), 130), ylabel="Flows not yet complete (%)")
        row[1].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        row[1].yaxis.set_minor_formatter(NullFormatter())


def _draw_curve(axes: Axes, curve: Distribution, scale: float, end: float, *, banded: bool, is_tail: bool) -> None:
    x = np.concatenate((curve.steps["value"].to_numpy()[:1], curve.steps["value"].to_numpy(), [end])) / scale

    def shown(column: str) -> npt.NDArray[np.float64]:
        shares = curve.steps[column].to_numpy()
        # From 0 at the first completion on, and level after the last.
        y = 100 * np.concatenate(([0.0], shares, shares[-1:]))
        return np.maximum(100 - y, 100 * _FLOOR / curve.flows / 2) if is_tail else y

    axes.step(x, shown("share"), where="post", color=curve.color, linestyle=curve.dash, label=curve.label)
    if banded and curve.steps["share_low"].null_count() == 0:
        axes.fill_between(
            x, shown("share_low"), shown("share_high"), step="post", color=curve.color, alpha=0.18, linewidth=0
        )


def _shape_time(axes: Axes, shortest: float, longest: float) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0) if longest < 100 * shortest else (1.0,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(True, axis="x", which="major")
    axes.set_xlim(shortest / 1.15, longest * 1.15)


def _describe(title: str, curves: Sequence[Distribution]) -> str:
    text = "; ".join(f"{curve.label}: {curve.summary}" for curve in curves) + "."
    return f"{title.capitalize()}: {text}" if title else text


def _explain(curves: Sequence[Distribution], *, has_tail: bool) -> str:
    has_band = any(curve.steps["share_low"].null_count() == 0 for curve in curves)
    parts = (
        [" Beside it the same flows from above: those not yet complete, on a logarithmic scale."] if has_tail else []
    )
    return "".join([*parts, " Bands are 95 % intervals over the seeds." if has_band else ""])
