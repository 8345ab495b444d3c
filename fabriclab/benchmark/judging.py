"""From what a test measured to the draft's numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

import polars as pl

from fabriclab.benchmark.fabric import Fabric
from fabriclab.benchmark.kpis import (
    BUS_BANDWIDTH,
    JCT_RATIO,
    NO_DROPS,
    THROUGHPUT,
    Kpi,
    max_mean,
    variation,
)
from fabriclab.formats.plan.traffic import CollectiveTraffic
from fabriclab.results import Results
from fabriclab.results.collectives import SCHEMA
from fabriclab.results.statistics import jain_index, percentile

_NS = 1e9
_PERCENT = 100.0


def judge_throughput(results: Results, fabric: Fabric, condition: str) -> list[Kpi]:
    """Return throughput, how evenly the links carry it, and what the fabric did."""
    flows = results.flows.select("bytes", "first_byte_ns", "end_ns").collect()
    goodput = int(flows["bytes"].sum()) * 8 * _NS / max(1, _span_ns(flows))
    most = fabric.bisection_bps * fabric.payload_share
    loads = list(_uplink_bytes(results, fabric).values())
    return [
        Kpi("Aggregate throughput", condition, "Gbps", goodput / 1e9),
        Kpi("Throughput efficiency", condition, "% of bisection", _PERCENT * goodput / most, THROUGHPUT),
        _spread("ECMP imbalance (MMR of bytes)", condition, max_mean(loads)),
        _spread("Jain fairness index (JFI)", condition, jain_index(pl.Series(loads, dtype=pl.Float64))),
        *_health(results, condition),
    ]


def judge_in_cast(results: Results, fabric: Fabric, condition: str, sent_bytes: int) -> list[Kpi]:
    """Return how long the receiver's line was used well, and what the fabric did."""
    ideal_ns = 8 * sent_bytes * _NS / (fabric.line_bps * fabric.payload_share)
    time_ns = results.summary.get("round_mean_ns")
    ratio = None if time_ns is None else time_ns / ideal_ns
    return [
        Kpi(
            "In-cast completion time",
            condition,
            "us",
            None if time_ns is None else time_ns / 1e3,
            reason=_incomplete(ratio),
        ),
        Kpi("In-cast completion time / line", condition, "", ratio, reason=_incomplete(ratio)),
        *_health(results, condition),
    ]


def judge_collective(results: Results, fabric: Fabric, condition: str) -> list[Kpi]:
    """Return the bus bandwidth of the iterations, and how much it varied."""
    table = _iterations(results)
    bandwidths = table["bus_bps"].drop_nulls() / 1e9
    if bandwidths.is_empty():
        return [Kpi("Bus bandwidth, mean", condition, "Gbps", None, reason="no iteration was complete")]
    times, mean = (table["time_ns"].drop_nulls() / 1e3).to_list(), fmean(bandwidths.to_list())
    share = _PERCENT * 1e9 * mean / fabric.line_bps
    return [
        Kpi("Bus bandwidth, mean", condition, "Gbps", mean),
        *(Kpi(f"Bus bandwidth, P{at}", condition, "Gbps", percentile(bandwidths, at)) for at in (50, 95, 99)),
        Kpi("Bus bandwidth", condition, "% of line", share, BUS_BANDWIDTH),
        Kpi("Time of an iteration, mean", condition, "us", fmean(times)),
        Kpi("Time / idle fabric", condition, "", results.summary.get("collective_ratio")),
        Kpi("Last rank / mean of the ranks", condition, "", results.summary.get("straggler_ratio")),
        _spread("Coefficient of variation", condition, variation(times), "one iteration has none"),
        *_health(results, condition),
    ]


def judge_job(results: Results, fabric: Fabric, traffic: CollectiveTraffic) -> list[Kpi]:
    """Return the job's time over its roofline, the draft's formula: iterations x (C + S x factor / line)."""
    ranks = len(traffic.ranks)
    reduce_ns = 8 * traffic.size_bytes * 2 * (ranks - 1) / ranks * _NS / fabric.line_bps
    roofline_ns = traffic.iterations * (traffic.compute_ns + reduce_ns)
    condition = f"C = {traffic.compute_ns / 1e6:g} ms, S = {traffic.size_bytes / 1e6:g} MB, {ranks} ranks"
    # From the start of the computation on: the first transfer starts after it.
    time_ns = results.summary.get(f"job_ns[{traffic.name}]")
    value = None if time_ns is None else (time_ns + traffic.compute_ns) / roofline_ns
    return [Kpi("JCT ratio", condition, "", value, JCT_RATIO, _incomplete(value))]


