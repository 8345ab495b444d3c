"""The statistics that every table of completion times ends with: one row for each group, with confidence intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from fabriclab.results.bootstrap import Estimate, Sample, mean_estimate, percentile_estimate, standard_deviation
from fabriclab.results.statistics import nearest_rank

PERCENTILES = {"median": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}
STATISTICS = tuple(
    column
    for name in ("mean", "std", *PERCENTILES)
    for column in ((name,) if name == "std" else (name, f"{name}_low", f"{name}_high", f"{name}_is_lower_bound"))
)
"""Columns: low and high are the ends of the 95 % interval, `is_lower_bound` tells of a statistic that
incomplete flows could raise."""
_EVERYTHING = "everything"


def is_pool(rows: pl.LazyFrame) -> bool:
    """Return whether rows are of several runs: they have a column `run` then."""
    return "run" in rows.collect_schema().names()


def grouping(by: Sequence[str]) -> list[str]:
    """Return the columns that rows are grouped by; of no columns one that `with_grouping` makes,
    the same in all rows."""
    return list(by) or [_EVERYTHING]


def with_grouping(rows: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """Return rows with a column `run` (0 when they are of one run) and what `grouping` needs."""
    run = [] if is_pool(rows) else [pl.lit(0).alias("run")]
    return rows.with_columns(*run, *([] if by else [pl.lit(0).alias(_EVERYTHING)]))


def grouped_values(rows: pl.LazyFrame, by: Sequence[str], of: str) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    """Yield the key and the values (columns `run` and `of`, ascending) of each group that has any, in ascending order
    of the keys.

    `rows` are those of `with_grouping`.
    """
    keys = grouping(by)
    values = rows.filter(pl.col(of).is_not_null()).select(*keys, "run", of).collect(engine="streaming")
    # Numbers within each group are sorted much sooner than names and numbers of all.
    groups = values.partition_by(keys, as_dict=True, include_key=False)
    for key in values.select(keys).unique().sort(keys).iter_rows():
        yield key, groups[key].sort(of, "run")


def add_statistics(
    counts: pl.DataFrame, rows: pl.LazyFrame, by: Sequence[str], of: str, *, pooled: bool
) -> pl.DataFrame:
    """Return a table of counts with `resampled` (`runs` or `flows`) and STATISTICS of `of`, in ascending order of the
    keys.

    `counts` has the columns of `grouping(by)`, `incomplete` and others, `rows` are those of `with_grouping`.
    """
    keys = grouping(by)
    incomplete = {row[:-1]: row[-1] for row in counts.select(*keys, "incomplete").iter_rows()}
    found = [
        dict(zip(keys, key, strict=True))
        | _statistics(Sample.of(values[of], values["run"] if pooled else None), incomplete[key])
        for key, values in grouped_values(rows, by, of)
    ]
    types = {name: pl.Boolean if name.endswith("_is_lower_bound") else pl.Float64 for name in STATISTICS}
    statistics = pl.DataFrame(found, schema={**{key: counts.schema[key] for key in keys}, **types})
    table = counts.join(statistics, on=keys, how="left", nulls_equal=True).sort(*keys)
    others = [name for name in counts.columns if name not in keys]
    return table.with_columns(pl.lit("runs" if pooled else "flows").alias("resampled")).select(
        *by, *others, "resampled", *STATISTICS
    )


def _statistics(sample: Sample, incomplete: int) -> dict[str, Any]:
    count = len(sample.values)
    statistics: dict[str, Any] = {"std": standard_deviation(sample.values)}
    statistics |= _columns("mean", mean_estimate(sample), incomplete > 0)
    for name, percent in PERCENTILES.items():
        beyond = count - nearest_rank(count, percent)
        statistics |= _columns(name, percentile_estimate(sample, percent), incomplete > beyond)
    return statistics


def _columns(name: str, estimate: Estimate, is_lower_bound: bool) -> dict[str, Any]:
    high = None if is_lower_bound else estimate.high
    return {
        name: estimate.value,
        f"{name}_low": estimate.low,
        f"{name}_high": high,
        f"{name}_is_lower_bound": is_lower_bound,
    }
