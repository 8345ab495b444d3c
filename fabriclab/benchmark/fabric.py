"""What a benchmark knows of a lab: its ranks, their lines, and the links between switches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from fabriclab.errors import ArgumentError
from fabriclab.formats.framing import AROUND_MTU_BYTES, ROCE_CRC_BYTES, ROCE_HEADER_BYTES
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.plan.roce import Roce
from fabriclab.formats.plan.traffic import Carrier

_TCP_SHARE = 1448 / 1538


@dataclass(frozen=True)
class Fabric:
    """A plan as the fabric that is tested."""

    plan: Plan

    @classmethod
    def of(cls, plan: Plan) -> Fabric:
        """Return the fabric of a plan. Raises ArgumentError for one that can't be tested."""
        fabric = cls(plan)
        if len(fabric.hosts) < 2:
            raise ArgumentError("the benchmark needs two hosts at least, and the lab has {0}", str(len(fabric.hosts)))
        if plan.configured is not None:
            raise ArgumentError("the benchmark can't run on a lab whose nodes bring their own addresses and routes")
        return fabric

    @property
    def hosts(self) -> list[Node]:
        """The hosts, a rank each, in the plan's order."""
        return [node for node in self.plan.nodes if node.role == "host" and node.ports]

    @property
    def ranks(self) -> tuple[str, ...]:
        """The names of the hosts."""
        return tuple(host.name for host in self.hosts)

    @property
    def roce(self) -> Roce | None:
        """The RoCE of all NICs; None where one has none, or another."""
        nics = [host.ports[0].nic for host in self.hosts]
        found = [nic.roce for nic in nics if nic is not None and nic.roce is not None]
        alike = len(found) == len(nics) and all(one == other for one, other in pairwise(found))
        return found[0] if alike and found else None

    @property
    def carrier(self) -> Carrier:
        """What carries the benchmark's flows: RoCE where all NICs have it, else TCP."""
        return Carrier(transport="roce") if self.roce is not None else Carrier()

    @property
    def line_bps(self) -> int:
        """The rate of the slowest host's line."""
        return min(host.ports[0].rate_bps for host in self.hosts)

    @property
    def payload_share(self) -> float:
        """The share of a line that full packets have for data."""
        if self.roce is None:
            return _TCP_SHARE
        around = ROCE_HEADER_BYTES + ROCE_CRC_BYTES + AROUND_MTU_BYTES
        return self.roce.mtu / (self.roce.mtu + around)

    def uplinks(self) -> list[tuple[Node, Port]]:
        """Return the ports of switches with hosts towards other switches."""
        leaves = {host.ports[0].peer_node for host in self.hosts}
        return [
            (node, port)
            for node in self.plan.nodes
            if node.name in leaves
            for port in node.ports
            if self.plan.node(port.peer_node).role == "switch"
        ]

    @property
    def bisection_bps(self) -> float:
        """What hosts of different leaves can send to each other at once, all together, in bit/s."""
        lines = sum(host.ports[0].rate_bps for host in self.hosts)
        uplinks = sum(port.rate_bps for _, port in self.uplinks())
        return min(lines, uplinks) if uplinks else lines
