"""Collective operations: how long each iteration took and would have taken on an idle fabric, and who was late.

time      from the first start of the iteration to the last byte that any rank received; of a hierarchical operation
          also what happens within servers before and after
ideal     the longer of two: the longest path through the iteration's transfers, each as long as on an idle path
          (`fabriclab.results.idle_path`) and with the computation between them; and what the line of the busiest host
          needs for all that it sends or receives, with what the shortest of its transfers waits beside that
bandwidths   as nccl-tests have them (doc/PERFORMANCE.md): algorithm bandwidth is size / time; bus bandwidth is that
          times what each rank must send at least of each byte: 2 (n - 1) / n of an all-reduce, (n - 1) / n of
          all-gather, reduce-scatter, all-to-all, gather and scatter, 1 of a broadcast and a reduce. A pipeline has
          neither
late      the transfer that was longest behind its ideal among those that the last rank waited for, one after another
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fabriclab.formats.flow_metrics import COLLECTIVES as COLLECTIVE_METRICS
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import CollectiveTraffic
from fabriclab.formats.trace import awaited
from fabriclab.results.bootstrap import exact_sum
from fabriclab.results.flow_metrics import Metrics
from fabriclab.results.flows import asked_flows, read_trace

COLLECTIVES = "collectives"
"""The name of the table in a run directory."""
SCHEMA: Mapping[str, Any] = {
    "traffic": pl.String,
    "iteration": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "time_ns": pl.Int64,
    "ideal_ns": pl.Int64,
    "algorithm_bps": pl.Float64,
    "bus_bps": pl.Float64,
    "last_rank": pl.Int64,
    "last_host": pl.String,
    "rank_mean_ns": pl.Float64,
    "late_flow": pl.Int64,
    "late_src": pl.String,
    "late_dst": pl.String,
    "late_ns": pl.Int64,
}
"""Null from `end_ns` on where the iteration is not complete."""
_NS = 1e9


class _Transfer(NamedTuple):
    """A flow as it was asked for and as it went."""

    flow: int
    src: str
    dst: str
    group: str
    after: str | None
    planned_ns: int
    ideal_ns: int
    line_ns: float
    start_ns: int | None
    end_ns: int | None


def has_collectives(plan: Plan) -> bool:
    """Return whether a plan has any collective operation."""
    return any(isinstance(traffic, CollectiveTraffic) for traffic in plan.traffic)


def collective_table(run_dir: Path, plan: Plan, flows: pl.LazyFrame) -> pl.DataFrame:
    """Return a row for each iteration of each collective traffic, with the columns of SCHEMA. `flows`: the run's."""
    asked = asked_flows(read_trace(run_dir).rows, plan)
    rows: list[dict[str, Any]] = []
    for traffic in plan.traffic:
        if isinstance(traffic, CollectiveTraffic):
            transfers = _transfers(traffic.name, asked, flows)
            rows += [_iteration(traffic, number, own) for number, own in sorted(_by_iteration(transfers).items())]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def collective_metrics(table: pl.DataFrame | None, plan: Plan) -> Metrics:
    """Return the metrics of collective operations: means over the complete iterations of each traffic; without brackets
    the largest."""
    names = tuple(metric.name for metric in COLLECTIVE_METRICS if "run" in metric.of)
    if table is None:
        return dict.fromkeys(names)
    metrics: Metrics = {}
    for traffic in plan.traffic:
        if isinstance(traffic, CollectiveTraffic):
            own = table.filter((pl.col("traffic") == traffic.name) & pl.col("time_ns").is_not_null())
            metrics |= {f"{name}[{traffic.name}]": value for name, value in _metrics_of(own).items()}
    return {name: _largest(name, metrics) for name in names} | metrics


def _largest(name: str, metrics: Metrics) -> float | int | None:
    known = [value for key, value in metrics.items() if key.startswith(f"{name}[") and value is not None]
    return max(known, default=None)


def _metrics_of(own: pl.DataFrame) -> Metrics:
    times = own["time_ns"]
    ranks_ns = own["rank_mean_ns"].to_list()
    spans = (own["end_ns"] - own["start_ns"]).to_list()
    return {
        "collective_ns": _mean(times.to_list()),
        "collective_ratio": _mean([time / ideal for time, ideal in own.select("time_ns", "ideal_ns").iter_rows()]),
        "straggler_ratio": _mean([span / mean for span, mean in zip(spans, ranks_ns, strict=True)]),
        "algorithm_bps": _mean(own["algorithm_bps"].drop_nulls().to_list()),
        "bus_bps": _mean(own["bus_bps"].drop_nulls().to_list()),
    }


def _mean(values: Sequence[float]) -> float | None:
    return exact_sum(pl.Series(values, dtype=pl.Float64).to_numpy()) / len(values) if values else None


def _transfers(name: str, asked: pl.LazyFrame, flows: pl.LazyFrame) -> Iterator[_Transfer]:
    """Yield the flows of a traffic in trace order, in which each is behind what it waits for."""
    went = flows.select("flow", "start_ns", pl.when(pl.col("status") == "complete").then("end_ns").alias("end_ns"))
    columns = _Transfer._fields[:8]
    rows = asked.filter(pl.col("class") == name).select(columns).join(went, on="flow", how="left")
    for row in rows.collect().sort("flow").select(_Transfer._fields).iter_rows():
        yield _Transfer(*row)


