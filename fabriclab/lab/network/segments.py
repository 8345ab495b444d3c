"""The networks of a lab: a link, a port channel, or a VLAN with all that is behind it. On each are interfaces with an
address.

Where a lab has neither VLANs nor port channels, each link is a segment with its two ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface
from itertools import chain, count

from fabriclab.formats.family import Family
from fabriclab.lab.network.layer2 import WrittenLayer2, WrittenPortChannel, WrittenVlan
from fabriclab.lab.network.topology import Endpoint, Link, Topology
from fabriclab.lab.reading.section import Written

HOST_CHANNEL, SWITCH_CHANNEL = "bond", "PortChannel"
"""What port channels are called that nobody named, with a number from 0 on."""


@dataclass(frozen=True)
class End:
    """An interface with an address."""

    node: str
    interface: str
    ports: tuple[Endpoint, ...]
    """What its packets leave by: one; a port channel's members; all of a VLAN's."""
    ipv4: Written[IPv4Interface] | None = None
    """As written; None: automatic."""
    ipv6: Written[IPv6Interface] | None = None

    def address(self, family: Family) -> Written[IPv4Interface] | Written[IPv6Interface] | None:
        """Return its address of a family as written; None: automatic."""
        return self.ipv4 if family == 4 else self.ipv6

    @property
    def port(self) -> str:
        """Return the name of the port, `node:interface`."""
        return f"{self.node}:{self.interface}"

    @property
    def is_group(self) -> bool:
        """Whether it is a VLAN's or a port channel's, be it of one port."""
        return self.interface != self.ports[0].interface


@dataclass(frozen=True)
class Segment:
    """A network, and who is on it."""

    ends: tuple[End, ...]
    """Two; of a VLAN the switch's, then the hosts'."""
    links: tuple[Link, ...]
    vlan: WrittenVlan | None = None


@dataclass(frozen=True)
class Channel:
    """A port channel at one of its ends."""

    name: str
    node: str
    members: tuple[Endpoint, ...]
    peer_interface: str
    written: WrittenPortChannel | None
    """None: it follows from the other end's."""


class Layer2:
    """What is made of the links: port channels at both ends, and segments. What is written must have been checked."""

    def __init__(self, topology: Topology, written: Mapping[str, WrittenLayer2]) -> None:
        """Take the groups as written, by switch."""
        self._topology = topology
        self._written = written
        self.channels: dict[str, list[Channel]] = {}
        """By node, in the order of their first links."""
        self._channel_of: dict[str, Channel] = {}
        """By port, `node:interface`."""
        for link in topology.links:
            self._bundle(link)

    def segments(self) -> tuple[Segment, ...]:
        """Return the networks in the order of their first links."""
        vlan_of = {
            f"{switch}:{member.value}": (switch, vlan)
            for switch, groups in self._written.items()
            for vlan in groups.vlans
            for member in vlan.members
        }
        points = list(self._point_to_point())
        found: dict[object, Segment] = {}
        for number, point in enumerate(points):
            at, vlan = next((vlan_of[end.port] for end in point.ends if end.port in vlan_of), (None, None))
            if at is None or vlan is None:
                found[number] = point
            elif (at, vlan.name) not in found:
                behind = [other for other in points if any(vlan_of.get(end.port) == (at, vlan) for end in other.ends)]
                found[at, vlan.name] = _vlan_segment(at, vlan, behind)
        return tuple(found.values())

    def _bundle(self, link: Link) -> None:
        """Note the port channel that a link is the first one of, at both ends."""
        if link.a.port in self._channel_of:
            return
        wrote = [self._written_channel(end) for end in link.ends]
        first = next((channel for channel in wrote if channel is not None), None)
        if first is None:
            return
        near = 0 if wrote[0] is not None else 1
        members = {f"{link.ends[near].node}:{member.value}" for member in first.members}
        links = [each for each in self._topology.links if any(end.port in members for end in each.ends)]
        nodes = [end.node for end in link.ends]
        names = [self._name(node, channel, first) for node, channel in zip(nodes, wrote, strict=True)]
        for index, node in enumerate(nodes):
            ends = tuple(end for each in links for end in each.ends if end.node == node)
            channel = Channel(names[index], node, ends, names[1 - index], wrote[index])
            self.channels.setdefault(node, []).append(channel)
            self._channel_of |= dict.fromkeys((end.port for end in ends), channel)

    def _written_channel(self, end: Endpoint) -> WrittenPortChannel | None:
        groups = self._written.get(end.node, WrittenLayer2())
        return next(
            (one for one in groups.port_channels if end.interface in [member.value for member in one.members]), None
        )

    def _name(self, node: str, own: WrittenPortChannel | None, other: WrittenPortChannel) -> str:
        """Return what a node calls its end: what it writes, else the other end's name or the first that is free."""
        if own is not None:
            return own.name
        taken = {channel.name for channel in self.channels.get(node, ())}
        taken |= {channel.name for channel in self._written.get(node, WrittenLayer2()).port_channels}
        taken |= {port.partition(":")[2] for port in self._topology.ports if port.partition(":")[0] == node}
        stem, wanted = (HOST_CHANNEL, ()) if node in self._topology.hosts else (SWITCH_CHANNEL, (other.name,))
        return next(name for name in chain(wanted, (f"{stem}{number}" for number in count())) if name not in taken)

    def _point_to_point(self) -> Iterator[Segment]:
        """Yield each link, or port channel, as a segment of its two ends."""
        seen: set[str] = set()
        for link in self._topology.links:
            if link.a.port in seen:
                continue
            ends = (self._end(link.a), self._end(link.b))
            seen |= {port.port for port in ends[0].ports}
            links = tuple(self._topology.ports[port.port] for port in ends[0].ports)
            yield Segment(ends, links)

    def _end(self, end: Endpoint) -> End:
        channel = self._channel_of.get(end.port)
        if channel is None:
            return End(end.node, end.interface, (end,), end.ipv4, end.ipv6)
        own = channel.written
        addresses = (None, None) if own is None else (own.ipv4, own.ipv6)
        return End(end.node, channel.name, channel.members, *addresses)


def _vlan_segment(switch: str, vlan: WrittenVlan, points: list[Segment]) -> Segment:
    """Return the segment of a VLAN: the links to its members are one network."""
    near = [end for point in points for end in point.ends if end.node == switch]
    far = [end for point in points for end in point.ends if end.node != switch]
    own = End(switch, vlan.name, tuple(port for end in near for port in end.ports), vlan.ipv4, vlan.ipv6)
    hosts = (End(end.node, end.interface, end.ports, _host_address(end.node, vlan)) for end in far)
    return Segment((own, *hosts), tuple(link for point in points for link in point.links), vlan)


def _host_address(host: str, vlan: WrittenVlan) -> Written[IPv4Interface] | None:
    written = vlan.hosts.get(host)
    if written is None or vlan.ipv4 is None:
        return None
    address = IPv4Interface((int(written.value), vlan.ipv4.value.network.prefixlen))
    return Written(address, written.key, written.text, written.place)
