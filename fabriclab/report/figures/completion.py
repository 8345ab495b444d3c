"""Flow completion times as cumulative distributions, and what the last few per cent of the flows have to wait."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartMark, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import Dash
from fabriclab.report.drawing.exhibits import Picture, titled
from fabriclab.report.drawing.pools import PooledRuns, format_measure, measure_of
from fabriclab.report.drawing.style import DASHES, ramp
from fabriclab.report.drawing.traffic_classes import sized_classes
from fabriclab.report.measured.quantities import Axis, axis_for, format_share
from fabriclab.results.completion import completion_cdf

MOST_STEPS = 400
"""The most steps of a curve: the page holds many, and a figure is no wider than that."""
LEAST_OF_A_TAIL = 100
"""With fewer flows in a curve there is no tail to look at."""
_PERCENTILES = (50, 95, 99)
_FLOOR = 0.5
"""A tail is drawn down to so many flows."""
_BEYOND = 1.15
"""How many times the longest time the axis goes to."""


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


def fct_cdf(pools: Sequence[PooledRuns], traffic: Sequence[str] = ()) -> Picture | None:
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
    has_tail = max(curve.flows for curve in everything) >= LEAST_OF_A_TAIL
    caption = " ".join(_describe(title if len(panels) > 1 else "", curves) for title, curves in panels)
    caption += _explain(everything, has_tail=has_tail)
    return Picture(titled("Flow completion times", traffic), caption, cdf_chart(panels, has_tail=has_tail))


def cdf_chart(panels: Sequence[tuple[str, Sequence[Distribution]]], *, has_tail: bool) -> Chart:
    """Return the curves of fct_cdf with the heights of the percentiles marked: a panel a class, one more where there is
    a tail."""
    found = []
    for title, curves in panels:
        axis = _time_unit(curves)
        where = title if len(panels) > 1 else ""
        x = _time_axis(curves, axis)
        levels = tuple(ChartMark(f"p{each}", float(each), is_dotted=True, place="start") for each in _PERCENTILES)
        series = tuple(_cdf_series(curve, axis, x.high or 0.0, is_tail=False) for curve in curves)
        found.append(ChartPanel(x, ChartAxis("Flows complete", "%", low=0, high=100), series, where, levels))
        if has_tail:
            tail = tuple(_cdf_series(curve, axis, x.high or 0.0, is_tail=True) for curve in curves)
            least = 100 * _FLOOR / max(curve.flows for curve in curves)
            y = ChartAxis("Not yet complete", "%", "log", low=least, high=100)
            found.append(ChartPanel(x, y, tail, f"{where}, those not yet complete" if where else ""))
    return Chart(
        tuple(found),
        source="flows.parquet of each run",
        height_in=0.3 + 2.5 * len(panels),
        columns=2 if has_tail else 1,
    )


def _time_axis(curves: Sequence[Distribution], axis: Axis) -> ChartAxis:
    shortest = min(float(curve.steps["value"][0]) for curve in curves) / axis.scale
    longest = max(float(curve.steps["value"][-1]) for curve in curves) / axis.scale
    return ChartAxis(
        "Flow completion time", axis.unit, "log", low=shortest / _BEYOND, high=longest * _BEYOND, grid=True
    )


def _cdf_series(curve: Distribution, axis: Axis, end: float, *, is_tail: bool) -> ChartSeries:
    """Return a curve from 0 at the first completion on, level after the last."""
    times = curve.steps["value"].to_numpy() / axis.scale
    x = np.concatenate((times[:1], times, [end]))

    def shown(column: str) -> npt.NDArray[np.float64]:
        shares = 100 * curve.steps[column].cast(pl.Float64).to_numpy()
        y = np.concatenate(([0.0], shares, shares[-1:]))
        return 100 - y if is_tail else y

    has_band = curve.steps["share_low"].null_count() == 0
    names = ("share_high", "share_low") if is_tail else ("share_low", "share_high")
    low, high = (shown(name) if has_band else None for name in names)
    return ChartSeries(curve.label, curve.color, x, shown("share"), low, high, dash=curve.dash, steps=True)


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


def _describe(title: str, curves: Sequence[Distribution]) -> str:
    text = "; ".join(f"{curve.label}: {curve.summary}" for curve in curves) + "."
    return f"{title.capitalize()}: {text}" if title else text


def _explain(curves: Sequence[Distribution], *, has_tail: bool) -> str:
    has_band = any(curve.steps["share_low"].null_count() == 0 for curve in curves)
    parts = (
        [" The second panel shows the share of the same flows that are not yet complete, on a logarithmic scale."]
        if has_tail
        else []
    )
    return "".join([*parts, " Bands are 95 % intervals over the seeds." if has_band else ""])
