"""The metrics of Hadoop's jobs: `job_ns`, and what TCP sent again in their shuffles."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import HadoopTraffic, ShuffleTraffic
from fabriclab.hadoop.results.shuffles import shuffle_metrics
from fabriclab.hadoop.results.tables import JOBS
from fabriclab.results.flow_metrics import Metrics


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
    found = {} if jobs is None else _job_metrics(jobs, plan, shuffles_ns)
    return found | shuffle_metrics(jobs, connections, plan, watched)


def _job_metrics(jobs: pl.DataFrame, plan: Plan, shuffles_ns: float | None) -> Metrics:
    """Return `job_ns` of each job of Hadoop's, `CLUSTER-JOB`, and without brackets the slowest one's; None of a job
    that did not succeed, and without brackets while there is one.

    `jobs` is the table `hadoop_jobs`; `shuffles_ns` is `job_ns` of the plan's shuffles, which count as well.
    """
    succeeded = jobs.filter(pl.col("status") == "SUCCEEDED")
    names = succeeded["cluster"] + "-" + succeeded["job"]
    times = dict(zip(names, succeeded["end_ns"] - succeeded["submit_ns"], strict=True))
    clusters = [traffic for traffic in plan.traffic if isinstance(traffic, HadoopTraffic)]
    own = [f"{cluster.name}-{job.name}" for cluster in clusters for job in cluster.jobs]
    every = [times.get(name) for name in own]
    if any(isinstance(traffic, ShuffleTraffic) for traffic in plan.traffic):
        every.append(shuffles_ns)
    known = [value for value in every if value is not None]
    slowest = max(known) if len(known) == len(every) else None
    return {"job_ns": slowest, **{f"job_ns[{name}]": times.get(name) for name in own}}
