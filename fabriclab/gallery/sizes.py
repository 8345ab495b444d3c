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


Sizes = tuple[int, int]
"""Bytes: the flows of more than the first, and at most the second."""


def of_sizes(pool: Pool, metric: str, sizes: Sizes) -> tuple[Numbers, int]:
    """Return a statistic of a class's flows of these sizes, and how many runs have such flows.

    It is of the flows of all runs together, its interval resamples runs (none of a single run), and the ends are the
    least and the greatest run's own.
    """
    flows, statistic, of = _sized(pool, metric, sizes)
    table = completion_table(flows, by=(), of=of)
    if table.is_empty():
        return {}, 0
    row = table.row(0, named=True)
    own = list(_of_each_run(flows, of, statistic).values())
    ends = {"least": min(own, default=None), "greatest": max(own, default=None)}
    low, high = (row[f"{statistic}_{end}"] if len(own) > 1 else None for end in ("low", "high"))
    return {"mean": row[statistic], "low": low, "high": high, **ends}, len(own)


def sized_by_seed(pool: Pool, metric: str, sizes: Sizes) -> dict[int, float]:
    """Return each seed's own statistic of the flows of these sizes; without the seeds that have no such flow."""
    flows, statistic, of = _sized(pool, metric, sizes)
    seeds = [point.seed for point in pool.points if point.results is not None]
    return {seeds[run]: value for run, value in _of_each_run(flows, of, statistic).items()}


def _sized(pool: Pool, metric: str, sizes: Sizes) -> tuple[pl.LazyFrame, str, Value]:
    """Return the flows that a metric is of, its statistic, and the column that it is a statistic of."""
    parts = OF_SIZED_FLOWS.fullmatch(metric)
    if parts is None:
        raise ValueError(f"{metric} is not of flows with a size")
    kind, statistic, name = parts.groups()
    above, up_to = sizes
    size = pl.col("size_bytes")
    flows = pool.flows.filter((pl.col("class") == name) & (size > above) & (size <= up_to))
    return flows, statistic, "slowdown" if kind == "slowdown" else "fct_ns"


def _of_each_run(flows: pl.LazyFrame, of: Value, statistic: str) -> dict[int, float]:
    """Return the statistic of each run's flows, by the run's position in the pool."""
    run = ["run"] if is_pool(flows) else []
    rows = flows.select(*run, of).drop_nulls().collect()
    parts = {int(own["run"][0]): own for own in rows.partition_by(run)} if run else {0: rows}
    found = {position: _statistic(own[of], statistic) for position, own in parts.items()}
    return {position: value for position, value in found.items() if value is not None}


def _statistic(values: pl.Series, statistic: str) -> float | None:
    if statistic != "mean":
        return percentile(values, _PERCENTILES[statistic])
    return exact_sum(values.to_numpy()) / len(values) if len(values) else None
