"""Addresses: each link is a network of its own, a /31 (RFC 3021) from 10.0.0.0/8 in the order of the file unless that
says otherwise.

So is each port channel. A VLAN is a network too, from 192.168.0.0/16 unless the lab says otherwise: its switch, then
its hosts.

A host's MPTCP needs an address for each subflow. What its ports' own addresses lack is spread over its ports: extra
addresses, which begin a network of their own behind the port, so that one route leads to all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from fabriclab.lab.network.segments import End, Segment
from fabriclab.lab.network.topology import Topology

POOL = IPv4Network("10.0.0.0/8")
EXTRA_POOLS = (IPv4Network("10.128.0.0/10"), IPv4Network("172.16.0.0/12"))
"""Apart from where links and loopbacks are numbered from; the second for whom the first has no room."""
VLAN_POOLS = (IPv4Network("192.168.0.0/16"), IPv4Network("172.16.0.0/12"))
_LONGEST_VLAN_PREFIX = 24
MAC_PREFIX = 0x02FA_0000_0000
"""Locally administered, unicast: 02:fa:00:00:00:00."""


@dataclass(frozen=True)
class PortAddress:
    """What an interface is called on the wire."""

    mac: str
    ipv4: IPv4Interface
    extra: tuple[IPv4Address, ...] = ()


def extra_network(addresses: Sequence[str | IPv4Address]) -> IPv4Network | None:
    """Return the network of a port's extra addresses: the least one that begins with the first of them;
    None when there are none."""
    if not addresses:
        return None
    return IPv4Network((int(IPv4Address(addresses[0])), _prefix_length(len(addresses))))


def _prefix_length(count: int) -> int:
    """Return the length of the least network with that many addresses; all of them can be used,
    none is a broadcast address here."""
    return 32 - (count - 1).bit_length()


def assign_macs(topology: Topology) -> dict[str, str]:
    """Return the MAC address of every port (`node:interface`); what the file gives is kept."""
    macs = _free_macs({end.mac.value for link in topology.links for end in link.ends if end.mac is not None})
    found = {}
    for end in (end for link in topology.links for end in link.ends):
        automatic = next(macs)
        found[end.port] = end.mac.value if end.mac is not None else automatic
    return found


def written_addresses(topology: Topology) -> dict[str, PortAddress]:
    """Return the addresses that links themselves have (`node:interface`), where all others are nodes' own matter."""
    macs = assign_macs(topology)
    ends = [end for link in topology.links for end in link.ends]
    return {end.port: PortAddress(macs[end.port], end.ipv4.value) for end in ends if end.ipv4 is not None}


