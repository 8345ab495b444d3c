"""What VLANs and port channels must be in their topology: parallel links, hosts behind VLANs,
networks that do not overlap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network

from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.network.layer2 import WrittenLayer2, WrittenPortChannel, WrittenVlan
from fabriclab.lab.network.segments import Layer2, Segment
from fabriclab.lab.network.topology import Endpoint, Link, Topology
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written
from fabriclab.units import format_count

_SMALLEST_VLAN_PREFIX = 30
_CHANNEL_PREFIX = 31


def check_layer2(
    topology: Topology, written: Mapping[str, WrittenLayer2], *, rates_differ: bool, problems: Problems
) -> None:
    """Record what is wrong.

    `rates_differ`: links have the rates that the topology says, not one that the experiment gives to all.
    """
    if not any(groups.port_channels or groups.vlans for groups in written.values()):
        return  # each link is a network of its own, which reading the topology has checked
    before = len(problems)
    _Members(topology, written, rates_differ, problems).check()
    if len(problems) == before:
        segments = Layer2(topology, written).segments()
        for segment in segments:
            _check_addresses(segment, problems)
        _check_networks(topology, segments, problems)


class _Members:
    """Checks who is a member of what."""

    def __init__(
        self, topology: Topology, written: Mapping[str, WrittenLayer2], rates_differ: bool, problems: Problems
    ) -> None:
        self._topology = topology
        self._written = written
        self._rates_differ = rates_differ
        self._problems = problems

    def check(self) -> None:
        for switch, groups in self._written.items():
            self._check_once(groups)
            for channel in groups.port_channels:
                self._check_channel(switch, channel)
            for vlan in groups.vlans:
                self._check_vlan(switch, groups, vlan)

    def _check_once(self, groups: WrittenLayer2) -> None:
        """A port is in one group; what a VLAN's member is has no address of its own."""
        owner: dict[str, str] = {}
        named = [(one.name, one.members) for one in groups.port_channels] + [
            (one.name, one.members) for one in groups.vlans
        ]
        for name, members in named:
            for member in members:
                other = owner.setdefault(member.value, name)
                if other != name:
                    member.complain(
                        self._problems, f"{shown(member.value)} is a member of {other} too; each port has one place"
                    )
        for channel in groups.port_channels:
            if channel.ipv4 is not None and channel.name in owner:
                vlan = owner[channel.name]
                channel.ipv4.complain(
                    self._problems, f"{channel.name} is a member of {vlan}, which has the address; remove this one"
                )

    def _links(
        self, switch: str, members: tuple[Written[str], ...]
    ) -> Iterator[tuple[Written[str], Link, Endpoint, Endpoint]]:
        """Yield each member that is a port with its link, its end and the other end."""
        for member in members:
            link = self._topology.ports.get(f"{switch}:{member.value}")
            if link is not None:
                near, far = link.ends if link.a.node == switch else (link.b, link.a)
                yield member, link, near, far

    def _check_channel(self, switch: str, channel: WrittenPortChannel) -> None:
        first: tuple[Link, Endpoint] | None = None
        for member, link, near, far in self._links(switch, channel.members):
            self._check_no_address(member, channel.name, link)
            first = first or (link, far)
            if far.node != first[1].node:
                message = (
                    f"{near.port} leads to {far.node}, but the first member to {first[1].node}; "
                    "a port channel has one neighbour"
                )
                member.complain(self._problems, message)
            elif not _are_alike(link, first[0], self._rates_differ):
                message = (
                    f"{near.port} differs from the first member in rate or MTU; links of a port channel must be alike"
                )
                member.complain(self._problems, message)
        if first is not None:
            self._check_other_end(switch, channel, first[1].node)

    def _check_other_end(self, switch: str, channel: WrittenPortChannel, peer: str) -> None:
        """What the other switch writes of these links is the same group."""
        groups = self._written.get(peer, WrittenLayer2())
        ports = {far.interface for _, _, _, far in self._links(switch, channel.members)}
        for other in groups.port_channels:
            theirs = {member.value for member in other.members}
            if theirs & ports and theirs != ports:
                message = (
                    f"these links are not those of {other.key} (line {other.place.line}), the other end; "
                    "write the same links in both"
                )
                self._problems.add(channel.place, channel.key, message, channel.name)
        for vlan in groups.vlans:
            for member in vlan.members:
                if member.value in ports:
                    member.complain(
                        self._problems, f"{peer}:{member.value} belongs to {channel.key}, the other end of its link"
                    )

    def _check_vlan(self, switch: str, groups: WrittenLayer2, vlan: WrittenVlan) -> None:
        channels = {channel.name: channel.members for channel in groups.port_channels}
        hosts: dict[str, str] = {}
        for member in vlan.members:
            for _, link, near, far in self._links(switch, channels.get(member.value, (member,))):
                self._check_no_address(member, vlan.name, link)
                if far.node not in self._topology.hosts:
                    message = f"{near.port} leads to {far.node}, a switch; a VLAN consists of one switch and its hosts"
                    member.complain(self._problems, message)
                elif hosts.setdefault(far.node, member.value) != member.value:
                    message = (
                        f"{far.node} is behind {hosts[far.node]}, too; make a port channel of its links to the VLAN"
                    )
                    member.complain(self._problems, message)
        for host, address in vlan.hosts.items():
            if host not in hosts:
                address.complain(
                    self._problems, f"{shown(host)} is not a host behind {vlan.name}; {did_you_mean(host, hosts)}"
                )
            elif vlan.ipv4 is None:
                address.complain(self._problems, f"{vlan.name} has an automatic network; write its ipv4, too")

    def _check_no_address(self, member: Written[str], group: str, link: Link) -> None:
        for end in link.ends:
            for address in (end.ipv4, end.ipv6):
                if address is not None:
                    message = (
                        f"{end.port} has an address in line {address.place.line} of the topology, but {group} has it; "
                        "remove that one"
                    )
                    member.complain(self._problems, message)


