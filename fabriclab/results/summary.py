"""The summary metrics of a run: each definition stands in `fabriclab.formats.metrics`, for people in docs/metrics.md.

Their names are what an experiment's checks and figures use. A metric that was not measured is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fabriclab.formats.manifest import Manifest
from fabriclab.formats.plan import Plan
from fabriclab.results.fairness import fairness_metrics, rate_variation
from fabriclab.results.flow_metrics import Metric, Metrics, flow_metrics, job_metrics
from fabriclab.results.flows import is_done, scan_flows
from fabriclab.results.parquet import check_parquet, open_parquet
from fabriclab.results.queue_metrics import queue_metrics
from fabriclab.results.statistics import hold_until_next, time_weighted_distribution, time_weighted_mean
from fabriclab.results.switch_metrics import switch_metrics
from fabriclab.results.switch_tables import SwitchTables

__all__ = ["Measured", "Metric", "Metrics", "busy_interval", "is_finished", "summarize"]


@dataclass(frozen=True)
class Measured:
    """The tables of a run, lazy; None where the run has no such probe."""

    flows: pl.LazyFrame
    queues: pl.LazyFrame | None
    tcp: pl.LazyFrame | None
    interfaces: pl.LazyFrame | None
    switches: SwitchTables

    @classmethod
    def open(cls, run_dir: Path) -> Measured:
        """Open the Parquet files of a run directory. Raises ResultsError for one that is damaged."""
        check_parquet(run_dir / "flows.parquet")
        queues, tcp, interfaces = (
            open_parquet(run_dir / f"{name}.parquet") for name in ("queues", "tcp", "interfaces")
        )
        return cls(scan_flows([run_dir]), queues, tcp, interfaces, SwitchTables.open(run_dir))


def summarize(measured: Measured, plan: Plan, manifest: Manifest) -> Metrics:
    """Return every metric of a run."""
    flows = measured.flows.with_columns(is_finished(manifest).alias("finished"))
    metrics = flow_metrics(flows) | job_metrics(flows, plan)
    begin, end = busy_interval(measured)
    metrics |= queue_metrics(measured.queues, plan.probes.queue_ports, begin, end)
    metrics["srtt_mean_us"] = _srtt_mean(measured, begin, end)
    metrics |= fairness_metrics(measured.flows, measured.tcp)
    metrics |= rate_variation(measured.flows, measured.tcp)
    return metrics | switch_metrics(measured.switches, plan)


def is_finished(manifest: Manifest) -> pl.Expr:
    """Return whether a flow did all that it was meant to do.

    A long flow is `stopped` at its stop time and also when the run was cut; it finished when the run did, or lived past
    the stop time.
    """
    if manifest.status == "complete":
        return is_done()
    reached_ns = int(manifest.ended_ns)
    return is_done() & (pl.col("stop_ns").is_null() | (pl.col("stop_ns") <= reached_ns))


def busy_interval(measured: Measured) -> tuple[int, int]:
    """Return first start and last byte read of all flows, ns after the epoch;
    the last queue sample where no byte was read."""
    times = measured.flows.select(pl.col("start_ns").min(), pl.col("end_ns").max()).collect(engine="streaming")
    begin, end = times["start_ns"][0], times["end_ns"][0]
    if end is None and measured.queues is not None:
        end = measured.queues.select(pl.col("time_ns").max()).collect(engine="streaming").item()
    return int(begin or 0), int(end or 0)


def _srtt_mean(measured: Measured, begin_ns: int, end_ns: int) -> float | None:
    if measured.tcp is None:
        return None
    # Both ends of a connection carry its mark; only the sender's round-trip time is that of the data.
    senders = measured.flows.select("flow", pl.col("src").alias("node"))
    rows = measured.tcp.select("time_ns", "node", "flow", "srtt_us", _connection(measured.tcp))
    of_senders = rows.join(senders, on=["flow", "node"], how="semi", maintain_order="left")
    return time_weighted_mean(
        time_weighted_distribution(hold_until_next(of_senders, "srtt_us", begin_ns, end_ns, by="connection"))
    )


def _connection(tcp: pl.LazyFrame) -> pl.Expr:
    """Return what tells connections apart: the flow and, of MPTCP, the subflow,
    which samples of older versions don't have."""
    subflow = pl.col("subflow").fill_null(-1) if "subflow" in tcp.collect_schema().names() else pl.lit(-1)
    return pl.struct("flow", subflow.alias("subflow")).alias("connection")
