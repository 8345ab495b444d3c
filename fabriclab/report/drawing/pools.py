"""Runs that differ only in their seed, as the report shows them: one row, one curve,
and how well they fix its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from fabriclab.report.drawing.curves import Curve, Dash, point_label, setting_label
from fabriclab.report.drawing.style import DASHES, MARKERS, algorithm_color, algorithm_name, ramp
from fabriclab.report.measured.quantities import format_metric
from fabriclab.results import Pool, Results, Sweep, SweepPoint, pooled
from fabriclab.results.completion import coflow_completion_table, completion_table
from fabriclab.results.sweep import SEED

_OF_FLOWS = re.compile(r"(fct|slowdown|coflow)_(mean|std|median|p95|p99|p999)(?:_ns)?(?:\[(.+)\])?")
"""Metrics that are computed of all flows of a pool together, where others are the mean of the runs' own."""
FLOW_COLUMNS = (
    *("class", "group", "size_bytes", "start_ns", "end_ns", "stop_ns", "status", "fct_ns", "slowdown", "base_rtt_ns"),
    *("recovery", "marks", "deadline_ns", "deadline_missed"),
)
"""What the report's tables and figures of completion times need."""
RUN = "run"
MOST_COLORED = 12
"""Pools that can have a colour each."""
MOST_OF_A_COLOR = 2
"""Pools of one colour; of more the dashes alone tell too little."""
MOST_HELD = 2_000_000
"""Flows of a pool that are held in memory, about 200 bytes each."""


@dataclass(frozen=True)
class Measure:
    """A number of one or of several runs, with its 95 % interval where several tell it."""

    value: float | None
    low: float | None = None
    high: float | None = None
    is_lower_bound: bool = False
    """Incomplete flows could raise it."""


@dataclass(frozen=True)
class PooledRuns:
    """Points of a sweep that differ only in their seed, or a single run; its looks are the same in
    all figures of a page."""

    pool: Pool
    label: str
    color: str
    dash: Dash = "-"
    marker: str = "o"
    _tables: dict[tuple[str, tuple[str, ...]], pl.DataFrame] = field(default_factory=dict, compare=False, repr=False)

    @property
    def points(self) -> tuple[SweepPoint, ...]:
        """Every point, those without results included."""
        return self.pool.points

    @cached_property
    def runs(self) -> tuple[Results, ...]:
        """Return the results of the runs that have any."""
        return self.pool.runs

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter's value, the seed aside."""
        return self.pool.parameters

    @property
    def is_whole(self) -> bool:
        """Whether all points ran to their end and all of them was logged."""
        return all(point.is_whole for point in self.points)

    @cached_property
    def flows(self) -> pl.LazyFrame:
        """The flows of all runs, FLOW_COLUMNS; statistics of them resample runs where there are several.

        Those of several runs are read once, unless there are too many to be held.
        """
        flows = self.pool.flows.select(*FLOW_COLUMNS, *([RUN] if len(self.runs) > 1 else []))
        held = len(self.runs) > 1 and sum(int(run.summary.get("flows") or 0) for run in self.runs) <= MOST_HELD
        return flows.collect(engine="streaming").lazy() if held else flows

    @property
    def curve(self) -> Curve:
        """The first run with results, for figures over time."""
        return Curve(self.runs[0], self.label, self.color, self.dash)

    def measure(self, metric: str) -> Measure:
        """Return a metric of the summary.

        Of several runs: of completion times the statistic of all flows together, of others the mean.
        """
        if len(self.runs) < 2:
            value = self.runs[0].summary.get(metric) if self.runs else None
            return Measure(None if value is None else float(value))
        if found := _OF_FLOWS.fullmatch(metric):
            return self._of_flows(*found.groups())
        mean = self.pool.metric(metric).mean
        return Measure(mean.value, mean.low, mean.high)

    def _of_flows(self, what: str, statistic: str, traffic: str | None) -> Measure:
        table = self.statistics(what, ("class",) if traffic is not None else ())
        rows = table.filter(pl.col("class") == traffic) if traffic is not None else table
        return measure_of(rows.row(0, named=True), statistic) if not rows.is_empty() else Measure(None)

    def statistics(self, what: str, by: tuple[str, ...]) -> pl.DataFrame:
        """Return completion_table of `fct` or `slowdown`, or coflow_completion_table of `coflow`; made once,
        for much is read from it."""
        if (what, by) not in self._tables:
            if what == "coflow":
                table = coflow_completion_table(self.flows, by=by)
            else:
                table = completion_table(self.flows, by=by, of="slowdown" if what == "slowdown" else "fct_ns")
            self._tables[what, by] = table
        return self._tables[what, by]


