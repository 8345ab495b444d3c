"""How far each NIC's clock is off: no two oscillators are equal, so no two lines are in step for ever.

With equal clocks a sender at the rate of the port that it fills arrives at the same phase of that port's line for ever.
Where each of its frames finds the place that one has just left, it takes the whole buffer, and other flows get nothing
(traffic phase effects: Floyd and Jacobson, On traffic phase effects in packet-switched gateways, 1992).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from fabriclab.formats.plan.node import Node, Port
from fabriclab.lab.hosts.keys import NIC_CLOCK_ERROR
from fabriclab.lab.hosts.nic import WrittenNic
from fabriclab.lab.hosts.transport import WrittenTransport

_BYTES = 8


def draw_clocks(nodes: Sequence[Node], hosts: Mapping[str, WrittenTransport], seed: int) -> tuple[Node, ...]:
    """Return the nodes, the clock of each host's NIC as far off as the seed draws it."""
    errors = {name: NIC_CLOCK_ERROR.or_default((host.nic or WrittenNic()).clock_error) for name, host in hosts.items()}
    return tuple(_with_clocks(node, errors[node.name], seed) if errors.get(node.name) else node for node in nodes)


def _with_clocks(node: Node, most_ppb: int, seed: int) -> Node:
    return node.model_copy(update={"ports": tuple(_drawn(node.name, port, most_ppb, seed) for port in node.ports)})


def _drawn(node: str, port: Port, most_ppb: int, seed: int) -> Port:
    """Return the port with a clock that is off by up to `most_ppb` to either side, evenly distributed."""
    if port.nic is None:
        return port
    lot = hashlib.blake2b(f"{seed} clock {node}:{port.interface}".encode(), digest_size=_BYTES).digest()
    offset = int.from_bytes(lot, "big") * (2 * most_ppb + 1) >> 8 * _BYTES
    return port.model_copy(update={"nic": port.nic.model_copy(update={"clock_ppb": offset - most_ppb})})
