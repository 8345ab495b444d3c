"""The TCP connections of a run's hosts (probe `connections`), by the port that was connected to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from fabriclab.report.drawing.exhibits import Cell, DataTable, RowGroup
from fabriclab.report.measured.quantities import format_metric, format_share
from fabriclab.results import Results
from fabriclab.units import format_count

_MOST_PORTS = 12
"""Others are one row."""
_HEADINGS = (
    "Port",
    "Server",
    "Connections",
    "Data",
    "Retransmitted segments",
    "Share of data",
    "Got twice",
    "Timeouts",
)
_ABOUT = (
    "The kernel counted what TCP sent until a connection's socket was freed{open}. Both ends are counted. Data are "
    "the bytes of both directions, without headers and retransmissions. The share of data is the share of "
    "retransmitted bytes in all bytes sent. Segments got twice were received twice by the other end (DSACK), so "
    "their retransmission was not needed: most are probes, sent because an acknowledgement was late. If both ports "
    "could be a client's, the port of the server is a guess.{within}"
)
Row = dict[str, Any]


def connection_table(results: Results) -> DataTable | None:
    """Return a row for each port of a server, of Hadoop for each phase; None without the probe."""
    file = results.directory / "connections.parquet"
    if not file.exists():
        return None
    every = pl.read_parquet(file).to_dicts()
    rows = [row for row in every if row["node"] != row["peer"]]
    within = _connections(row for row in every if row["node"] == row["peer"])
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["phase"] or str(row["server_port"])].append(row)
    named = dict(sorted(groups.items(), key=lambda group: -_data(group[1], results)))
    shown = dict(list(named.items())[:_MOST_PORTS])
    rest = [row for name, own in named.items() if name not in shown for row in own]
    if rest:
        shown[f"{len(named) - _MOST_PORTS} others"] = rest
    open_ones = sum(row["state"] == "open" for row in rows)
    said = {
        "open": f", or until the run was over ({format_count(open_ones, 'end')})" if open_ones else "",
        "within": f" The table leaves out {format_count(within, 'connection')} within a node." if within else "",
    }
    cells = [_cells(name, own, results) for name, own in shown.items()]
    numbers = [name not in ("Port", "Server") for name in _HEADINGS]
    return DataTable("TCP connections", _ABOUT.format_map(said), list(_HEADINGS), numbers, [RowGroup("", cells)])


def _cells(name: str, rows: list[Row], results: Results) -> list[Cell]:
    ports = sorted({row["server_port"] for row in rows})
    told = "" if name == str(ports[0]) else ", ".join(map(str, ports)) if len(ports) < 4 else f"{len(ports)} ports"
    servers = sorted({_server(row) for row in rows})
    sent, again = (sum(row[column] for row in rows) for column in ("bytes_sent", "retransmitted_bytes"))
    return [
        Cell(name, told),
        Cell(servers[0] if len(servers) == 1 else f"{len(servers)} nodes"),
        Cell(f"{_connections(rows):,}"),
        Cell(format_metric("bytes", _data(rows, results))),
        Cell(f"{sum(row['retransmits'] for row in rows):,}"),
        Cell(format_share(again / sent) if sent else "–"),
        Cell(f"{sum(row['duplicates'] for row in rows):,}"),
        Cell(f"{sum(row['timeouts'] for row in rows):,}"),
    ]


def _is_server(row: Mapping[str, Any]) -> bool:
    return bool(row["port"] == row["server_port"])


def _server(row: Mapping[str, Any]) -> str:
    return str(row["node"] if _is_server(row) else row["peer"] or row["peer_address"])


def _connections(rows: Iterable[Row]) -> int:
    """Return how many connections there were: of a pair of ends as many as the one of the two that was seen more."""
    seen: dict[frozenset[tuple[str, int]], list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        ends = frozenset(((row["address"], row["port"]), (row["peer_address"], row["peer_port"])))
        seen[ends][_is_server(row)] += 1
    return sum(map(max, seen.values()))


def _data(rows: Iterable[Row], results: Results) -> int:
    """Return the bytes of data of both directions: what was sent, and what came from who was not watched."""
    watched = results.plan.probes.connection_hosts
    return sum(
        row["bytes_sent"] - row["retransmitted_bytes"] + (0 if row["peer"] in watched else row["bytes_received"])
        for row in rows
    )
