"""A plan's switch as its checks take it: each port with its line, both directions."""

from __future__ import annotations

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port
from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.headroom import Line


def checked_ports(node: Node, plan: Plan) -> tuple[CheckedPort, ...]:
    """Return the ports of a switch with a shared buffer, in the plan's order."""
    return tuple(
        CheckedPort(port.interface, _line(port, plan.peer_of(port)), port.switch_port)
        for port in node.ports
        if port.switch_port is not None
    )


def _line(port: Port, peer: Port) -> Line:
    pfc = peer.switch_port.pfc if peer.switch_port is not None else None
    return Line(
        out_rate_bps=port.rate_bps,
        out_delay_ns=port.delay_ns,
        in_rate_bps=peer.rate_bps,
        in_delay_ns=peer.delay_ns,
        mtu=port.mtu,
        honoured=pfc.priorities if pfc is not None else (),
        reaction_ns=pfc.reaction_ns if pfc is not None else 0,
    )