def assign_addresses(
    topology: Topology, segments: Sequence[Segment], subflows: Mapping[str, int]
) -> dict[str, PortAddress]:
    """Return the addresses of every interface that has one (`node:interface`); what the lab gives is kept, and no two
    overlap.

    An interface of several ports has the MAC address of the first. `subflows` has the hosts with MPTCP: as many
    addresses as subflows are shared out to a host's ports, the first ones get one more. Raises ValueError when no pool
    has room for them.
    """
    addresses = _segment_addresses(topology, segments, assign_macs(topology))
    loopbacks = [IPv4Network(node.loopback.value) for node in topology.nodes if node.loopback is not None]
    free = _FreeNetworks(EXTRA_POOLS, [*(address.ipv4.network for address in addresses.values()), *loopbacks])
    ports = _ports_of_hosts(topology, segments)
    for host, count in subflows.items():
        for index, port in enumerate(ports[host]):
            extra = max(0, (count - index - 1) // len(ports[host]))
            if extra:
                network = free.take(_prefix_length(extra))
                addresses[port] = replace(addresses[port], extra=tuple(network[number] for number in range(extra)))
    return addresses


def _ports_of_hosts(topology: Topology, segments: Sequence[Segment]) -> dict[str, list[str]]:
    ports: dict[str, list[str]] = {host: [] for host in topology.hosts}
    for end in (end for segment in segments for end in segment.ends if end.node in ports):
        ports[end.node].append(end.port)
    return ports


class _FreeNetworks:
    """Hands out networks of some pools that overlap nothing taken, each beyond the one before."""

    def __init__(self, pools: Sequence[IPv4Network], taken: Iterable[IPv4Network]) -> None:
        self._taken = [network for network in taken if any(network.overlaps(pool) for pool in pools)]
        self._every = pools
        self._pools = iter(pools)
        self._pool = next(self._pools)
        self._next = int(self._pool.network_address)

    def take(self, length: int) -> IPv4Network:
        """Return the next free network of that prefix length."""
        size = 1 << (32 - length)
        while True:
            start = -(-self._next // size) * size
            if start + size - 1 > int(self._pool.broadcast_address):
                self._enter_next_pool()
                continue
            candidate = IPv4Network((start, length))
            clash = next((network for network in self._taken if network.overlaps(candidate)), None)
            if clash is None:
                self._next = start + size
                return candidate
            self._next = int(clash.broadcast_address) + 1

    def _enter_next_pool(self) -> None:
        pool = next(self._pools, None)
        if pool is None:
            pools = " and ".join(map(str, self._every))
            whose = "MPTCP's addresses" if self._every == EXTRA_POOLS else "VLANs"
            raise ValueError(f"no room is left for {whose} in {pools}; write smaller networks for the links")
        self._pool = pool
        self._next = int(pool.network_address)


def _segment_addresses(
    topology: Topology, segments: Sequence[Segment], macs: Mapping[str, str]
) -> dict[str, PortAddress]:
    written = [end.ipv4.value.network for segment in segments for end in segment.ends if end.ipv4 is not None]
    loopbacks = [IPv4Network(node.loopback.value) for node in topology.nodes if node.loopback is not None]
    free = _free_networks(written + loopbacks)
    free_vlans = _FreeNetworks(VLAN_POOLS, written + loopbacks)
    hosts = frozenset(topology.hosts)
    addresses: dict[str, PortAddress] = {}
    for segment in segments:
        found: tuple[IPv4Interface, ...]
        if segment.vlan is None:
            a, b = segment.ends
            found = _written_pair(a, b) or _odd_to_the_host(a, b, next(free), hosts)
        else:
            found = _vlan_addresses(segment, free_vlans)
        for end, ipv4 in zip(segment.ends, found, strict=True):
            addresses[end.port] = PortAddress(macs[end.ports[0].port], ipv4)
    return addresses


def _vlan_addresses(segment: Segment, free: _FreeNetworks) -> tuple[IPv4Interface, ...]:
    """Return the addresses of a VLAN's switch and hosts: those that are not written are the
    network's first free ones."""
    own = segment.ends[0].ipv4
    # Neither the first address nor the last is anybody's.
    network = (
        own.value.network
        if own is not None
        else free.take(min(_LONGEST_VLAN_PREFIX, _prefix_length(len(segment.ends) + 2)))
    )
    taken = {end.ipv4.value.ip for end in segment.ends if end.ipv4 is not None}
    automatic = (address for address in network.hosts() if address not in taken)
    return tuple(
        end.ipv4.value if end.ipv4 is not None else IPv4Interface((int(next(automatic)), network.prefixlen))
        for end in segment.ends
    )


def _written_pair(a: End, b: End) -> tuple[IPv4Interface, IPv4Interface] | None:
    """Return a segment's own addresses; from one end of a /31 follows the other's."""
    if a.ipv4 is not None and b.ipv4 is not None:
        return a.ipv4.value, b.ipv4.value
    if a.ipv4 is not None:
        return a.ipv4.value, _other_of_pair(a.ipv4.value)
    return (_other_of_pair(b.ipv4.value), b.ipv4.value) if b.ipv4 is not None else None


def _other_of_pair(address: IPv4Interface) -> IPv4Interface:
    first, second = address.network[0], address.network[1]
    return IPv4Interface((int(second if address.ip == first else first), 31))


def _odd_to_the_host(
    a: End, b: End, network: IPv4Network, hosts: frozenset[str]
) -> tuple[IPv4Interface, IPv4Interface]:
    """Give the host's end the odd address; between two switches, or two hosts, the second end's is odd."""
    even, odd = (IPv4Interface((int(address), network.prefixlen)) for address in (network[0], network[1]))
    return (odd, even) if a.node in hosts and b.node not in hosts else (even, odd)


def _free_networks(taken: list[IPv4Network]) -> Iterator[IPv4Network]:
    """Yield the /31s of the pool that overlap nothing taken; a taken network is stepped over as a whole."""
    next_free = int(POOL.network_address)
    while next_free < int(POOL.broadcast_address):
        candidate = IPv4Network((next_free, 31))
        clash = next((network for network in taken if network.overlaps(candidate)), None)
        if clash is None:
            yield candidate
            next_free += 2
        else:
            next_free = int(clash.broadcast_address) + 1


def _free_macs(taken: set[str]) -> Iterator[str]:
    """Yield 02:fa:00:00:00:01 and on: link n's ends are 2n+1 and 2n+2; one that the file gives
    to a port is left out."""
    number = 0
    while True:
        number += 1
        mac = ":".join(f"{byte:02x}" for byte in (MAC_PREFIX + number).to_bytes(6, "big"))
        if mac not in taken:
            yield mac
