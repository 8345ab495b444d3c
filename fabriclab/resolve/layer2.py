"""A node's port channels and VLANs, every default made explicit."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.plan.node import PortChannel, Vlan
from fabriclab.lab.network.layer2 import WrittenLayer2
from fabriclab.lab.network.segments import Layer2
from fabriclab.resolve.addressing import Addresses, address_of


def resolve_channels(
    node: str, layer2: Layer2, addresses: Addresses, macs: Mapping[str, str]
) -> tuple[PortChannel, ...]:
    """Return a node's port channels; one that is a VLAN's member has no address."""
    found = []
    for channel in layer2.channels.get(node, ()):
        port = f"{node}:{channel.name}"
        found.append(
            PortChannel(
                name=channel.name,
                members=tuple(end.interface for end in channel.members),
                peer_interface=channel.peer_interface,
                mac=macs[channel.members[0].port],
                address=address_of(addresses, port, 4),
                ipv6=address_of(addresses, port, 6),
            )
        )
    return tuple(found)


def resolve_vlans(node: str, written: Mapping[str, WrittenLayer2], addresses: Addresses) -> tuple[Vlan, ...]:
    """Return a switch's VLANs in the order in which they are written."""
    found = []
    for vlan in written.get(node, WrittenLayer2()).vlans:
        port = f"{node}:{vlan.name}"
        mac = next(of[port].mac for of in addresses.values())
        found.append(
            Vlan(
                name=vlan.name,
                vlan_id=vlan.vlan_id,
                members=tuple(member.value for member in vlan.members),
                mac=mac,
                address=address_of(addresses, port, 4),
                ipv6=address_of(addresses, port, 6),
            )
        )
    return tuple(found)
