"""The summary metrics of a run, each with its definition. Their names are what an experiment's checks and figures use.

Flows
  flows                 flows of the trace
  flows_complete        sized flows read whole by the receiver, and long flows that ran to their stop time
  flows_incomplete      all others: cut, never started, failed or lost; they are part of `flows`, never dropped
  flows_unstarted, flows_failed, flows_lost   of those, the ones of that status
  flows_with_timeouts   flows whose retransmission timer ran out
  flows_with_setup_timeouts   flows whose connection stood a second or more after their start: SYN or SYN-ACK was lost
  flows_fast_retransmit flows that sent segments again without a timeout
  bytes                 bytes that receivers read, of incomplete flows too
  goodput_bps           8 x bytes / (last byte read - first start)
  fct_mean_ns, fct_std_ns, fct_median_ns, fct_p95_ns, fct_p99_ns, fct_p999_ns, fct_max_ns
                        completion times of complete sized flows: mean, standard deviation (divisor n - 1),
                        nearest-rank percentiles
  slowdown_mean, slowdown_median, slowdown_p95, slowdown_p99, slowdown_p999   the same of completion time / ideal on an
                        idle path (`fabriclab.results.idle_path`)
  coflow_mean_ns, coflow_median_ns, coflow_p95_ns, coflow_p99_ns   completion times of complete coflows: rounds,
                        queries, phases of a job (`fabriclab.results.coflows`, level `coflow`)
  job_ns                completion time of a shuffle, all its phases; `job_ns[NAME]` of each, the bare name is the
                        slowest one's, and None where one is not complete
  deadline_flows, deadline_misses   sized flows that have a deadline, those of them that missed it, incomplete ones
                        included
  rounds_complete       groups of the trace of which every flow is complete
  round_mean_ns         mean over those of (last byte read - first start)
  timeouts, retransmits, marks   sums over flows: retransmission timeouts, segments sent again, segments acknowledged
                        with ECE
  mptcp_fallbacks       flows that asked for MPTCP and got TCP
  jain_fairness         Jain's index of the long flows' own throughputs; needs two
  min_rtt_us            smallest round-trip time that any flow saw
Classes, over the flows of class C alone, where it was measured, of the 100 classes with the most flows
  throughput_bps[C]     goodput
  NAME[C]               flows, flows_complete, flows_incomplete, flows_with_timeouts, flows_with_setup_timeouts,
                        timeouts, retransmits, marks, deadline_flows, deadline_misses, fct_mean_ns, fct_std_ns,
                        fct_median_ns, fct_p95_ns, fct_p99_ns, fct_p999_ns, slowdown_mean, slowdown_median,
                        slowdown_p99, coflow_mean_ns, coflow_median_ns, coflow_p95_ns, coflow_p99_ns as above
Queues, over the time from the first start to the last byte; `name[port]` is a port's, the bare name is of all sampled
ports together: of lengths that of the port where it is largest, of counts and of time the sum
(`fabriclab.results.queue_metrics`)
  queue_mean_bytes, queue_median_bytes, queue_p99_bytes   time-weighted: a sample holds until the next
  queue_max_bytes       largest sample
  drops, queue_marks    packets dropped and marked by the port, last sample minus first
  stalls, stalled_ns    times that the port sent nothing for SILENCE_NS or more, and their length in all: waiting for a
                        timer
TCP samples
  srtt_mean_us          time-weighted mean of the senders' smoothed round-trip time over all sampled flows; each subflow
                        of MPTCP counts
  jain_phase_mean, jain_phase_min   Jain's index of the sampled long flows' throughputs over phases in which the same
                        flows run, of 100 ms and more; needs two flows (`fabriclab.results.fairness`)
  fair_after_mean_ns    mean over those phases of the time after which what each has got since the phase began stays
                        fair (index 0.95); the whole phase counts where that never comes
Switches with a shared buffer, counted by the switch from time 0 on; the bare name is the sum over all sampled switch
ports, `name[s1:eth1]` is a port's (a host's too: its pauses are in no sum, for its switch counts them at the other
end), `name[s1:eth1:3]` that of its queue 3
  queue_drops           packets that a queue's own limit, the end of its pool, or the limit of its virtual output queue
                        refused
  wred_drops, storm_drops   packets dropped early, and by the pause watchdog
  ecn_marks             packets marked by WRED and by the phantom queue
  pauses_received       pause frames that arrived; of a queue: times that it was stopped
  paused_ns             time that queues were stopped, summed over them
  storms                pause storms that the watchdog found
Of ports, not of queues
  pauses_sent           pause frames sent
  ingress_discards      packets that came in there and found their priority group at its limit, headroom and all
  xoff_ns               time that priority groups held their neighbour in XOFF, summed over them
  congestion_events     times that a queue reached its `event` length
Memory, by the switch's own watermarks, which no sample misses; bare: of the pool with the most, `name[s1:shared]` each
  pool_max_bytes        most that was in use of the pool beyond what is reserved
  headroom_max_bytes    most that was in use of its priority groups' headroom, summed over them
A metric that was not measured is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fabriclab.formats.manifest import Manifest
from fabriclab.formats.plan import Plan
from fabriclab.results.fairness import fairness_metrics
from fabriclab.results.flow_metrics import Metric, Metrics, flow_metrics
from fabriclab.results.flows import is_done, scan_flows
from fabriclab.results.jobs import job_metrics
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
