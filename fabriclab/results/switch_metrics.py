"""The summary's metrics of switches with a shared buffer (definitions: `fabriclab.formats.metrics`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from fabriclab.formats.metrics import SWITCHES, names
from fabriclab.formats.plan import Plan
from fabriclab.results.flow_metrics import Metric, Metrics
from fabriclab.results.switch_tables import SwitchTables

DROP_CAUSES = (
    *("dropped_queue_limit", "dropped_queue_pool", "dropped_ingress", "dropped_voq"),
    *("dropped_wred", "dropped_storm", "dropped_reset"),
)
"""Why a queue did not get a packet: columns of the table of queues."""
QUEUE_DROPS = ("dropped_queue_limit", "dropped_queue_pool", "dropped_voq")
"""The causes that count as drops of a queue: its own limit, its pool's end,
the limit of its ingress port's virtual output queue."""
QUEUE_METRICS = names(SWITCHES, "queue")
"""Metrics that a run has as a whole, and for each port and each queue."""
PORT_METRICS = tuple(name for name in names(SWITCHES, "switch-port") if name not in QUEUE_METRICS)
"""Metrics that a run has as a whole, and for each port."""
POOL_METRICS = names(SWITCHES, "pool")
"""Metrics of each pool; the run's own is that of the pool with the most."""
TRIMMING_METRICS = ("trimmed_packets", "trimmed_bytes", "trimmed_drops")
"""Of these the table of trimming has the counters, under the same names."""
_ONLY_QUEUES = tuple(name for name in QUEUE_METRICS if name != "pauses_received")
"""What a port has as the sum of its queues'; a pause that it received may stop several of them."""

Place = tuple[Any, ...]
Totals = dict[str, dict[Place, int]]
"""By metric, then by place: `(port,)`, or `(port, queue)`."""


def switch_metrics(tables: SwitchTables, plan: Plan) -> Metrics:
    """Return the metrics of a run's switches; all are None in a run that samples none."""
    metrics: Metrics = dict.fromkeys((*QUEUE_METRICS, *PORT_METRICS, *POOL_METRICS))
    ports, switches = plan.probes.switch_ports, plan.switch_names
    of_queues = queue_totals(tables)
    of_ports = _port_totals(tables, of_queues)
    for name, totals in of_ports.items():
        # A host's pauses are what it asked of its switch: the switch's counters have them already.
        metrics[name] = _sum(totals.get((port,)) for port in ports if port.partition(":")[0] in switches)
        metrics |= {f"{name}[{port}]": totals.get((port,)) for port in ports}
    for name, totals in of_queues.items():
        metrics |= {f"{name}[{port}:{queue}]": total for (port, queue), total in sorted(totals.items())}
    return metrics | _pool_metrics(tables.pools, plan)


def queue_totals(tables: SwitchTables) -> Totals:
    """Return each QUEUE_METRICS by port and queue; empty without samples."""
    if tables.queues is None:
        return {}
    drops = sum((pl.col(name) for name in QUEUE_DROPS), start=pl.lit(0))
    counters = {
        "queue_drops": drops,
        "wred_drops": pl.col("dropped_wred"),
        "storm_drops": pl.col("dropped_storm"),
        "ecn_marks": pl.col("marked_wred") + pl.col("marked_phantom"),
        **{name: pl.col(name) for name in ("pauses_received", "paused_ns", "storms")},
    }
    return counter_totals(tables.queues, ("port", "queue"), counters) | _trimming_totals(tables)


def _trimming_totals(tables: SwitchTables) -> Totals:
    if tables.trimming is None:
        return {}
    return counter_totals(tables.trimming, ("port", "queue"), {name: pl.col(name) for name in TRIMMING_METRICS})


def drop_totals(tables: SwitchTables) -> Totals:
    """Return dropped packets by cause (DROP_CAUSES), then by port and queue; empty without samples."""
    if tables.queues is None:
        return {}
    return counter_totals(tables.queues, ("port", "queue"), {cause: pl.col(cause) for cause in DROP_CAUSES})


def counter_totals(rows: pl.LazyFrame, keys: Sequence[str], counters: Mapping[str, pl.Expr]) -> Totals:
    """Return by how much each counter grew from time 0 on, by name and place.

    What was first sampled later began at 0.
    """
    # Counters only grow, so that the greatest value is the last, and rows of empty values (the port was gone) don't
    # count.
    before = {name: pl.when(pl.col("time_ns") <= 0).then(value).max().fill_null(0) for name, value in counters.items()}
    grown = [(value.max().fill_null(0) - before[name]).alias(name) for name, value in counters.items()]
    table = rows.group_by(*keys).agg(*grown).collect(engine="streaming")
    places = list(table.select(*keys).iter_rows())
    return {name: dict(zip(places, table[name].to_list(), strict=True)) for name in counters}


def _port_totals(tables: SwitchTables, of_queues: Totals) -> Totals:
    totals: Totals = {name: _by_port(of_queues[name]) for name in _ONLY_QUEUES if name in of_queues}
    if tables.ports is not None:
        counters = {name: pl.col(name) for name in ("pauses_sent", "pauses_received")}
        totals |= counter_totals(tables.ports, ("port",), counters)
        sampled = totals["pauses_sent"]
        # Lossy ports have no groups and quiet ones no events: none is a number there, too.
        totals["congestion_events"] = dict.fromkeys(sampled, 0) | _events(tables.events)
        totals |= {name: dict.fromkeys(sampled, 0) | of_port for name, of_port in _group_totals(tables.groups).items()}
    return totals


def _group_totals(groups: pl.LazyFrame | None) -> Totals:
    if groups is None:
        return {}
    totals = counter_totals(
        groups, ("port", "group"), {"ingress_discards": pl.col("discards"), "xoff_ns": pl.col("xoff_ns")}
    )
    return {name: _by_port(total) for name, total in totals.items()}


def _events(events: pl.LazyFrame | None) -> dict[Place, int]:
    if events is None:
        return {}
    counts = events.group_by("port").agg(pl.len().cast(pl.Int64).alias("events")).collect(engine="streaming")
    return {(row["port"],): row["events"] for row in counts.iter_rows(named=True)}


def _by_port(totals: dict[Place, int]) -> dict[Place, int]:
    ports: dict[Place, int] = {}
    for (port, _), total in totals.items():
        ports[port,] = ports.get((port,), 0) + total
    return ports


def _pool_metrics(pools: pl.LazyFrame | None, plan: Plan) -> Metrics:
    """Return the most that was in use of each pool and of its headroom, which the switch itself
    keeps: no sample misses it."""
    if pools is None:
        return {}
    most = {
        "pool_max_bytes": pl.col("watermark_bytes").max(),
        "headroom_max_bytes": pl.col("headroom_watermark_bytes").max(),
    }
    table = pools.group_by("switch", "pool").agg(**most).collect(engine="streaming")
    found = {(row["switch"], row["pool"]): row for row in table.iter_rows(named=True)}
    metrics: Metrics = {}
    for switch, index, pool in plan_pools(plan):
        row = found.get((switch, index))
        if row is not None:
            metrics |= {f"{name}[{switch}:{pool}]": row[name] for name in POOL_METRICS}
            metrics |= {name: max(row[name], metrics.get(name) or 0) for name in POOL_METRICS}
    return metrics


def plan_pools(plan: Plan) -> list[tuple[str, int, str]]:
    """Return switch, index and name of every pool of a plan."""
    return [
        (node.name, index, pool.name)
        for node in plan.nodes
        if node.switch is not None
        for index, pool in enumerate(node.switch.pools)
    ]


def _sum(values: Iterable[Metric]) -> Metric:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
