"""Statistics with their definitions. Nothing here knows files or units."""

from __future__ import annotations

import polars as pl


def percentile(values: pl.Series, percent: float) -> float | None:
    """Return the nearest-rank percentile: the smallest value such that at least `percent` % of all values are not above
    it.

    It is always a value that was measured, never one between two. None without values; nulls don't count.
    """
    ordered = values.drop_nulls().sort()
    if ordered.is_empty():
        return None
    return float(ordered[nearest_rank(len(ordered), percent) - 1])


def nearest_rank(count: int, percent: float) -> int:
    """Return the rank, from 1, of the percentile among `count` values in ascending order.

    The percent has at most three decimals.
    """
    # In whole numbers: 99.9 / 100 x 1000 is a little more than 999 in floating point, and its ceiling another value.
    return max(1, -(-count * round(percent * 1000) // 100_000))


def hold_until_next(
    rows: pl.LazyFrame, value: str, begin_ns: int, end_ns: int, *, by: str | None = None
) -> pl.LazyFrame:
    """Return the columns `value` and `held_ns`: how long each row of a step function held within [begin_ns, end_ns].

    `rows` has `time_ns` in ascending order; a row holds until the next one (of the same `by`), the last until end_ns.
    With `by`, the last row of each holds no time: a connection that is gone has no value any more. Before the first row
    there is no value.
    """
    following = pl.col("time_ns").shift(-1)
    until = following.fill_null(end_ns) if by is None else following.over(by).fill_null(pl.col("time_ns"))
    held = until.clip(begin_ns, end_ns) - pl.col("time_ns").clip(begin_ns, end_ns)
    return rows.select(pl.col(value).alias("value"), held.alias("held_ns")).filter(pl.col("held_ns") > 0)


def time_weighted_distribution(steps: pl.LazyFrame) -> pl.DataFrame:
    """Return, of `hold_until_next`, each value once in ascending order with `share`:
    the share of the time spent at or below it."""
    totals = (
        steps.filter(pl.col("value").is_not_null())
        .group_by("value")
        .agg(pl.col("held_ns").sum())
        .collect(engine="streaming")
        .sort("value")
    )
    return totals.with_columns((pl.col("held_ns").cum_sum() / pl.col("held_ns").sum()).alias("share"))


def time_weighted_mean(distribution: pl.DataFrame) -> float | None:
    """Return the mean of a step function over time: the sum of value x time held, divided by the time.

    None without any time.
    """
    if distribution.is_empty():
        return None
    held = distribution["held_ns"]
    return float((distribution["value"] * (held / held.sum())).sum())


def time_weighted_percentile(distribution: pl.DataFrame, percent: float) -> float | None:
    """Return the smallest value that a step function did not exceed during at least `percent` % of the time."""
    if distribution.is_empty():
        return None
    # One part in 10^9 of the time is far below a sample; it keeps rounding of the sum from skipping a value.
    reached = distribution.filter(pl.col("share") >= percent / 100 - 1e-9)
    return float(reached["value"][0])


def jain_index(values: pl.Series) -> float | None:
    """Return Jain's fairness index, (sum x)^2 / (n sum x^2): 1 when all are equal,
    1/n when one has everything (DEC-TR-301, 1984)."""
    shares = values.drop_nulls().cast(pl.Float64)
    squares = float((shares * shares).sum())
    if len(shares) < 2 or squares == 0:
        return None
    return float(shares.sum()) ** 2 / (len(shares) * squares)
