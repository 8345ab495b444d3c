"""The metrics of Hadoop's jobs: `job_ns` and its parts, their fetches and in-cast, and what TCP sent again."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

import polars as pl

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import HadoopTraffic, ShuffleTraffic
from fabriclab.hadoop.results.shuffles import shuffle_metrics
from fabriclab.hadoop.results.tables import JOBS, TRANSFERS
from fabriclab.hadoop.results.times import PARTS
from fabriclab.hadoop.results.under_way import most_under_way, of_tasks
from fabriclab.registry.applications import HADOOP
from fabriclab.results.flow_metrics import Metrics

Jobs = Mapping[str, Mapping[str, Any]]
DEGREES = {
    "hdfs-read": "incast_degree_read",
    "shuffle": "incast_degree_shuffle",
    "hdfs-write": "incast_degree_write",
}
"""The metric of the largest in-cast, by the phase of the transfers."""


def application_metrics(
    tables: Mapping[str, pl.DataFrame | None],
    connections: pl.DataFrame | None,
    plan: Plan,
    watched: frozenset[str],
    shuffles_ns: float | None,
) -> Metrics:
    """Return the metrics of a plan's clusters.

    `tables`: those of `application_tables`, by name; `connections`: the table of that name; `watched`: the nodes of
    which it has every one; `shuffles_ns`: `job_ns` of the plan's shuffles, which count as well.
    """
    jobs = tables.get(JOBS)
    transfers = tables.get(TRANSFERS)
    found = {} if jobs is None else _job_metrics(jobs, plan, shuffles_ns)
    own = {} if jobs is None else _of_plan(jobs, plan)
    if own:
        found |= _part_metrics(own)
    if own and transfers is not None:
        found |= _transfer_metrics(transfers, own)
    return dict.fromkeys(HADOOP.metrics) | found | shuffle_metrics(jobs, connections, plan, watched)


def _job_metrics(jobs: pl.DataFrame, plan: Plan, shuffles_ns: float | None) -> Metrics:
    """Return `job_ns` of each job of Hadoop's, `CLUSTER-JOB`, and without brackets the slowest one's; None of a job
    that did not succeed, and without brackets while there is one.

    `jobs` is the table `hadoop_jobs`; `shuffles_ns` is `job_ns` of the plan's shuffles, which count as well.
    """
    succeeded = jobs.filter(pl.col("status") == "SUCCEEDED")
    names = succeeded["cluster"] + "-" + succeeded["job"]
    times = dict(zip(names, succeeded["end_ns"] - succeeded["submit_ns"], strict=True))
    own = _names(plan)
    every = [times.get(name) for name in own]
    if any(isinstance(traffic, ShuffleTraffic) for traffic in plan.traffic):
        every.append(shuffles_ns)
    known = [value for value in every if value is not None]
    slowest = max(known) if len(known) == len(every) else None
    return {"job_ns": slowest, **{f"job_ns[{name}]": times.get(name) for name in own}}


def _names(plan: Plan) -> list[str]:
    """Return CLUSTER-JOB of each job of a plan."""
    clusters = [traffic for traffic in plan.traffic if isinstance(traffic, HadoopTraffic)]
    return [f"{cluster.name}-{job.name}" for cluster in clusters for job in cluster.jobs]


def _of_plan(jobs: pl.DataFrame, plan: Plan) -> Jobs:
    """Return the rows of `hadoop_jobs` that are of a plan's jobs, by CLUSTER-JOB; others made their input."""
    rows = {f"{row['cluster']}-{row['job']}": row for row in jobs.iter_rows(named=True)}
    return {name: rows[name] for name in _names(plan) if name in rows}


def _part_metrics(own: Jobs) -> Metrics:
    """Return what the time of each job went to, and the sums over all jobs; None where it is not known of one."""
    found: Metrics = {}
    for part in PARTS:
        times = {name: row.get(f"{part}_ns") for name, row in own.items()}
        known = [time for time in times.values() if time is not None]
        found[f"job_{part}_ns"] = sum(known) if known and len(known) == len(times) else None
        found |= {f"job_{part}_ns[{name}]": time for name, time in times.items()}
    return found


def _transfer_metrics(transfers: pl.DataFrame, own: Jobs) -> Metrics:
    """Return how long fetches of map outputs took, and the largest in-cast of each phase: of all jobs together, and of
    each job."""
    between = of_tasks(transfers)
    attempts = {name: f"attempt_{str(row.get('job_id')).removeprefix('job_')}_" for name, row in own.items()}
    of_jobs = {name: between.filter(pl.col("of").str.starts_with(start)) for name, start in attempts.items()}
    found = _of_transfers(pl.concat(of_jobs.values()), "")
    for name, rows in of_jobs.items():
        found |= _of_transfers(rows, f"[{name}]")
    return found


def _of_transfers(transfers: pl.DataFrame, place: str) -> Metrics:
    fetched = transfers.filter((pl.col("phase") == "shuffle") & pl.col("end_ns").is_not_null())
    times = sorted(fetched["end_ns"] - fetched["start_ns"])
    found: Metrics = {
        f"fetch_median_ns{place}": round(median(times)) if times else None,
        f"fetch_max_ns{place}": times[-1] if times else None,
    }
    for phase, name in DEGREES.items():
        _, most = most_under_way(transfers, phase, 0, 0)
        found[f"{name}{place}"] = int(most.max()) if phase in transfers["phase"] else None
    return found
