"""What connections between the nodes of a cluster were for: the column `phase` of the table `connections`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.hadoop.ports import BLOCKS, ports_of


@dataclass(frozen=True)
class HadoopServers:
    """The servers of a cluster (`fabriclab.results.connections.Servers`)."""

    nodes: frozenset[str]
    ports: Mapping[int, str]
    """What each is for."""

    def phase(self, row: Mapping[str, Any]) -> str:
        """Return what a connection was for. Blocks of HDFS are read where the data node sends, else written."""
        phase = self.ports.get(row["server_port"], "other")
        if phase != BLOCKS:
            return phase
        sent, received = row["bytes_sent"] - row["retransmitted_bytes"], row["bytes_received"]
        is_data_node = row["port"] == row["server_port"]
        return "hdfs-read" if (sent > received) == is_data_node and sent != received else "hdfs-write"


def servers_of(plan: Plan) -> Iterator[HadoopServers]:
    """Yield the servers of each of a plan's clusters."""
    for traffic in plan.traffic:
        if isinstance(traffic, HadoopTraffic):
            yield HadoopServers(traffic.program_nodes(), ports_of(dict(traffic.settings)))
