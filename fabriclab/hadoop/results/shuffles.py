"""What TCP sent again in the shuffles of Hadoop's jobs, by the table `connections`: columns of `hadoop_jobs`, and
metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.hadoop.ports import SHUFFLE
from fabriclab.hadoop.unmeasured import OF_CONNECTIONS
from fabriclab.results.flow_metrics import Metrics

_LAST = 2**63 - 1
Row = dict[str, Any]


def add_shuffle_losses(
    jobs: Sequence[Row], cluster: HadoopTraffic, connections: pl.DataFrame | None, watched: frozenset[str]
) -> None:
    """Add the columns to the rows of a cluster's jobs, of both ends of the connections of their shuffles.

    A connection does not tell whose it is: it is of the job that ran when it ended, or had run last. So there is no
    value for jobs that ran at one time; nor for those of before the epoch, or of which a node was not watched.
    """
    if connections is None or not watched.issuperset(cluster.compute_nodes):
        return
    begun = [job for job in jobs if job.get("submit_ns") is not None]
    own = _of_shuffles(connections, cluster)
    for job in begun:
        start = job["submit_ns"]
        others = [other for other in begun if other is not job]
        if start < 0 or any(_overlap(job, other) for other in others):
            continue
        until = min((other["submit_ns"] for other in others if other["submit_ns"] > start), default=_LAST)
        rows = own.filter((pl.col("end_ns") >= start) & (pl.col("end_ns") < until))
        job |= _sums(rows)


def shuffle_metrics(
    jobs: pl.DataFrame | None, connections: pl.DataFrame | None, plan: Plan, watched: frozenset[str]
) -> Metrics:
    """Return the columns as metrics: of each job, `CLUSTER-JOB`, and of all clusters' shuffles together, where it need
    not be known whose they were."""
    clusters = [traffic for traffic in plan.traffic if isinstance(traffic, HadoopTraffic)]
    found: Metrics = dict.fromkeys(OF_CONNECTIONS)
    nodes = {node for cluster in clusters for node in cluster.compute_nodes}
    if connections is not None and clusters and watched >= nodes:
        every = [_sums(_of_shuffles(connections, cluster)) for cluster in clusters]
        found |= {name: sum(one[name] for one in every) for name in OF_CONNECTIONS}
    own = {} if jobs is None else {(row["cluster"], row["job"]): row for row in jobs.iter_rows(named=True)}
    for cluster in clusters:
        for job in cluster.jobs:
            row = own.get((cluster.name, job.name), {})
            found |= {f"{name}[{cluster.name}-{job.name}]": row.get(name) for name in OF_CONNECTIONS}
    return found


def _of_shuffles(connections: pl.DataFrame, cluster: HadoopTraffic) -> pl.DataFrame:
    """Return those from one node to another: what a reducer fetches of its own node sees no network."""
    between = pl.col("node").is_in(list(cluster.compute_nodes)) & (pl.col("node") != pl.col("peer"))
    return connections.filter((pl.col("phase") == SHUFFLE) & between)


def _sums(rows: pl.DataFrame) -> dict[str, int]:
    return {name: int(rows[name.removeprefix("shuffle_")].sum()) for name in OF_CONNECTIONS}


def _overlap(one: Row, other: Row) -> bool:
    """Return whether two jobs ran at one time; one that has no end did to the end of the run."""
    first, second = sorted((one, other), key=lambda job: int(job["submit_ns"]))
    return first.get("end_ns") is None or bool(second["submit_ns"] < first["end_ns"])
