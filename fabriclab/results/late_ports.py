"""Why a collective's late transfer was late: the port on its ways that held most meanwhile, and the one that was paused
longest.

Its ways are all shortest paths, for a switch may choose for each packet. What a port held is the mean over the
transfer's time, all its queues together. Needs samples of the switches' queues, and routes that follow from the
topology; without them there is no cause.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.turns import turns
from fabriclab.results.queue_series import Series, queue_series

CAUSES: Mapping[str, Any] = {
    "late_port": pl.String,
    "late_queue_bytes": pl.Float64,
    "late_paused_port": pl.String,
    "late_paused_ns": pl.Int64,
}
"""Null where nothing was held or paused, or nobody sampled it."""

_Queues = Mapping[str, list[Series]]
"""The queues of each port."""


def with_causes(table: pl.DataFrame, plan: Plan, flows: pl.LazyFrame, queues: pl.LazyFrame | None) -> pl.DataFrame:
    """Return the table of collectives with the columns of CAUSES. `flows` and `queues`: the run's."""
    late = table["late_flow"].drop_nulls()
    times = flows.filter(pl.col("flow").is_in(late.implode())).select("flow", "start_ns", "end_ns").collect()
    lasted = {flow: (start_ns, end_ns) for flow, start_ns, end_ns in times.iter_rows()}
    sampled = _by_port(queues)
    rows = [
        {}
        if row["late_flow"] is None
        else _cause(plan, row["late_src"], row["late_dst"], *lasted[row["late_flow"]], sampled)
        for row in table.iter_rows(named=True)
    ]
    return table.hstack(pl.DataFrame([dict.fromkeys(CAUSES) | row for row in rows], schema=CAUSES, orient="row"))


def _by_port(queues: pl.LazyFrame | None) -> _Queues:
    found: dict[str, list[Series]] = defaultdict(list)
    for (port, _), series in queue_series(queues, "queue", ("bytes", "paused_ns")).items():
        found[port].append(series)
    return found


def _cause(plan: Plan, src: str, dst: str, start_ns: int, end_ns: int, sampled: _Queues) -> dict[str, Any]:
    """Return what was in the way of a transfer, of what was sampled."""
    ports = _ways(plan, src, dst) & sampled.keys()
    if end_ns <= start_ns or plan.configured is not None:
        return {}

    def held(port: str) -> float:
        return sum(one.mean(start_ns, end_ns, "bytes") for one in sampled[port])

    def paused(port: str) -> int:
        return max(one.grown("paused_ns", start_ns, end_ns) for one in sampled[port])

    port, held_bytes = _most(ports, held)
    paused_port, paused_ns = _most(ports, paused)
    return dict(zip(CAUSES, (port, held_bytes, paused_port, paused_ns), strict=True))


def _ways(plan: Plan, src: str, dst: str) -> frozenset[str]:
    """Return the ports that a packet may leave by on its way, the sender's own among them."""
    own = {f"{src}:{port.interface}" for port in plan.node(src).ports}
    return frozenset(own).union(*turns(plan.nodes, plan.events, [(src, dst)]).values())


def _most(ports: Iterable[str], amount: Callable[[str], Any]) -> tuple[str | None, Any]:
    """Return the port with the most and how much that is, the first by name among equals; None where all have none."""
    amounts = {port: amount(port) for port in sorted(ports)}
    port = max(amounts, key=lambda name: amounts[name], default=None)
    return (None, None) if port is None or not amounts[port] else (port, amounts[port])
