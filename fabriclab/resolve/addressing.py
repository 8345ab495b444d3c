"""Addresses: each link is a network of its own, a /31 (RFC 3021) from 10.0.0.0/8 in the order of the file unless that
says otherwise; of IPv6 a /127 (RFC 6164) from a block of unique local addresses (RFC 4193).

So is each port channel. A VLAN is a network too, from 192.168.0.0/16 unless the lab says otherwise, of IPv6 a /64: its
switch, then its hosts.

A host's MPTCP needs an address for each subflow. What its ports' own addresses lack is spread over its ports: extra
addresses, which begin a network of their own behind the port, so that one route leads to all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network, ip_address

from fabriclab.formats.family import AnyAddress, AnyInterface, AnyNetwork, Family
from fabriclab.lab.network.segments import End, Segment
from fabriclab.lab.network.topology import Topology

MAC_PREFIX = 0x02FA_0000_0000
"""Locally administered, unicast: 02:fa:00:00:00:00."""


@dataclass(frozen=True)
class Pools:
    """Where the addresses of a family that nobody wrote come from."""

    links: AnyNetwork
    pair_length: int
    """Prefix length of a link of two."""
    extra: tuple[AnyNetwork, ...]
    """Apart from where links and loopbacks are numbered from; the second for whom the first has no room."""
    vlans: tuple[AnyNetwork, ...]
    longest_vlan_prefix: int
    loopbacks: AnyNetwork


IPV4 = Pools(
    links=IPv4Network("10.0.0.0/8"),
    pair_length=31,
    extra=(IPv4Network("10.128.0.0/10"), IPv4Network("172.16.0.0/12")),
    vlans=(IPv4Network("192.168.0.0/16"), IPv4Network("172.16.0.0/12")),
    longest_vlan_prefix=24,
    loopbacks=IPv4Network("10.255.0.0/16"),
)
IPV6 = Pools(
    links=IPv6Network("fdfa:b1ab::/48"),
    pair_length=127,
    extra=(IPv6Network("fdfa:b1ab:1::/48"),),
    vlans=(IPv6Network("fdfa:b1ab:2::/48"),),
    longest_vlan_prefix=64,
    loopbacks=IPv6Network("fdfa:b1ab:ff::/64"),
)
"""A global ID that is not random (RFC 4193 wants one drawn): every run has the same addresses."""
POOLS: Mapping[Family, Pools] = {4: IPV4, 6: IPV6}


@dataclass(frozen=True)
class PortAddress:
    """What an interface is called on the wire, in one family."""

    mac: str
    address: AnyInterface
    extra: tuple[AnyAddress, ...] = ()


Addresses = Mapping[Family, Mapping[str, PortAddress]]
"""By family, of those that the fabric has, and by interface (`node:interface`)."""


def address_of(addresses: Addresses, port: str, family: Family) -> str | None:
    """Return an interface's address of a family with its prefix length; None where there is none."""
    found = addresses.get(family, {}).get(port)
    return None if found is None else str(found.address)


def extra_of(addresses: Addresses, port: str, family: Family) -> tuple[str, ...]:
    """Return an interface's extra addresses of a family."""
    found = addresses.get(family, {}).get(port)
    return () if found is None else tuple(map(str, found.extra))


def extra_network(addresses: Sequence[str | AnyAddress]) -> AnyNetwork | None:
    """Return the network of a port's extra addresses: the least one that begins with the first of them;
    None when there are none."""
    if not addresses:
        return None
    first = ip_address(addresses[0])
    return network_from(int(first), _prefix_length(len(addresses), first.max_prefixlen), of=first)


def network_from(start: int, length: int, of: AnyAddress | AnyNetwork) -> AnyNetwork:
    """Return the network of that address, as a number, and prefix length, of the family of `of`."""
    return IPv4Network((start, length)) if of.version == 4 else IPv6Network((start, length))


