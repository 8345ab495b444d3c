"""How long whole jobs took: all phases of a shuffle together (`fabriclab.results.coflows`, level `job`)."""

from __future__ import annotations

import polars as pl

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import ShuffleTraffic
from fabriclab.results.coflows import coflow_table
from fabriclab.results.flow_metrics import Metrics


def job_metrics(flows: pl.LazyFrame, plan: Plan) -> Metrics:
    """Return `job_ns` of each shuffle of the plan, and without brackets the slowest one's; None of a job that is not
    complete.

    While one job is not complete nobody knows which is the slowest: the bare name is then None, too.

    `flows` has a column `finished`, whether a flow did all that it was meant to do.
    """
    names = [traffic.name for traffic in plan.traffic if isinstance(traffic, ShuffleTraffic)]
    if not names:
        return {"job_ns": None}
    jobs = coflow_table(flows.filter(pl.col("class").is_in(names))).filter(pl.col("level") == "job")
    times = dict(zip(jobs["group"], jobs["completion_ns"], strict=True))
    known = [times[name] for name in names if times.get(name) is not None]
    return {"job_ns": max(known) if len(known) == len(names) else None} | {
        f"job_ns[{name}]": times.get(name) for name in names
    }
