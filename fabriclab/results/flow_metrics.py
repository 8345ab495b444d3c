"""The summary's metrics of flows, coflows and jobs, of the whole run and of each class (definitions:
`fabriclab.formats.metrics`)."""

from __future__ import annotations

from typing import Any

import polars as pl

from fabriclab.formats.flow_metrics import FLOWS
from fabriclab.formats.metrics import names
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import CollectiveTraffic, ShuffleTraffic
from fabriclab.results.bootstrap import exact_sum, standard_deviation
from fabriclab.results.coflows import coflow_table, count_known
from fabriclab.results.flows import RECOVERIES, waited_for_timeout
from fabriclab.results.statistics import jain_index, percentile

Metric = float | int | None
Metrics = dict[str, Metric]

MOST_CLASSES = 100
"""Classes that have metrics of their own, those with the most flows: a trace may call every flow a class."""
CLASS_METRICS = names(FLOWS, "traffic")
"""What a class has of its own, where it was measured."""
HANDSHAKE_TIMEOUT_NS = 1_000_000_000
"""A handshake of which a segment is lost is tried again after that long: no round trip has been measured yet (RFC 6298,
section 2.1; TCP_TIMEOUT_INIT in include/net/tcp.h)."""
SHORT_BYTES = 10_000
"""The largest of the flows that data-centre studies call short (DX, USENIX ATC 2015)."""
_WHOLE_ONLY = ("throughput_bps",)
_SUMS = ("timeouts", "retransmits", "marks")


def flow_metrics(flows: pl.LazyFrame) -> Metrics:
    """Return the metrics of flows; `flows` has a column `finished`, whether a flow did all that it was meant to do."""
    coflows = coflow_table(flows).filter(pl.col("level") == "coflow")
    times = (
        flows.select("class", "size_bytes", "fct_ns", "slowdown", "recovery")
        .filter(pl.col("fct_ns").is_not_null())
        .collect(engine="streaming")
    )
    counts = flows.select(_counts()).collect(engine="streaming").row(0, named=True)
    whole = counts | _distributions(times, coflows)
    metrics = {name: value for name, value in whole.items() if name not in _WHOLE_ONLY}
    metrics["goodput_bps"] = whole["throughput_bps"]
    return metrics | _short(times) | _rounds(flows) | _fairness(flows) | _of_classes(flows, times, coflows)


def _of_classes(flows: pl.LazyFrame, times: pl.DataFrame, coflows: pl.DataFrame) -> Metrics:
    counts = flows.filter(pl.col("class").is_not_null()).group_by("class").agg(_counts()).collect(engine="streaming")
    counts = counts.sort(["flows", "class"], descending=[True, False]).head(MOST_CLASSES).sort("class")
    times_of, coflows_of = (table.partition_by("class", as_dict=True) for table in (times, coflows))
    metrics: Metrics = {}
    for row in counts.iter_rows(named=True):
        key = (row["class"],)
        own = row | _distributions(times_of.get(key, times.clear()), coflows_of.get(key, coflows.clear()))
        metrics |= {f"{name}[{row['class']}]": own[name] for name in CLASS_METRICS if own[name] is not None}
    return metrics


def _counts() -> list[pl.Expr]:
    """Return counts and sums over flows, for the whole run or within a group."""
    status, finished, recovery = pl.col("status"), pl.col("finished"), pl.col("recovery")
    set_up_ns = pl.col("connected_ns") - pl.col("start_ns")
    counted = {
        "flows_complete": finished,
        "flows_incomplete": ~finished,
        "flows_unstarted": status == "unstarted",
        "flows_failed": status.str.starts_with("failed"),
        "flows_lost": status == "lost",
    }
    # The count or sum of nothing is 0; one of values that nobody logged is not measured.
    logged = {
        "flows_with_timeouts": (waited_for_timeout(), recovery),
        "flows_with_setup_timeouts": (set_up_ns >= HANDSHAKE_TIMEOUT_NS, set_up_ns),
        "flows_with_retransmits": (recovery != "none", recovery),
        "flows_fast_retransmit": (recovery == "fast retransmit", recovery),
        "mptcp_fallbacks": (pl.col("transport") == "fallback", pl.col("transport")),
        **{name: (pl.col(name), pl.col(name)) for name in _SUMS},
    }
    elapsed = pl.col("end_ns").max() - pl.col("start_ns").min()
    return [
        pl.len().cast(pl.Int64).alias("flows"),
        *[condition.sum().cast(pl.Int64).alias(name) for name, condition in counted.items()],
        *[pl.when(of.count() > 0).then(value.sum().cast(pl.Int64)).alias(name) for name, (value, of) in logged.items()],
        pl.col("bytes").sum().alias("bytes"),
        pl.col("min_rtt_us").min(),
        pl.col("deadline_missed").sum().cast(pl.Int64).alias("deadline_misses"),
        pl.col("deadline_missed").count().cast(pl.Int64).alias("deadline_flows"),
        pl.when(elapsed > 0).then(pl.col("bytes").sum() * 8e9 / elapsed).alias("throughput_bps"),
    ]