def _are_alike(link: Link, other: Link, rates_differ: bool) -> bool:
    if (None if link.mtu is None else link.mtu.value) != (None if other.mtu is None else other.mtu.value):
        return False
    rates = [
        {end.node: None if end.rate is None else end.rate.value for end in one.ends} if rates_differ else None
        for one in (link, other)
    ]
    return rates[0] == rates[1]


def _check_addresses(segment: Segment, problems: Problems) -> None:
    """A VLAN has room for its hosts and no address twice; both ends of a port channel are in one network."""
    own = segment.ends[0].ipv4
    if segment.vlan is not None and own is not None:
        _check_room(segment, own.value.network, problems)
        seen: dict[IPv4Address, str] = {}
        for end in segment.ends:
            if end.ipv4 is None:
                continue
            if end.ipv4.value.ip not in own.value.network or not _is_usable(end.ipv4.value.ip, own.value.network):
                end.ipv4.complain(
                    problems, f"{shown(end.ipv4.text)} is not an address of a host in {own.value.network}"
                )
            other = seen.setdefault(end.ipv4.value.ip, end.node)
            if other != end.node:
                end.ipv4.complain(problems, f"{shown(end.ipv4.text)} is {other}'s address too")
    elif segment.vlan is None and segment.ends[0].is_group:
        _check_pair(segment, problems)


def _check_room(segment: Segment, network: IPv4Network, problems: Problems) -> None:
    own, hosts = segment.ends[0].ipv4, format_count(len(segment.ends) - 1, "host")
    if own is not None and (network.prefixlen > _SMALLEST_VLAN_PREFIX or network.num_addresses - 2 < len(segment.ends)):
        own.complain(problems, f"{network} has no room for the switch and {hosts}; write a shorter prefix, such as /24")


def _is_usable(address: IPv4Address, network: IPv4Network) -> bool:
    return address not in (network.network_address, network.broadcast_address)


def _check_pair(segment: Segment, problems: Problems) -> None:
    a, b = segment.ends
    written = [end.ipv4 for end in (a, b) if end.ipv4 is not None]
    if len(written) == 1 and written[0].value.network.prefixlen != _CHANNEL_PREFIX:
        other = a if a.ipv4 is None else b
        written[0].complain(problems, f"{other.port} has no address; write both ends', or a /31 here")
    if len(written) == 2 and written[0].value.network != written[1].value.network:
        message = (
            f"{shown(written[1].text)} and {shown(written[0].text)} are in different networks; "
            "the ends of a port channel share one"
        )
        written[1].complain(problems, message)
    elif len(written) == 2 and written[0].value.ip == written[1].value.ip:
        written[1].complain(problems, f"{shown(written[1].text)} is the address of the other end too")


def _check_networks(topology: Topology, segments: tuple[Segment, ...], problems: Problems) -> None:
    """No network of a VLAN or port channel overlaps another one, or holds a node's loopback."""
    ends = [(segment, end) for segment in segments for end in segment.ends[: 1 if segment.vlan is not None else 2]]
    named = [(segment, end) for segment, end in ends if end.ipv4 is not None]
    grouped = [(segment, end) for segment, end in named if end.is_group]
    for segment, end in grouped:
        if end.ipv4 is None:
            continue
        network = end.ipv4.value.network
        for other, taken in named:
            if other is not segment and taken.ipv4 is not None and network.overlaps(taken.ipv4.value.network):
                where = f"{taken.port} ({taken.ipv4.place})"
                end.ipv4.complain(
                    problems, f"{network} overlaps {taken.ipv4.value.network} of {where}; each has its own network"
                )
                break
        for node in topology.nodes:
            if node.loopback is not None and node.loopback.value in network:
                end.ipv4.complain(
                    problems, f"{network} contains {node.loopback.value}, the loopback of {node.name}; take another one"
                )
