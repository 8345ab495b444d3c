"""Which ports belong to a shared buffer: a switch's own, and those of the hosts that face it,
for a host's NIC honours its pauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabriclab.lab.network.topology import Endpoint, Topology
from fabriclab.lab.switch.written import WrittenSwitch


def shared_ports(topology: Topology, shared: Mapping[str, WrittenSwitch]) -> tuple[str, ...]:
    """Return the ports (`node:interface`) of switches with a shared buffer, and those of hosts that face one,
    in the order of the file."""
    ports = set()
    for end, peer in facing_ends(topology):
        if end.node in shared or (end.node in topology.hosts and peer.node in shared):
            ports.add(end.port)
    return tuple(port for port in topology.ports if port in ports)


def facing_ends(topology: Topology) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Yield each end of every link with the end that it faces."""
    for link in topology.links:
        yield link.a, link.b
        yield link.b, link.a