def judge_interference(results: Results, jobs: Sequence[str], apart_ns: int) -> list[Kpi]:
    """Return by what each job is slower when the other runs at the same time."""
    kpis: list[Kpi] = []
    for job in jobs:
        alone, shared = (results.summary.get(f"job_ns[{job}-{when}]") for when in ("alone", "shared"))
        reason = _incomplete(None if alone is None or shared is None else 1.0)
        if alone is not None and alone > apart_ns:
            alone, reason = None, "alone it took so long that it was not alone"
        factor = None if alone is None or shared is None else shared / alone
        kpis.append(Kpi("JCT interference factor", f"job {job}", "", factor, reason=reason))
    return kpis


def judge_failure(results: Results, condition: str, failed_ns: int) -> list[Kpi]:
    """Return by how much the iteration in which a link failed was longer than those before and after."""
    table = _iterations(results)
    whole = table.drop_nulls("time_ns")
    hit = whole.filter((pl.col("start_ns") <= failed_ns) & (pl.col("end_ns") >= failed_ns))
    others = whole.filter(~pl.col("iteration").is_in(hit["iteration"].to_list()))
    if hit.is_empty() or others.is_empty():
        reason = "no complete iteration was under way when it failed, or no other one was complete"
        return [
            Kpi("Iteration with the failure / others", condition, "", None, reason=reason),
            *_health(results, condition),
        ]
    ratio = max(hit["time_ns"].to_list()) / fmean(others["time_ns"].to_list())
    return [Kpi("Iteration with the failure / others", condition, "", ratio), *_health(results, condition)]


# -- What a run tells ------------------------------------------------------------------------------


def _iterations(results: Results) -> pl.DataFrame:
    table = results.collectives
    return pl.DataFrame(schema=SCHEMA) if table is None else table


def _span_ns(flows: pl.DataFrame) -> int:
    times = flows.select(pl.col("first_byte_ns").min(), pl.col("end_ns").max()).row(0)
    return 0 if None in times else int(times[1]) - int(times[0])


def _uplink_bytes(results: Results, fabric: Fabric) -> dict[str, int]:
    """Return what each link between switches carried away from the hosts' switches."""
    wanted = {f"{node.name}:{port.interface}" for node, port in fabric.uplinks()}
    return {port: row["tx_bytes"] for port, row in _counted(results).items() if port in wanted}


def _counted(results: Results) -> dict[str, dict[str, int]]:
    """Return what each sampled interface counted during the run."""
    table = results.measured.interfaces
    if table is None:
        return {}
    counters = ("tx_bytes", "tx_packets", "tx_dropped")
    grouped = table.group_by("port").agg(*(pl.col(name).max() - pl.col(name).min() for name in counters)).collect()
    return {row["port"]: row for row in grouped.iter_rows(named=True)}


def _health(results: Results, condition: str) -> Iterator[Kpi]:
    """Yield the secondary numbers: drops, marks, pauses, what was sent again."""
    summary = results.summary
    switches = {node.name for node in results.plan.nodes if node.role == "switch"}
    packets = sum(row["tx_packets"] for port, row in _counted(results).items() if port.partition(":")[0] in switches)
    drops = [summary.get(name) for name in ("queue_drops", "wred_drops", "ingress_discards")]
    known = [value for value in drops if value is not None]
    unsampled = "no switch has a shared buffer to sample"
    yield Kpi(
        "Packet drop rate", condition, "ppm", _ratio(sum(known) if known else None, packets, 1e6), NO_DROPS, unsampled
    )
    yield Kpi(
        "ECN marking ratio", condition, "%", _ratio(summary.get("ecn_marks"), packets, _PERCENT), reason=unsampled
    )
    yield Kpi("PFC pause frames", condition, "", summary.get("pauses_sent"), reason=unsampled)
    paused = summary.get("paused_ns")
    yield Kpi("PFC pause duration", condition, "us", None if paused is None else paused / 1e3, reason=unsampled)
    yield Kpi("Packets sent again", condition, "", summary.get("retransmits"), reason="no flow counted any")
    buffered = summary.get("pool_max_bytes")
    yield Kpi("Buffer in use, most", condition, "KB", None if buffered is None else buffered / 1e3, reason=unsampled)


def _ratio(value: float | None, of: float, scale: float) -> float | None:
    return None if value is None or not of else scale * value / of


def _spread(
    name: str, condition: str, value: float | None, reason: str = "no two links between switches carried any"
) -> Kpi:
    return Kpi(name, condition, "", value, reason=reason)


def _incomplete(value: float | None) -> str:
    return "" if value is not None else "not all of it was complete"
