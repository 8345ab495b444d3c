"""A node's port channels and VLANs, as lines for `ip -batch` and `bridge -batch`.

Source of the words: ip-link(8), bridge(8), Linux Documentation/networking/bonding.rst.

A port channel is a bond of mode balance-xor: the layer3+4 hash (bond_xmit_hash in drivers/net/bonding/bond_main.c) has
no seed, so a flow takes the same member on every machine. Not 802.3ad: LACP's negotiation would keep a link out of use
for the first seconds of a lab, when static routes carry traffic already, and its frames would wait in the queues that
are measured. What LACP finds, two ends that are wired or configured differently, a lab cannot have.

A VLAN is a bridge of its own, not a VLAN of one bridge: nothing is tagged. Who is behind which member is known from the
start, as all neighbours are, so it learns and floods nothing: a first frame would load every other member's queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, PortChannel, Vlan
from fabriclab.resolve.interfaces import interface_of_port, member_ports

_MII_INTERVAL_MS = 10
"""How often a bond looks at its members' carriers."""


def compile_groups(node: Node, plan: Plan) -> Iterator[str]:
    """Yield the `ip` lines that make the node's port channels and VLANs."""
    for channel in node.port_channels:
        yield from _bond(node, channel)
    for vlan in node.vlans:
        yield from _bridge(node, vlan, plan)


def compile_bridge(node: Node, plan: Plan) -> str:
    """Return the node's `bridge.batch`: which host is behind which member of a VLAN; empty for a node without VLANs."""
    peers = {port.interface: (port.peer_node, port.peer_interface) for port in node.ports}
    lines = []
    for vlan in node.vlans:
        for member in vlan.members:
            host, interface = peers[member_ports(node, member)[0]]
            mac = interface_of_port(plan.node(host), interface).mac
            lines.append(f"fdb add {mac} dev {member} master static\n")
    return "".join(lines)


def _bond(node: Node, channel: PortChannel) -> Iterator[str]:
    yield (
        f"link add name {channel.name} address {channel.mac} mtu {_mtu(node, channel.members)}"
        f" type bond mode balance-xor xmit_hash_policy layer3+4 miimon {_MII_INTERVAL_MS}"
    )
    for member in channel.members:
        # A bond takes no port that is up, and sets it up itself.
        yield f"link set dev {member} down"
        yield f"link set dev {member} master {channel.name}"
    yield f"link set dev {channel.name} up"


def _bridge(node: Node, vlan: Vlan, plan: Plan) -> Iterator[str]:
    ports = [port for member in vlan.members for port in member_ports(node, member)]
    yield (
        f"link add name {vlan.name} address {vlan.mac} mtu {_mtu(node, ports)} type bridge stp_state 0 mcast_snooping 0"
    )
    if plan.bgp is not None and (plan.bgp.unnumbered or 6 in plan.families):
        # Sessions over link-local addresses are for links between switches.
        yield f"link set dev {vlan.name} addrgenmode none"
    for member in vlan.members:
        yield f"link set dev {member} master {vlan.name}"
        yield f"link set dev {member} type bridge_slave learning off flood off mcast_flood off"
    yield f"link set dev {vlan.name} up"


def _mtu(node: Node, ports: Sequence[str]) -> int:
    return min(port.mtu for port in node.ports if port.interface in ports)
