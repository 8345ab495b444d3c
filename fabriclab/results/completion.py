"""Completion times by class and size: tables with confidence intervals, and distributions for figures.

Every function takes the flows of one run (`read_run(path).flows`) or of several that differ only in their seed
(`Pool.flows` of `fabriclab.results.sweep`, which have a column `run`): intervals then resample runs instead of flows
(`fabriclab.results.bootstrap`).

Statistics are of complete flows; those that are not complete are counted beside them. Had the run gone on, these would
have taken longer, so a statistic that they could raise is a lower bound: the mean when there is one, a percentile when
there are more of them than complete flows beyond its rank. Such a statistic has `..._is_lower_bound` true, and the
upper end of its interval is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from fabriclab.results.bootstrap import share_intervals
from fabriclab.results.coflows import coflow_completion_table, coflow_table
from fabriclab.results.estimates import (
    PERCENTILES,
    STATISTICS,
    add_statistics,
    grouped_values,
    grouping,
    is_pool,
    with_grouping,
)
from fabriclab.results.flows import RECOVERIES
from fabriclab.units import format_size

__all__ = [
    "DEFAULT_BINS",
    "PERCENTILES",
    "STATISTICS",
    "coflow_completion_table",
    "coflow_table",
    "completion_cdf",
    "completion_table",
    "size_bin",
    "size_bin_names",
]

Value = Literal["fct_ns", "slowdown"]

DEFAULT_BINS = (100_000, 10_000_000)
"""Upper ends of size bins in bytes: short flows up to 100 KB, long ones above 10 MB (pFabric,
SIGCOMM 2013, section 5.4)."""
MOST_STEPS = 1_000
"""Rows of one curve of a distribution, unless the caller wants another number."""


def completion_table(
    flows: pl.LazyFrame,
    *,
    by: Sequence[str] = ("class", "size_bin"),
    bins: Sequence[int] = DEFAULT_BINS,
    of: Value = "fct_ns",
) -> pl.DataFrame:
    """Return one row for each group of sized flows, in ascending order of `by`; long flows have no completion time and
    are left out.

    `by` names columns of flows (or `size_bin`, whose order is that of the sizes; empty: one row for all), `bins` the
    upper ends of the bins in bytes, ascending, each bin without its lower and with its upper end. Columns beside `by`:

      flows, complete, incomplete      counts of sized flows; complete + incomplete = flows
      none, fast retransmit, timeout, several timeouts   of them by recovery (`fabriclab.results.flows`), where the
                            counters are known
      marked                           flows of which a segment was acknowledged with ECE
      deadline_flows, deadline_misses  flows that have a deadline, those of them that missed it
      runs, resampled                  how many runs have flows here; `runs` or `flows`: what the intervals resample
      mean, std, median, p95, p99, p999   of `of`, null where nothing is complete: nanoseconds of fct_ns, a factor of
                                       slowdown. Each but std with _low, _high (the 95 % interval) and _is_lower_bound
    """
    sized = with_grouping(flows.filter(pl.col("size_bytes").is_not_null()).with_columns(size_bin(bins)), by)
    complete = pl.col("status") == "complete"
    counted = {
        "complete": complete,
        "incomplete": ~complete,
        **{recovery: pl.col("recovery") == recovery for recovery in RECOVERIES},
        "marked": pl.col("marks") > 0,
        "deadline_flows": pl.col("deadline_ns").is_not_null(),
        "deadline_misses": pl.col("deadline_missed"),
    }
    counts = sized.group_by(grouping(by)).agg(
        pl.len().cast(pl.Int64).alias("flows"),
        *[condition.sum().cast(pl.Int64).alias(name) for name, condition in counted.items()],
        pl.col("run").n_unique().cast(pl.Int64).alias("runs"),
    )
    return add_statistics(counts.collect(engine="streaming"), sized, by, of, pooled=is_pool(flows))


def completion_cdf(
    flows: pl.LazyFrame,
    *,
    by: Sequence[str] = ("class",),
    bins: Sequence[int] = DEFAULT_BINS,
    of: Value = "fct_ns",
    most_steps: int = MOST_STEPS,
) -> pl.DataFrame:
    """Return the distribution of each group: steps (`value`, `share`) in ascending order, at most about `most_steps` a
    group.

    `share` is the share of all sized flows, incomplete ones included, whose value is not above `value`: a curve that
    ends below 1 is one in which flows are missing. `flows` and `complete` repeat the group's counts. `share_low` and
    `share_high` are the 95 % interval of the share at each value by resampled runs; null with one run. Half of the
    steps are even in rank, half even in the logarithm of the share that is not yet complete, so that the tail stays;
    the least and the largest value are always there.
    """
    sized = with_grouping(flows.filter(pl.col("size_bytes").is_not_null()).with_columns(size_bin(bins)), by)
    keys = grouping(by)
    counts = sized.group_by(*keys, "run").agg(pl.len().cast(pl.Int64).alias("flows")).collect(engine="streaming")
    of_group = counts.partition_by(keys, as_dict=True)
    curves = [
        _curve(values[of], values["run"], of_group[key].sort("run"), most_steps).select(
            *[pl.lit(part, dtype=counts.schema[name]).alias(name) for name, part in zip(by, key, strict=False)],
            pl.all(),
        )
        for key, values in grouped_values(sized, by, of)
    ]
    nothing = pl.DataFrame(schema={**{name: counts.schema[name] for name in by}, **_CURVE_COLUMNS})
    return pl.concat([nothing, *curves])


def size_bin_names(bins: Sequence[int] = DEFAULT_BINS) -> tuple[str, ...]:
    """Return what size bins are called, from the smallest: `(0, 100 KB]`, `(100 KB, 10 MB]`, `> 10 MB`; of no bins
    `all sizes`.

    Raises ValueError when the upper ends are not ascending numbers of bytes above 0.
    """
    if any(low >= high for low, high in zip((0, *bins), bins, strict=False)):
        raise ValueError(f"bins: {list(bins)}: must be upper ends in bytes, above 0 and ascending")
    ends = ["0", *(format_size(end) for end in bins)]
    return (*(f"({low}, {high}]" for low, high in pairwise(ends)), f"> {ends[-1]}" if bins else "all sizes")


def size_bin(bins: Sequence[int] = DEFAULT_BINS) -> pl.Expr:
    """Return the bin of `size_bytes`, an enumeration in the order of the sizes."""
    names = size_bin_names(bins)
    bin_of = pl.lit(names[-1])
    for end, name in reversed(list(zip(bins, names, strict=False))):
        bin_of = pl.when(pl.col("size_bytes") <= end).then(pl.lit(name)).otherwise(bin_of)
    return bin_of.cast(pl.Enum(names)).alias("size_bin")


_CURVE_COLUMNS = {
    "value": pl.Float64,
    "share": pl.Float64,
    "share_low": pl.Float64,
    "share_high": pl.Float64,
    "flows": pl.Int64,
    "complete": pl.Int64,
}


def _curve(values: pl.Series, runs: pl.Series, counts: pl.DataFrame, most_steps: int) -> pl.DataFrame:
    """Return the steps of ascending values; `counts` has the flows of each run, ascending."""
    ranks, total = _shown_ranks(len(values), most_steps), int(counts["flows"].sum())
    low: npt.NDArray[Any] | None = None
    high: npt.NDArray[Any] | None = None
    if counts.height > 1:
        own = runs.to_numpy()
        covered = np.array([np.searchsorted(np.flatnonzero(own == run), ranks) for run in counts["run"]])
        low, high = share_intervals(covered, counts["flows"].to_numpy())
    columns = {
        "value": values.cast(pl.Float64).to_numpy()[ranks - 1],
        "share": ranks / total,
        "share_low": low if low is not None else [None] * len(ranks),
        "share_high": high if high is not None else [None] * len(ranks),
        "flows": [total] * len(ranks),
        "complete": [len(values)] * len(ranks),
    }
    return pl.DataFrame(columns, schema=_CURVE_COLUMNS)


def _shown_ranks(count: int, most: int) -> npt.NDArray[np.int64]:
    """Return which of `count` ranks, from 1, are shown: all, or half of them even in rank,
    half in equal parts of each halving."""
    if count <= most:
        return np.arange(1, count + 1)
    half = most // 2
    even = np.arange(half) * (count - 1) // (half - 1) + 1
    octaves = count.bit_length()
    steps = np.arange(max(1, half // octaves))
    beyond = [
        (count >> octave) - ((count >> octave) - (count >> octave + 1)) * steps // len(steps)
        for octave in range(octaves)
    ]
    return np.unique(np.concatenate((even, *(count - each for each in beyond[1:]), [count])))