def _by_iteration(transfers: Iterator[_Transfer]) -> dict[int, list[_Transfer]]:
    """Return the transfers of each iteration: the second part of their groups' names."""
    iterations: dict[int, list[_Transfer]] = defaultdict(list)
    for transfer in transfers:
        iterations[int(transfer.group.split("/", 2)[1])].append(transfer)
    return iterations


def _iteration(traffic: CollectiveTraffic, number: int, transfers: list[_Transfer]) -> dict[str, Any]:
    """Return the row of an iteration."""
    inside_ns = _inside_ns(traffic)
    row: dict[str, Any] = dict.fromkeys(SCHEMA) | {
        "traffic": traffic.name,
        "iteration": number,
        "start_ns": min((one.start_ns for one in transfers if one.start_ns is not None), default=None),
        "ideal_ns": _ideal_ns(f"{traffic.name}/{number}/", transfers) + inside_ns,
    }
    if any(one.end_ns is None or one.start_ns is None for one in transfers):
        return row
    start_ns, ends = row["start_ns"], _rank_ends(traffic, transfers)
    last = max(ends, key=lambda host: ends[host])
    late = max(_critical(transfers), key=lambda one: _late_ns(one))
    time_ns = ends[last] - start_ns + inside_ns
    bandwidth = 8 * traffic.size_bytes * _NS / time_ns
    factor = _bus_factor(traffic)
    return row | {
        "end_ns": ends[last],
        "time_ns": time_ns,
        "algorithm_bps": None if factor is None else bandwidth,
        "bus_bps": None if factor is None else bandwidth * factor,
        "last_rank": traffic.ranks.index(last),
        "last_host": last,
        "rank_mean_ns": sum(end - start_ns for end in ends.values()) / len(ends),
        "late_flow": late.flow,
        "late_src": late.src,
        "late_dst": late.dst,
        "late_ns": _late_ns(late),
    }


def _rank_ends(traffic: CollectiveTraffic, transfers: Sequence[_Transfer]) -> dict[str, int]:
    """Return when each rank that receives anything had received everything, in the order of the ranks."""
    ends: dict[str, int] = {}
    for one in transfers:
        ends[one.dst] = max(ends.get(one.dst, 0), one.end_ns or 0)
    return {host: ends[host] for host in traffic.ranks if host in ends}


def _inside_ns(traffic: CollectiveTraffic) -> int:
    """Return what an iteration takes within servers before its first transfer and after its last."""
    if traffic.server is None:
        return 0
    return 2 * traffic.server.ring_ns(-(-traffic.size_bytes // traffic.buckets))


def _bus_factor(traffic: CollectiveTraffic) -> float | None:
    ranks = len(traffic.ranks)
    share = (ranks - 1) / ranks
    return {"all-reduce": 2 * share, "broadcast": 1.0, "reduce": 1.0, "pipeline": None}.get(traffic.operation, share)


# -- The idle fabric -------------------------------------------------------------------------------


def _ideal_ns(iteration: str, transfers: Sequence[_Transfer]) -> int:
    return max(_longest_path_ns(iteration, transfers), _busiest_line_ns(transfers))


def _longest_path_ns(iteration: str, transfers: Sequence[_Transfer]) -> int:
    """Return how long the iteration takes if each transfer is as quick as alone. What it begins with, each rank's
    computation, counts from the first transfer's start."""
    ends: dict[str, int] = {}
    first_ns: int | None = None
    for one in transfers:
        waits = awaited(one.after or "")
        # Of what was before the iteration, or the epoch, the delay alone counts.
        ready = [ends.get(wait.group, 0) + wait.delay_ns for wait in waits if wait.group.startswith(iteration)]
        ready += [wait.delay_ns for wait in waits if not wait.group.startswith(iteration)]
        start_ns = max(ready, default=one.planned_ns)
        first_ns = start_ns if first_ns is None else min(first_ns, start_ns)
        for group in _path(one.group):
            ends[group] = max(ends.get(group, 0), start_ns + one.ideal_ns)
    return max(ends.values(), default=0) - (first_ns or 0)


def _path(group: str) -> Iterator[str]:
    while "/" in group:
        yield group
        group = group.rpartition("/")[0]


def _busiest_line_ns(transfers: Sequence[_Transfer]) -> int:
    lines: dict[tuple[str, str], float] = defaultdict(float)
    beside: dict[tuple[str, str], float] = {}
    for one in transfers:
        for end in (("sends", one.src), ("receives", one.dst)):
            lines[end] += one.line_ns
            waits = one.ideal_ns - one.line_ns
            beside[end] = min(beside.get(end, waits), waits)
    return round(max((line + beside[end] for end, line in lines.items()), default=0))


# -- Who was late ----------------------------------------------------------------------------------


def _late_ns(one: _Transfer) -> int:
    return (one.end_ns or 0) - (one.start_ns or 0) - one.ideal_ns


def _critical(transfers: Sequence[_Transfer]) -> Iterator[_Transfer]:
    """Yield the transfers that the last one waited for, each the one that let the next start, from the last on."""
    last_of: dict[str, _Transfer] = {}
    for one in transfers:
        for group in _path(one.group):
            if group not in last_of or (one.end_ns or 0) > (last_of[group].end_ns or 0):
                last_of[group] = one
    current: _Transfer | None = max(transfers, key=lambda one: one.end_ns or 0)
    while current is not None:
        yield current
        before = [
            (last_of[wait.group].end_ns or 0, wait.delay_ns, last_of[wait.group])
            for wait in awaited(current.after or "")
            if wait.group in last_of
        ]
        current = max(before, key=lambda found: found[0] + found[1])[2] if before else None