def _distributions(times: pl.DataFrame, coflows: pl.DataFrame) -> dict[str, Any]:
    fct, slowdown, coflow = times["fct_ns"], times["slowdown"].drop_nulls(), coflows["completion_ns"].drop_nulls()
    late, waiting = (count_known(name).alias(name) for name in ("deadline_missed", "waited_for_timeout"))
    return {
        "fct_mean_ns": _mean(fct),
        "fct_std_ns": standard_deviation(fct.to_numpy()),
        **{f"fct_{name}_ns": _whole(percentile(fct, percent)) for name, percent in _PERCENTILES.items()},
        "fct_max_ns": _whole(percentile(fct, 100)),
        **_by_recovery(times),
        "slowdown_mean": _mean(slowdown),
        **{f"slowdown_{name}": percentile(slowdown, percent) for name, percent in _PERCENTILES.items()},
        "coflow_mean_ns": _mean(coflow),
        **{
            f"coflow_{name}_ns": _whole(percentile(coflow, _PERCENTILES[name]))
            for name in ("median", "p95", "p99", "p999")
        },
        "coflows": coflows.height or None,
        "coflows_with_timeouts": coflows.select(waiting).item(),
        "coflow_deadline_misses": coflows.select(late).item(),
    }


def _by_recovery(times: pl.DataFrame) -> Metrics:
    means = dict(times.group_by("recovery").agg("fct_ns").iter_rows())
    names = ("no_loss", "fast_retransmit", "timeout", "several_timeouts")
    return {
        f"fct_{name}_mean_ns": _mean(pl.Series(means.get(recovery, []), dtype=pl.Int64))
        for name, recovery in zip(names, RECOVERIES, strict=True)
    }


def _short(times: pl.DataFrame) -> Metrics:
    fct = times.filter(pl.col("size_bytes") <= SHORT_BYTES)["fct_ns"]
    return {"fct_short_mean_ns": _mean(fct), "fct_short_p99_ns": _whole(percentile(fct, 99))}


_PERCENTILES = {"median": 50, "p95": 95, "p99": 99, "p999": 99.9}


def _rounds(flows: pl.LazyFrame) -> Metrics:
    groups = flows.filter(pl.col("group").is_not_null()).group_by("group")
    times = groups.agg(pl.col("finished").all(), (pl.col("end_ns").max() - pl.col("start_ns").min()).alias("time_ns"))
    complete = times.filter("finished").select("time_ns").collect(engine="streaming")["time_ns"]
    return {"rounds_complete": len(complete), "round_mean_ns": _mean(complete.drop_nulls())}


def _fairness(flows: pl.LazyFrame) -> Metrics:
    own = pl.col("bytes") * 8e9 / (pl.col("end_ns") - pl.col("start_ns"))
    return {
        "jain_fairness": jain_index(
            flows.filter(pl.col("stop_ns").is_not_null()).select(own.alias("bps")).collect()["bps"]
        )
    }


def _mean(values: pl.Series) -> float | None:
    return exact_sum(values.to_numpy()) / len(values) if len(values) else None


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def job_metrics(flows: pl.LazyFrame, plan: Plan) -> Metrics:
    """Return `job_ns` of each shuffle and collective of the plan, and without brackets the slowest one's; None of a
    job that is not complete.

    While one job is not complete nobody knows which is the slowest: the bare name is then None, too.

    `flows` has a column `finished`, whether a flow did all that it was meant to do.
    """
    names = [traffic.name for traffic in plan.traffic if isinstance(traffic, ShuffleTraffic | CollectiveTraffic)]
    if not names:
        return {"job_ns": None}
    jobs = coflow_table(flows.filter(pl.col("class").is_in(names))).filter(pl.col("level") == "job")
    times = dict(zip(jobs["group"], jobs["completion_ns"], strict=True))
    known = [times[name] for name in names if times.get(name) is not None]
    return {"job_ns": max(known) if len(known) == len(names) else None} | {
        f"job_ns[{name}]": times.get(name) for name in names
    }