def pools_of(sweep: Sweep) -> list[PooledRuns]:
    """Return the sweep's points pooled over their seeds, in the order of the matrix."""
    varied = varied_settings(sweep)
    return with_looks([PooledRuns(pool, _label(pool, varied), "") for pool in pooled(sweep)])


def with_looks(pools: Sequence[PooledRuns]) -> list[PooledRuns]:
    """Return pools that are shown together with the looks that tell them apart: dash and marker do so in black and
    white too.

    Colour tells the congestion control; where all have the same, or more than two of few pools, it tells the pools
    apart.
    """
    algorithms = [_algorithm(pool.pool) for pool in pools]
    alike = len(pools) > 1 and len(set(algorithms) - {""}) < 2
    crowded = len(pools) <= MOST_COLORED and any(algorithms.count(name) > MOST_OF_A_COLOR for name in algorithms)
    colors = ramp(len(pools)) if alike or crowded else [algorithm_color(name) for name in algorithms]
    return [
        replace(pool, color=color, dash=DASHES[index % len(DASHES)], marker=MARKERS[index % len(MARKERS)])
        for index, (pool, color) in enumerate(zip(pools, colors, strict=True))
    ]


def pool_of_run(results: Results) -> PooledRuns:
    """Return a single run as a pool of one."""
    seed = results.plan.seed
    point = SweepPoint(results.settings, seed, results.status, results, results.manifest.message)
    algorithm = results.congestion_control
    return PooledRuns(Pool(results.settings, (point,)), algorithm_name(algorithm), algorithm_color(algorithm))


def varied_settings(sweep: Sweep) -> tuple[str, ...]:
    """Return the settings that set pools apart: those that vary, but for the seed."""
    return tuple(name for name in sweep.varied if name != SEED)


def measure_of(row: dict[str, Any], statistic: str) -> Measure:
    """Return a statistic of a row of completion_table or coflow_completion_table."""
    if statistic == "std":
        return Measure(row["std"])
    value, low, high = (row[f"{statistic}{ending}"] for ending in ("", "_low", "_high"))
    return Measure(value, low, high, is_lower_bound=bool(row[f"{statistic}_is_lower_bound"]))


def format_measure(metric: str, measure: Measure, digits: int = 4) -> str:
    """Return the number as text with its unit; one that incomplete flows could raise has `≥` before it."""
    text = format_metric(metric, _number(metric, measure.value), digits)
    return f"≥ {text}" if measure.is_lower_bound and measure.value is not None else text


def format_interval(metric: str, measure: Measure, digits: int = 3) -> str:
    """Return the interval as text, empty where there is none or nothing is known of its upper end."""
    if measure.low is None or measure.high is None:
        return ""
    low, high = (format_metric(metric, end, digits) for end in (measure.low, measure.high))
    number, _, unit = low.partition(" ")
    return f"{number}–{high}" if unit == high.partition(" ")[2] else f"{low} – {high}"


def _number(metric: str, value: float | None) -> float | int | None:
    """Return a count that is whole as an integer, so that it is written in full."""
    return int(value) if value is not None and value.is_integer() and abs(value) < 2**53 else value


def _label(pool: Pool, varied: Sequence[str]) -> str:
    """Return what sets a pool apart; where nothing does, the congestion control."""
    named = [name for name in varied if name in pool.points[0].parameters]
    return (
        point_label(pool.points[0], named)
        if named
        else setting_label("variant", _algorithm(pool) or pool.points[0].status)
    )


def _algorithm(pool: Pool) -> str:
    return next((point.results.congestion_control for point in pool.points if point.results is not None), "")
