"""Addresses: each link is a network of its own, a /31 (RFC 3021) from 10.0.0.0/8 in the order of the file unless that says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network

from fabriclab.lab.topology import Endpoint, Link, Topology

POOL = IPv4Network("10.0.0.0/8")
MAC_PREFIX = 0x02FA_0000_0000
"""Locally administered, unicast: 02:fa:00:00:00:00."""


@dataclass(frozen=True)
class PortAddress:
    """What a port is called on the wire."""

    mac: str
    ipv4: IPv4Interface


def assign_addresses(topology: Topology) -> dict[str, PortAddress]:
    """Return the addresses of every port (`node:interface`); what the file gives is kept, and no two overlap."""
    written = [end.ipv4.value.network for link in topology.links for end in link.ends if end.ipv4 is not None]
    loopbacks = [IPv4Network(node.loopback.value) for node in topology.nodes if node.loopback is not None]
    free = _free_networks(written + loopbacks)
    macs = _free_macs({end.mac.value for link in topology.links for end in link.ends if end.mac is not None})
    hosts = frozenset(topology.hosts)
    addresses: dict[str, PortAddress] = {}
    for link in topology.links:
        pair = _written_pair(link) or _odd_to_the_host(link, next(free), hosts)
        for end, ipv4 in zip(link.ends, pair, strict=True):
            automatic = next(macs)
            addresses[end.port] = PortAddress(end.mac.value if end.mac is not None else automatic, ipv4)
    return addresses


def _written_pair(link: Link) -> tuple[IPv4Interface, IPv4Interface] | None:
    """Return the link's own addresses; from one end of a /31 follows the other's."""
    a, b = link.a.ipv4, link.b.ipv4
    if a is not None and b is not None:
        return a.value, b.value
    if a is not None:
        return a.value, _other_of_pair(a.value)
    return (_other_of_pair(b.value), b.value) if b is not None else None


def _other_of_pair(address: IPv4Interface) -> IPv4Interface:
    first, second = address.network[0], address.network[1]
    return IPv4Interface((int(second if address.ip == first else first), 31))


def _odd_to_the_host(link: Link, network: IPv4Network, hosts: frozenset[str]) -> tuple[IPv4Interface, IPv4Interface]:
    """Give the host's end the odd address; between two switches, or two hosts, the second end's is odd."""
    even, odd = (IPv4Interface((int(address), network.prefixlen)) for address in (network[0], network[1]))
    a_is_host, b_is_host = _is_host(link.a, hosts), _is_host(link.b, hosts)
    return (odd, even) if a_is_host and not b_is_host else (even, odd)


def _is_host(end: Endpoint, hosts: frozenset[str]) -> bool:
    return end.node in hosts


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
    """Yield 02:fa:00:00:00:01 and on: link n's ends are 2n+1 and 2n+2; one that the file gives to a port is left out."""
    number = 0
    while True:
        number += 1
        mac = ":".join(f"{byte:02x}" for byte in (MAC_PREFIX + number).to_bytes(6, "big"))
        if mac not in taken:
            yield mac
