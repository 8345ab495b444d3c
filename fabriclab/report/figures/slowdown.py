"""Slowdown, the completion time over that on an idle path: by size, and against a parameter such as the load."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import setting_noun
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.pools import Measure, PooledRuns, format_measure, measure_of
from fabriclab.report.drawing.setting_axis import SettingAxis
from fabriclab.report.measured.quantities import format_metric, keep_units
from fabriclab.results.completion import DEFAULT_BINS, completion_table, size_bin_names

STATISTICS = {"median": "median", "p99": "99th percentile"}
IDEAL_FORMULA = (
    "Slowdown is the completion time divided by the completion time on an idle path. The latter is the sum of: "
    "set-up (a base round trip; 0 on a kept connection) + request (a one-way delay; only for a pull) + one-way "
    "delay + 8 x (bytes on the wire - bytes of the first frame) / slowest rate of the path + store and forward (the "
    "transmission time of a frame at every hop, on ports of switches with a shared buffer and of hosts that are "
    "connected to them)."
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


def slowdown_by_size(slowdowns: Sequence[BinnedSlowdown], bins: Sequence[int] = DEFAULT_BINS) -> Picture | None:
    """Return median and 99th percentile of each pool in each size bin, joined by a line; None without any.

    The chart in the page has a panel for each of the two, with its intervals.
    """
    slowdowns = slowdowns[:MOST_POOLS]
    shown = [bin_name for bin_name in size_bin_names(bins) if any(bin_name in each.bins for each in slowdowns)]
    if not shown:
        return None
    x = ChartAxis("Flow size", scale="category", names=tuple(shown), low=-0.5, high=len(shown) - 0.5)
    middle, apart = (len(slowdowns) - 1) / 2, min(0.16, 0.7 / len(slowdowns))
    offsets = [(index - middle) * apart for index in range(len(slowdowns))]
    joined = tuple(series for each, at in zip(slowdowns, offsets, strict=True) for series in _joined(each, shown, at))
    panels = [ChartPanel(x, _slowdown_axis(joined), joined, only="still")]
    for statistic, title in STATISTICS.items():
        series = []
        for each, offset in zip(slowdowns, offsets, strict=True):
            places, measures = _of_bins(each, shown, statistic)
            series.append(_chart_series(each.pool, each.pool.label, [place + offset for place in places], measures))
        panels.append(ChartPanel(x, _slowdown_axis(series), tuple(series), title.capitalize(), only="chart"))
    caption = " ".join(_describe(each) for each in slowdowns)
    caption += " " + explain_ideal([each.pool for each in slowdowns])
    chart = Chart(tuple(panels), source="flows.parquet of each run", height_in=2.9)
    note = "Filled marks are medians, hollow marks 99th percentiles."
    return Picture("Slowdown by flow size", caption, chart, note)


def _of_bins(each: BinnedSlowdown, shown: Sequence[str], statistic: str) -> tuple[list[float], list[Measure]]:
    """Return where a pool's bins stand, and what was measured in them."""
    present = [(float(index), each.bins[name][statistic]) for index, name in enumerate(shown) if name in each.bins]
    return [place for place, _ in present], [measure for _, measure in present]


def _joined(each: BinnedSlowdown, shown: Sequence[str], offset: float) -> Iterator[ChartSeries]:
    """Yield a pool's medians, from which a line leads to the 99th percentiles, and these."""
    pool = each.pool
    (places, medians), (_, highs) = (_of_bins(each, shown, statistic) for statistic in STATISTICS)
    x = [place + offset for place in places]
    low, high = ([measure.value or 0.0 for measure in measures] for measures in (medians, highs))
    look = ChartSeries(pool.label, pool.color, x, low, marker=pool.marker, line=False)
    yield replace(look, low=low, high=high, bars=True)
    yield replace(look, y=high, hollow=[True] * len(x), is_labelled=True)


def _slowdown_axis(series: Sequence[ChartSeries]) -> ChartAxis:
    """Return a logarithmic axis from 1, or below, to twice that or more."""
    ends = (end for each in series for end in (each.y, each.low, each.high) if end is not None)
    values = [float(value) for end in ends for value in end if value]
    return ChartAxis("Slowdown", scale="log", low=min(0.9, 0.9 * min(values)), high=max(2.0, 1.2 * max(values)))


def slowdown_against(
    slowdowns: Sequence[BinnedSlowdown], x: SettingAxis, bins: Sequence[int] = DEFAULT_BINS
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
    axis = x.chart_axis(places, log_x=x.crowds(places), columns=len(STATISTICS))
    panels = []
    for bin_name, (statistic, title) in itertools.product(shown, STATISTICS.items()):
        series = tuple(
            _line(label, members, x, x.dodge(number, len(lines)), bin_name, statistic)
            for number, (label, members) in enumerate(lines.items())
        )
        panels.append(ChartPanel(axis, _slowdown_axis(series), series, f"{bin_name}, {title}"))
    caption = " ".join(_describe_line(label, members, x, shown[0]) for label, members in lines.items())
    caption += " " + explain_ideal([each.pool for each in slowdowns])
    height = 0.4 + 2.2 * len(shown)
    chart = Chart(tuple(panels), source="flows.parquet of each run", height_in=height, columns=len(STATISTICS))
    return Picture(f"Slowdown against {setting_noun(x.name)}", caption, chart)


def _line(
    label: str, members: Sequence[BinnedSlowdown], x: SettingAxis, dodge: float, bin_name: str, statistic: str
) -> ChartSeries:
    present = sorted((each for each in members if bin_name in each.bins), key=lambda each: _place(each, x))
    places = [(_place(each, x) + dodge) / x.unit.scale for each in present]
    measures = [each.bins[bin_name][statistic] for each in present]
    return _chart_series(members[0].pool, label, places, measures, line=not x.categories)


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
        hollow=[measure.is_lower_bound for measure in measures],
    )


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
    return f"{IDEAL_FORMULA} The base round-trip time here is {texts[0] if low == high else ' to '.join(texts)}."


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
