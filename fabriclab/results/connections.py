"""The TCP connections of hosts, as the kernel saw them when they ended: the table `connections`.

Each end of a connection that was watched has a row: of one between two watched hosts there are two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from fabriclab.formats import client_ports
from fabriclab.formats.logs import CONNECTIONS as LOG
from fabriclab.formats.plan import Plan
from fabriclab.formats.run_directory import HOSTS_FILE, RAW
from fabriclab.registry.applications import applications_of
from fabriclab.results.csv_logs import scan_csv

CONNECTIONS = "connections"
"""The table: the columns of its log, with `peer` (the other end's node), `server_port` and `phase`."""
COLUMNS = (
    *("end_ns", "node", "address", "port", "peer", "peer_address", "peer_port", "server_port", "phase", "state"),
    *tuple(LOG.columns)[7:],
)
_LOSS = re.compile(
    r"^sampler: connections: (?P<number>\d+) sockets of (?P<node>\S+) that were closed are missing", re.MULTILINE
)
Row = dict[str, Any]
End = tuple[str, int]


class Servers(Protocol):
    """The servers of an application's cluster, which tell what a connection was for. A node is of one cluster."""

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes of the cluster."""

    @property
    def ports(self) -> Collection[int]:
        """The ports of servers that are known."""

    def phase(self, row: Row) -> str:
        """Return what a connection between two nodes of the cluster was for; the row has its `server_port`."""


def read_connections(run_dir: Path, plan: Plan) -> tuple[pl.DataFrame, list[str]]:
    """Return the table of a plan that has the probe, and notes on what there is not.

    Raises ResultsError, with file and line, for a file that the sampler did not write.
    """
    name = f"{RAW}/{CONNECTIONS}.csv"
    scan = scan_csv(run_dir / name, LOG, name)
    rows = scan.rows.collect().to_dicts()
    nodes = _nodes_by_address(run_dir / HOSTS_FILE)
    clusters: list[Servers] = [
        cluster
        for application in applications_of(plan)
        for cluster in application.load("results.connections").servers_of(plan)
    ]
    many = _connections_of(rows)
    for row in rows:
        is_within = row["peer_address"] == row["address"] or row["peer_address"].startswith("127.")
        row["peer"] = row["node"] if is_within or row["peer_address"] == "::1" else nodes.get(row["peer_address"])
        ends = {row["node"], row["peer"]}
        cluster = next((each for each in clusters if each.nodes.issuperset(ends)), None)
        row["server_port"] = _server_port(row, many, () if cluster is None else cluster.ports)
        row["phase"] = None if cluster is None else cluster.phase(row)
    schema = {column: pl.String if LOG.columns.get(column, "text") == "text" else pl.Int64 for column in COLUMNS}
    schema["server_port"] = pl.Int64
    lost = [f"{CONNECTIONS}: {number} closed sockets of {node} are missing" for node, number in losses(run_dir)]
    return pl.DataFrame(rows, schema=schema), [*scan.notes, *lost]


def losses(run_dir: Path) -> Iterator[tuple[str, int]]:
    """Yield the nodes of which the sampler was not told all, by its own log: it is told how many sockets it was not."""
    for log in sorted((run_dir / "logs").glob("sampler*.log")):
        for found in _LOSS.finditer(log.read_text(encoding="utf-8", errors="replace")):
            yield found["node"], int(found["number"])


def _nodes_by_address(hosts: Path) -> dict[str, str]:
    """Return the nodes of the addresses of `hosts.csv`, of both families."""
    lines = hosts.read_text(encoding="utf-8").splitlines()[2:] if hosts.is_file() else []
    return {address: node for node, *addresses in (line.split(",") for line in lines) for address in addresses}


def _ends(row: Row) -> tuple[End, End]:
    return (row["address"], row["port"]), (row["peer_address"], row["peer_port"])


def _connections_of(rows: list[Row]) -> Counter[End]:
    """Return how many connections each end had: a server's port has many."""
    return Counter(end for pair in {frozenset(_ends(row)) for row in rows} for end in pair)


def _server_port(row: Row, many: Mapping[End, int], known: Collection[int]) -> int:
    """Return the port that was connected to. The kernel does not tell; it is the one of a server that is known, the one
    from which no client connects, the one that has more connections, the smaller one: the first of these that is so."""
    ports: tuple[int, int] = (row["port"], row["peer_port"])
    for is_server in (known.__contains__, _is_no_client_s):
        servers = [port for port in ports if is_server(port)]
        if len(servers) == 1:
            return servers[0]
    own, other = (many[end] for end in _ends(row))
    return min(ports) if own == other else ports[own < other]


def _is_no_client_s(port: int) -> bool:
    return not client_ports.FIRST <= port <= client_ports.LAST
