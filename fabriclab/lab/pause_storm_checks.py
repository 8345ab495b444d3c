"""Whether a pause storm reaches somebody: a neighbour of the host that takes pauses of its priorities."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.lab.failures import WrittenPauseStorm
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.switch.facing_ports import facing_ends
from fabriclab.lab.switch.written import WrittenSwitch


def check_pause_storm(
    storm: WrittenPauseStorm, topology: Topology, shared: Mapping[str, WrittenSwitch], problems: Problems
) -> None:
    """Record a storm of priorities that no neighbour of the host takes pauses for."""
    neighbours = [peer for end, peer in facing_ends(topology) if end.node == storm.host]
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
