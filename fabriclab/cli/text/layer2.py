"""VLANs and port channels of a plan in words, a line for each."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, PortChannel, Vlan
from fabriclab.resolve.interfaces import interfaces, neighbours
from fabriclab.units import format_rate


def layer2_lines(plan: Plan) -> Iterator[str]:
    """Yield a line for each VLAN and for each port channel of a switch."""
    for node in plan.nodes:
        if node.role == "switch":
            yield from (_channel_line(node, channel) for channel in node.port_channels)
            yield from (_vlan_line(node, vlan, plan) for vlan in node.vlans)


def _channel_line(node: Node, channel: PortChannel) -> str:
    ports = [port for port in node.ports if port.interface in channel.members]
    lines = f"{len(ports)} x {format_rate(ports[0].rate_bps)} ({', '.join(channel.members)})"
    return (
        f"{node.name} {channel.name}: {lines} to {ports[0].peer_node} {channel.peer_interface}, "
        f"{channel.address or channel.ipv6 or 'of a VLAN'}"
    )


def _vlan_line(node: Node, vlan: Vlan, plan: Plan) -> str:
    (own,) = (interface for interface in interfaces(node) if interface.name == vlan.name)
    hosts = [f"{neighbour.node.name} {neighbour.interface.ip}" for neighbour in neighbours(node, own, plan.by_name())]
    return f"{node.name} {vlan.name}: {own.address}, members {', '.join(vlan.members)}; hosts {', '.join(hosts)}"