def _interface(number: int, length: int, of: AnyNetwork) -> AnyInterface:
    return IPv4Interface((number, length)) if of.version == 4 else IPv6Interface((number, length))


def _prefix_length(count: int, bits: int) -> int:
    """Return the length of the least network with that many addresses; all of them can be used,
    none is a broadcast address here."""
    return bits - (count - 1).bit_length()


def assign_macs(topology: Topology) -> dict[str, str]:
    """Return the MAC address of every port (`node:interface`); what the file gives is kept."""
    macs = _free_macs({end.mac.value for link in topology.links for end in link.ends if end.mac is not None})
    found = {}
    for end in (end for link in topology.links for end in link.ends):
        automatic = next(macs)
        found[end.port] = end.mac.value if end.mac is not None else automatic
    return found


def written_addresses(topology: Topology, family: Family = 4) -> dict[str, PortAddress]:
    """Return the addresses that links themselves have (`node:interface`), where all others are nodes' own matter."""
    macs = assign_macs(topology)
    ends = [end for link in topology.links for end in link.ends]
    return {
        end.port: PortAddress(macs[end.port], one.value) for end in ends if (one := end.address(family)) is not None
    }


def assign_addresses(
    topology: Topology, segments: Sequence[Segment], subflows: Mapping[str, int], family: Family = 4
) -> dict[str, PortAddress]:
    """Return the addresses, of one family, of every interface that has one (`node:interface`); what the lab gives is
    kept, and no two overlap.

    An interface of several ports has the MAC address of the first. `subflows` has the hosts with MPTCP: as many
    addresses as subflows are shared out to a host's ports, the first ones get one more. Raises ValueError when no pool
    has room for them.
    """
    pools = POOLS[family]
    addresses = _segment_addresses(topology, segments, assign_macs(topology), family)
    taken = [*(address.address.network for address in addresses.values()), *_loopbacks(topology, family)]
    free = _FreeNetworks(pools.extra, taken, "MPTCP's addresses")
    bits = pools.links.max_prefixlen
    ports = _ports_of_hosts(topology, segments)
    for host, count in subflows.items():
        for index, port in enumerate(ports[host]):
            extra = max(0, (count - index - 1) // len(ports[host]))
            if extra:
                network = free.take(_prefix_length(extra, bits))
                addresses[port] = replace(addresses[port], extra=tuple(network[number] for number in range(extra)))
    return addresses


def _ports_of_hosts(topology: Topology, segments: Sequence[Segment]) -> dict[str, list[str]]:
    ports: dict[str, list[str]] = {host: [] for host in topology.hosts}
    for end in (end for segment in segments for end in segment.ends if end.node in ports):
        ports[end.node].append(end.port)
    return ports


class _FreeNetworks:
    """Hands out networks of some pools that overlap nothing taken, each beyond the one before."""

    def __init__(self, pools: Sequence[AnyNetwork], taken: Iterable[AnyNetwork], whose: str) -> None:
        self._taken = [network for network in taken if any(network.overlaps(pool) for pool in pools)]
        self._every = pools
        self._whose = whose
        self._pools = iter(pools)
        self._pool = next(self._pools)
        self._next = int(self._pool.network_address)

    def take(self, length: int) -> AnyNetwork:
        """Return the next free network of that prefix length."""
        size = 1 << (self._pool.max_prefixlen - length)
        while True:
            start = -(-self._next // size) * size
            if start + size - 1 > int(self._pool.broadcast_address):
                self._enter_next_pool()
                continue
            candidate = network_from(start, length, of=self._pool)
            clash = next((network for network in self._taken if network.overlaps(candidate)), None)
            if clash is None:
                self._next = start + size
                return candidate
            self._next = int(clash.broadcast_address) + 1

    def _enter_next_pool(self) -> None:
        pool = next(self._pools, None)
        if pool is None:
            pools = " and ".join(map(str, self._every))
            raise ValueError(f"{pools} has no room left for {self._whose}; write smaller networks for the links")
        self._pool = pool
        self._next = int(pool.network_address)


def _loopbacks(topology: Topology, family: Family) -> list[AnyNetwork]:
    written = [node.loopback if family == 4 else node.loopback6 for node in topology.nodes]
    return [network_from(int(one.value), one.value.max_prefixlen, of=one.value) for one in written if one is not None]


def _segment_addresses(
    topology: Topology, segments: Sequence[Segment], macs: Mapping[str, str], family: Family
) -> dict[str, PortAddress]:
    pools = POOLS[family]
    taken = [one.value.network for segment in segments for end in segment.ends if (one := end.address(family))]
    taken += _loopbacks(topology, family)
    free = _free_networks(pools, taken)
    free_vlans = _FreeNetworks(pools.vlans, taken, "VLANs")
    hosts = frozenset(topology.hosts)
    addresses: dict[str, PortAddress] = {}
    for segment in segments:
        found: tuple[AnyInterface, ...]
        if segment.vlan is None:
            a, b = segment.ends
            found = _written_pair(a, b, family) or _odd_to_the_host(a, b, next(free), hosts)
        else:
            found = _vlan_addresses(segment, free_vlans, family)
        for end, address in zip(segment.ends, found, strict=True):
            addresses[end.port] = PortAddress(macs[end.ports[0].port], address)
    return addresses


def _vlan_addresses(segment: Segment, free: _FreeNetworks, family: Family) -> tuple[AnyInterface, ...]:
    """Return the addresses of a VLAN's switch and hosts: those that are not written are the
    network's first free ones."""
    pools = POOLS[family]
    written = [end.address(family) for end in segment.ends]
    # Neither the first address nor the last is anybody's.
    least = _prefix_length(len(segment.ends) + 2, pools.links.max_prefixlen)
    own = written[0]
    network = own.value.network if own is not None else free.take(min(pools.longest_vlan_prefix, least))
    taken = {one.value.ip for one in written if one is not None}
    automatic = (address for address in network.hosts() if address not in taken)
    return tuple(
        one.value if one is not None else _interface(int(next(automatic)), network.prefixlen, network)
        for one in written
    )


def _written_pair(a: End, b: End, family: Family) -> tuple[AnyInterface, AnyInterface] | None:
    """Return a segment's own addresses; from one end of a /31, or /127, follows the other's."""
    near, far = a.address(family), b.address(family)
    if near is not None and far is not None:
        return near.value, far.value
    if near is not None:
        return near.value, _other_of_pair(near.value)
    return (_other_of_pair(far.value), far.value) if far is not None else None


def _other_of_pair(address: AnyInterface) -> AnyInterface:
    """Return the address beside one, the first free one where that is nobody's: a network's first address is that of
    all its routers (RFC 4291, 2.6.1), or, of IPv4, none, as the last is."""
    network = address.network
    beside = _interface(int(address.ip) ^ 1, network.prefixlen, network)
    if network.num_addresses > 2 and beside.ip in (network.network_address, network.broadcast_address):
        free = next(one for one in network.hosts() if one != address.ip)
        return _interface(int(free), network.prefixlen, network)
    return beside


def _odd_to_the_host(a: End, b: End, network: AnyNetwork, hosts: frozenset[str]) -> tuple[AnyInterface, AnyInterface]:
    """Give the host's end the odd address; between two switches, or two hosts, the second end's is odd."""
    first = int(network.network_address)
    even, odd = (_interface(first + number, network.prefixlen, network) for number in (0, 1))
    return (odd, even) if a.node in hosts and b.node not in hosts else (even, odd)


def _free_networks(pools: Pools, taken: list[AnyNetwork]) -> Iterator[AnyNetwork]:
    """Yield the pairs of the pool that overlap nothing taken; a taken network is stepped over as a whole."""
    next_free = int(pools.links.network_address)
    while next_free < int(pools.links.broadcast_address):
        candidate = network_from(next_free, pools.pair_length, of=pools.links)
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
