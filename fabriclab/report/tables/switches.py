"""Tables of switches with a shared buffer: drops by cause, marks and pauses of each port or of each point,
and congestion events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from fabriclab.report.drawing.exhibits import Cell, DataTable, RowGroup
from fabriclab.report.drawing.pools import Measure, PooledRuns, format_interval, format_measure
from fabriclab.report.measured.quantities import format_metric, format_share
from fabriclab.results import Results
from fabriclab.results.switch_metrics import POOL_METRICS
from fabriclab.results.switch_tables import SwitchTables

MOST_PORTS = 64
MOST_EVENTS = 20
MOST_INGRESS = 3
"""Ports that an event names: those that most of it came in by."""
_DIGITS = 4
_OF_PORTS = {
    "queue_drops": "Queue drops",
    "ingress_discards": "Ingress discards",
    "wred_drops": "WRED drops",
    "storm_drops": "Storm drops",
    "trimmed_packets": "Trimmed",
    "trimmed_drops": "Trimmed, dropped",
    "ecn_marks": "ECN marks",
    "pauses_sent": "Pauses sent",
    "pauses_received": "Pauses got",
    "paused_ns": "Paused",
    "congestion_events": "Events",
}
_OF_POINTS = _OF_PORTS | {
    "xoff_ns": "In XOFF",
    "storms": "Storms",
    "pool_max_bytes": "Pool",
    "headroom_max_bytes": "Headroom",
}
_EXPLAINED = (
    "Queue drops are packets dropped at the queue's own limit, in a full pool, or at the limit of the virtual "
    "output queue. Ingress discards are packets dropped at the limit of their priority group, counted at the port "
    "where they came in. Paused is the time for which queues were stopped, summed over the queues. Events is the "
    "number of times that a queue reached its `event` length."
)


def switch_port_table(results: Results) -> DataTable:
    """Return a row for each sampled switch port, and for a host's that was paused or sent pauses;
    without rows where nobody sampled."""
    sampled = results.plan.probes.switch_ports
    peers = _peers(results)
    hosts = results.plan.host_names
    longest, headroom = (
        _most(results.switches, "queues", "watermark_bytes"),
        _most(results.switches, "groups", "headroom_bytes"),
    )
    values: dict[str, dict[str, float | int | None]] = {}
    for port in sampled if results.switches.is_sampled else ():
        values[port] = {name: results.summary.get(f"{name}[{port}]") for name in _OF_PORTS}
        values[port] |= {"longest_bytes": longest.get(port), "headroom_bytes": headroom.get(port)}
    shown = {port: row for port, row in values.items() if port.partition(":")[0] not in hosts or _has_pauses(row)}
    columns = {"longest_bytes": "Longest queue", **_OF_PORTS, "headroom_bytes": "Headroom"}
    columns = {
        name: title
        for name, title in columns.items()
        if name == "queue_drops" or any(row[name] for row in shown.values())
    }
    rows = {
        port: [
            Cell(port),
            Cell(peers.get(port, "–")),
            *(Cell(format_metric(name, row[name], _DIGITS)) for name in columns),
        ]
        for port, row in list(shown.items())[:MOST_PORTS]
    }
    of_hosts = [row for port, row in rows.items() if port.partition(":")[0] in hosts]
    of_switches = [row for port, row in rows.items() if port.partition(":")[0] not in hosts]
    groups = [RowGroup("", of_switches)] + (
        [RowGroup("Hosts that paused or were paused", of_hosts)] if of_hosts else []
    )
    caption = _EXPLAINED + (
        " Headroom is the largest sample of a priority group." if "headroom_bytes" in columns else ""
    )
    caption += f" {len(shown) - MOST_PORTS} more ports are in the data." if len(shown) > MOST_PORTS else ""
    return DataTable(
        "Switch ports", caption, ["Port", "Leads to", *columns.values()], [False, False, *[True] * len(columns)], groups
    )


def switch_point_table(pools: Sequence[PooledRuns]) -> DataTable:
    """Return a row for each pool: all its switches together; without rows where nobody sampled or nothing happened."""
    sampled = [pool for pool in pools if any(run.switches.is_sampled for run in pool.runs)]
    measures = {(place, name): _measure(pool, name) for place, pool in enumerate(sampled) for name in _OF_POINTS}
    columns = {
        name: title
        for name, title in _OF_POINTS.items()
        if any(measures[place, name].value for place in range(len(sampled)))
    }
    rows = []
    for place, pool in enumerate(sampled if columns else ()):
        found = [(name, measures[place, name]) for name in columns]
        cells = [Cell(format_measure(name, measure, _DIGITS), _interval(name, measure)) for name, measure in found]
        rows.append([Cell(pool.label), *cells])
    repeated = (
        " The numbers are means over the seeds. Small numbers are 95 % intervals, made by resampling the runs."
        if any(len(pool.runs) > 1 for pool in sampled)
        else ""
    )
    memory = (
        " Pool and headroom are the largest amounts in use, of the pool that held most."
        if "pool_max_bytes" in columns
        else ""
    )
    caption = f"The numbers are sums over all sampled switch ports. {_EXPLAINED}{memory}{repeated}"
    return DataTable(
        "What the switches did",
        caption,
        ["", *columns.values()],
        [False, *[True] * len(columns)],
        [RowGroup("", rows)],
    )


def _measure(pool: PooledRuns, metric: str) -> Measure:
    """Return a metric of all switches together; of memory that of the pool that held most."""
    if metric not in POOL_METRICS:
        return pool.measure(metric)
    names = dict.fromkeys(name for run in pool.runs for name in run.summary if name.startswith(f"{metric}["))
    known = [measure for name in names if (measure := pool.measure(name)).value is not None]
    return max(known, key=lambda measure: measure.value or 0.0, default=Measure(None))


def _interval(metric: str, measure: Measure) -> str:
    """Return the interval; nothing where all runs measured the same."""
    return format_interval(metric, measure) if measure.low != measure.high else ""


def congestion_event_table(results: Results) -> DataTable:
    """Return the congestion events with the largest peaks, in the order of time, and which ports they came in by."""
    headings, numbers = (
        ["Start", "Lasted", "Port", "Queue", "Peak", "Came in by"],
        [True, True, False, True, True, False],
    )
    events = results.switches.events
    rows = events.collect(engine="streaming") if events is not None else pl.DataFrame()
    if rows.is_empty():
        return DataTable("Congestion events", "", headings, numbers, [])
    order = ["start_ns", "port", "queue"]
    shown = rows.sort("peak_bytes", *order, descending=[True, False, False, False]).head(MOST_EVENTS).sort(order)
    peers = _peers(results)
    cells = [_event_row(row, peers) for row in shown.iter_rows(named=True)]
    caption = (
        "An event begins when a queue reaches its `event` length, and ends at half of that length. The last column "
        "has the queue's bytes by the port where they came in."
    )
    if rows.height > MOST_EVENTS:
        caption += f" The table has the {MOST_EVENTS} largest of {rows.height:,} events."
    return DataTable("Congestion events", caption, headings, numbers, [RowGroup("", cells)])


def _event_row(row: Mapping[str, Any], peers: Mapping[str, str]) -> list[Cell]:
    lasted = "to the end" if row["end_ns"] is None else format_metric("_ns", row["end_ns"] - row["start_ns"], _DIGITS)
    start, peak = format_metric("_ns", row["start_ns"], 6), format_metric("_bytes", row["peak_bytes"], _DIGITS)
    ingress = _ingress(row["ingress"] or "", row["port"].partition(":")[0], peers)
    return [Cell(start), Cell(lasted), Cell(row["port"]), Cell(str(row["queue"])), Cell(peak), Cell(ingress)]


def _ingress(text: str, node: str, peers: Mapping[str, str]) -> str:
    """Return `eth3 (h3) 60 %, eth1 (h1) 40 %` of `eth1=400;eth3=600`."""
    pairs = [part.rpartition("=") for part in text.split(";") if "=" in part]
    sizes = sorted(((name, int(size)) for name, _, size in pairs), key=lambda pair: (-pair[1], pair[0]))
    total = sum(size for _, size in sizes) or 1
    named = [
        f"{name}{_from(peers.get(f'{node}:{name}'))} {format_share(size / total)}"
        for name, size in sizes[:MOST_INGRESS]
    ]
    rest = len(sizes) - MOST_INGRESS
    return ", ".join(named + ([f"and {rest} more"] if rest > 0 else [])) or "–"


def _from(peer: str | None) -> str:
    return f" ({peer})" if peer is not None else ""


def _has_pauses(row: Mapping[str, float | int | None]) -> bool:
    return any(row[name] for name in ("pauses_sent", "pauses_received", "paused_ns"))


def _peers(results: Results) -> dict[str, str]:
    """Return the node at the other end of each port."""
    return {f"{node.name}:{port.interface}": port.peer_node for node in results.plan.nodes for port in node.ports}


def _most(tables: SwitchTables, field: str, column: str) -> dict[str, int]:
    table: pl.LazyFrame | None = getattr(tables, field)
    if table is None:
        return {}
    most = table.group_by("port").agg(pl.col(column).max().fill_null(0)).collect(engine="streaming")
    return dict(zip(most["port"], most[column], strict=True))
