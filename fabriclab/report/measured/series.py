"""Series for pictures: a step function of any length becomes at most as many points as there are pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

Array = npt.NDArray[np.float64]
MOST_STEPS = 900
"""About two points a pixel of a figure's width; more rows are shown as an envelope."""


@dataclass(frozen=True)
class Steps:
    """A step function over [begin, end], ns: the rows themselves, or per bin least, greatest and time-weighted mean."""

    time_ns: Array
    low: Array
    mean: Array
    high: Array
    is_envelope: bool
    begin_ns: float
    end_ns: float


def read_steps(rows: pl.LazyFrame, value: str, begin_ns: float, end_ns: float, most: int = MOST_STEPS) -> Steps:
    """Return `value` of rows with ascending `time_ns` over an interval; a row holds until the next one.

    The value that holds at begin_ns comes from the last row before it. More than `most` rows are reduced to an envelope
    of bins.
    """
    wanted = rows.select("time_ns", pl.col(value).cast(pl.Float64).alias("value")).drop_nulls()
    before = wanted.filter(pl.col("time_ns") < begin_ns).last().collect(engine="streaming")
    inside = wanted.filter(pl.col("time_ns").is_between(begin_ns, end_ns, closed="left")).collect(engine="streaming")
    times, values = inside["time_ns"].cast(pl.Float64).to_numpy(), inside["value"].to_numpy()
    if before.height and (not len(times) or times[0] > begin_ns):
        times, values = np.insert(times, 0, begin_ns), np.insert(values, 0, before["value"][0])
    if len(times) <= most:
        return Steps(times, values, values, values, False, begin_ns, end_ns)
    return _envelope(times, values, begin_ns, end_ns, most // 2)


def _envelope(times: Array, values: Array, begin_ns: float, end_ns: float, bins: int) -> Steps:
    edges = np.linspace(times[0], end_ns, bins + 1)
    first = np.searchsorted(times, edges[:-1], side="left")
    # A bin's extremes: its own rows and the value that still holds when it begins.
    held = values[np.maximum(np.searchsorted(times, edges[:-1], side="right") - 1, 0)]
    low, high = held.copy(), held.copy()
    filled = np.flatnonzero(np.diff(np.append(first, len(values))) > 0)
    starts = first[filled]
    low[filled] = np.minimum(held[filled], np.minimum.reduceat(values, starts))
    high[filled] = np.maximum(held[filled], np.maximum.reduceat(values, starts))
    mean = np.diff(integral_at(times, values, edges)) / np.diff(edges)
    return Steps(edges[:-1], low, mean, high, True, begin_ns, end_ns)


def integral_at(times: Array, values: Array, edges: Array) -> Array:
    """Return the integral of a step function from its first row to each edge."""
    sums = np.concatenate(([0.0], np.cumsum(values[:-1] * np.diff(times))))
    row = np.maximum(np.searchsorted(times, edges, side="right") - 1, 0)
    result: Array = sums[row] + values[row] * (edges - times[row])
    return result


def counter_at(rows: pl.LazyFrame, counter: str, edges: Array) -> Array:
    """Return a counter's last value at or before each edge; 0 before its first row. Rows have ascending `time_ns`."""
    found = (
        rows.select("time_ns", pl.col(counter).cast(pl.Float64).alias("value")).drop_nulls().collect(engine="streaming")
    )
    if found.is_empty():
        return np.zeros(len(edges))
    times, values = found["time_ns"].cast(pl.Float64).to_numpy(), found["value"].to_numpy()
    row = np.searchsorted(times, edges, side="right") - 1
    result: Array = np.where(row >= 0, values[np.maximum(row, 0)], 0.0)
    return result


def sampled_bins(interval_ns: int, begin_ns: int, end_ns: int, most: int) -> Array:
    """Return the edges of at most about `most` bins, all of them times at which a sample was due; they cover the
    interval.

    A counter that was sampled grew at some time since the sample before: bins of other widths would have one sample
    more or less by turns.
    """
    width = interval_ns * max(1, -(-(end_ns - begin_ns) // (interval_ns * most)))
    first, last = begin_ns // width, -(-end_ns // width)
    return np.arange(first, max(last, first + 1) + 1, dtype=np.float64) * width


def only_value(rows: pl.LazyFrame, expression: pl.Expr) -> Any:
    """Return the one value that an expression gives."""
    return rows.select(expression).collect(engine="streaming").item()
