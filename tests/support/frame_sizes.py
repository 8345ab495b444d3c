"""Payload and frames on the wire, and a receiver that is slow."""

from __future__ import annotations

from fabriclab.formats.plan.model import Plan

PAYLOAD_BYTES = 1448


WIRE_BYTES = 1538


def with_slow_receiver(plan: Plan, receiver: str, rate_bps: int) -> Plan:
    """Return the plan with one host's link, both ends, at another rate: the bottleneck is then the switch,
    not the sender's own port."""
    nodes = []
    for node in plan.nodes:
        ports = tuple(
            port.model_copy(update={"rate_bps": rate_bps}) if receiver in (node.name, port.peer_node) else port
            for port in node.ports
        )
        nodes.append(node.model_copy(update={"ports": ports}))
    return plan.model_copy(update={"nodes": tuple(nodes)})
