"""The interfaces of a node that have an address, and who is one hop away from each.

Such an interface is a port, a port channel, or a VLAN's own interface at its switch (SVI). A member of either of the
last two has no address; what is behind its link is behind the interface that it is a member of.

An interface is one of one family of addresses: of IPv4, unless the fabric has IPv6 only or somebody asks for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fabriclab.formats.family import FAMILIES, Family, family_of
from fabriclab.formats.plan.node import Node, Port, PortChannel, Vlan


class Interface(NamedTuple):
    """An interface with an address."""

    name: str
    address: str
    """With prefix length."""
    mac: str
    ports: tuple[Port, ...]
    """The ports that its packets leave by: one; the members of a port channel; those of all members of a VLAN."""
    extra_addresses: tuple[str, ...] = ()
    """`Port.extra_addresses`, or `extra_ipv6`, of a port."""
    is_vlan: bool = False

    @property
    def ip(self) -> str:
        """Return the address without its prefix length."""
        return self.address.partition("/")[0]

    @property
    def family(self) -> Family:
        """Return the family that it is of."""
        return family_of(self.address)


class Neighbour(NamedTuple):
    """A node one hop away, and its interface there."""

    node: Node
    interface: Interface


def families_of(node: Node) -> tuple[Family, ...]:
    """Return the families of which a node's interfaces have addresses; IPv4 for a node without ports."""
    every: tuple[Port | PortChannel | Vlan, ...] = (*node.ports, *node.port_channels, *node.vlans)
    has = {4: any(one.address is not None for one in every), 6: any(one.ipv6 is not None for one in every)}
    return tuple(family for family in FAMILIES if has[family]) or (4,)


def interfaces(node: Node, family: Family | None = None) -> tuple[Interface, ...]:
    """Return a node's interfaces with an address, in the order of their first ports.

    Without a family it is the node's first: IPv4 where it has that.
    """
    family = families_of(node)[0] if family is None else family
    by_name: dict[str, list[Port]] = {}
    names = _names_by_port(node)
    for port in node.ports:
        if port.address is None and port.ipv6 is None and names[port.interface] == port.interface:
            continue  # what address it has is the node's own matter
        by_name.setdefault(names[port.interface], []).append(port)
    return tuple(_interface(node, name, tuple(ports), family) for name, ports in by_name.items())


def interface_of_port(node: Node, port: str, family: Family | None = None) -> Interface:
    """Return the interface with an address that a port belongs to. Raises KeyError."""
    family = families_of(node)[0] if family is None else family
    if not node.port_channels and not node.vlans:
        return _interface(node, port, (_port(node, port),), family)
    names = _names_by_port(node)
    ports = tuple(each for each in node.ports if names[each.interface] == names[port])
    return _interface(node, names[port], ports, family)


def _port(node: Node, name: str) -> Port:
    for port in node.ports:
        if port.interface == name:
            return port
    raise KeyError(name)


def member_ports(node: Node, name: str) -> tuple[str, ...]:
    """Return the ports that a port channel of the node consists of; of a port, itself."""
    channel = next((channel for channel in node.port_channels if channel.name == name), None)
    return (name,) if channel is None else channel.members


def neighbours(node: Node, interface: Interface, nodes: Mapping[str, Node]) -> tuple[Neighbour, ...]:
    """Return who is one hop away, each once: behind a VLAN all its hosts; for one of these the switch,
    then the other hosts."""
    found = _at_other_ends(interface, nodes)
    for neighbour in tuple(found.values()):
        if neighbour.interface.is_vlan:
            beside = _at_other_ends(neighbour.interface, nodes)
            found |= {key: other for key, other in beside.items() if key != (node.name, interface.name)}
    return tuple(found.values())


def fabric_neighbours(
    node: Node, nodes: Mapping[str, Node], family: Family | None = None
) -> tuple[tuple[Interface, Neighbour], ...]:
    """Return the interfaces of a node that lead to switches, each with the switch behind it."""
    return tuple(
        (interface, neighbour)
        for interface in interfaces(node, family)
        for neighbour in neighbours(node, interface, nodes)
        if neighbour.node.role == "switch"
    )


def first_address(node: Node, family: Family | None = None) -> str:
    """Return the address, without prefix length, by which others send to a host: that of its first interface.

    Raises IndexError for one whose own files decide on that.
    """
    return interfaces(node, family)[0].ip


def _names_by_port(node: Node) -> dict[str, str]:
    """Return the name of the interface with an address that each port belongs to."""
    names = {port.interface: port.interface for port in node.ports}
    for channel in node.port_channels:
        names |= dict.fromkeys(channel.members, channel.name)
    for vlan in node.vlans:
        names |= {port: vlan.name for member in vlan.members for port in member_ports(node, member)}
    return names


def _interface(node: Node, name: str, ports: tuple[Port, ...], family: Family) -> Interface:
    for vlan in node.vlans:
        if vlan.name == name:
            return Interface(name, _address(vlan, family, name), vlan.mac, ports, is_vlan=True)
    for channel in node.port_channels:
        if channel.name == name:
            return Interface(name, _address(channel, family, name), channel.mac, ports)
    (port,) = ports
    extra = port.extra_addresses if family == 4 else port.extra_ipv6
    return Interface(name, _address(port, family, name), port.mac, ports, extra)


def _address(of: Port | PortChannel | Vlan, family: Family, name: str) -> str:
    address = of.address if family == 4 else of.ipv6
    assert address is not None, f"{name}: no member of a VLAN or port channel, and no IPv{family} address"
    return address


def _at_other_ends(interface: Interface, nodes: Mapping[str, Node]) -> dict[tuple[str, str], Neighbour]:
    found: dict[tuple[str, str], Neighbour] = {}
    for port in interface.ports:
        peer = nodes[port.peer_node]
        other = interface_of_port(peer, port.peer_interface, interface.family)
        found.setdefault((peer.name, other.name), Neighbour(peer, other))
    return found
