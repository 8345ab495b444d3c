"""Which ports belong to a shared buffer: a switch's own, and those of the hosts that face it, for a host's NIC honours its pauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabriclab.lab.failures import WrittenPauseStorm
from fabriclab.lab.problems import Problems
from fabriclab.lab.switch.written import WrittenSwitch
from fabriclab.lab.topology import Endpoint, Topology


def shared_ports(topology: Topology, shared: Mapping[str, WrittenSwitch]) -> tuple[str, ...]:
    """Return the ports (`node:interface`) of switches with a shared buffer, and those of hosts that face one, in the order of the file."""
    ports = set()
    for end, peer in _ends(topology):
        if end.node in shared or (end.node in topology.hosts and peer.node in shared):
            ports.add(end.port)
    return tuple(port for port in topology.ports if port in ports)


def check_pause_storm(
    storm: WrittenPauseStorm, topology: Topology, shared: Mapping[str, WrittenSwitch], problems: Problems
) -> None:
    """Record a storm of priorities that no neighbour of the host takes pauses for."""
    neighbours = [peer for end, peer in _ends(topology) if end.node == storm.host]
    paused = {
        peer.node: _priorities(shared[peer.node].of(peer.interface)) for peer in neighbours if peer.node in shared
    }
    if any(set(storm.priorities.value) <= set(priorities) for priorities in paused.values()):
        return
    for name, priorities in paused.items():
        if priorities:
            message = (
                f"switch {name} takes pauses of priorities {', '.join(map(str, priorities))} only; write some of these"
            )
            storm.priorities.complain(problems, message)
            return
    names = ", ".join(dict.fromkeys(peer.node for peer in neighbours))
    message = (
        f"{storm.host} faces {names}, which takes no pauses; write a profile with pfc: {{priorities: [3, 4]}} for it"
    )
    storm.priorities.complain(problems, message)


def _priorities(switch: WrittenSwitch) -> tuple[int, ...]:
    pfc = switch.buffer.pfc
    return () if pfc is None or pfc.priorities is None else pfc.priorities.value


def _ends(topology: Topology) -> Iterator[tuple[Endpoint, Endpoint]]:
    for link in topology.links:
        yield link.a, link.b
        yield link.b, link.a
