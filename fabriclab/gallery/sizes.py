"""Completion times and slowdowns of the flows of some sizes only, over the seeds of a point."""

from __future__ import annotations

import polars as pl

from fabriclab.gallery.data import Numbers
from fabriclab.gallery.quantities import OF_SIZED_FLOWS
from fabriclab.results.bootstrap import exact_sum
from fabriclab.results.completion import Value, completion_table
from fabriclab.results.estimates import is_pool
from fabriclab.results.statistics import percentile
from fabriclab.results.sweep import Pool

_PERCENTILES = {"median": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}


def of_sizes(pool: Pool, metric: str, above: int, up_to: int) -> tuple[Numbers, int]:
    """Return a statistic of a class's flows of more than `above` bytes and at most `up_to`, and how many runs have
    such flows.

    It is of the flows of all runs together, its interval resamples runs (none of a single run), and the ends are the
    least and the greatest run's own.
    """
    parts = OF_SIZED_FLOWS.fullmatch(metric)
    if parts is None:
        raise ValueError(f"{metric} is not of flows with a size")
    kind, statistic, name = parts.groups()
    of: Value = "slowdown" if kind == "slowdown" else "fct_ns"
    size = pl.col("size_bytes")
    flows = pool.flows.filter((pl.col("class") == name) & (size > above) & (size <= up_to))
    table = completion_table(flows, by=(), of=of)
    if table.is_empty():
        return {}, 0
    row = table.row(0, named=True)
    own = _of_each_run(flows, of, statistic)
    ends = {"least": min(own, default=None), "greatest": max(own, default=None)}
    low, high = (row[f"{statistic}_{end}"] if len(own) > 1 else None for end in ("low", "high"))
    return {"mean": row[statistic], "low": low, "high": high, **ends}, len(own)


def _of_each_run(flows: pl.LazyFrame, of: Value, statistic: str) -> list[float]:
    run = ["run"] if is_pool(flows) else []
    rows = flows.select(*run, of).drop_nulls().collect()
    found = (_statistic(own[of], statistic) for own in (rows.partition_by(run) if run else [rows]))
    return [value for value in found if value is not None]


def _statistic(values: pl.Series, statistic: str) -> float | None:
    if statistic != "mean":
        return percentile(values, _PERCENTILES[statistic])
    return exact_sum(values.to_numpy()) / len(values) if len(values) else None
