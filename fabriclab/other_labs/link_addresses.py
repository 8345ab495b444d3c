"""Addresses of links: the file's own, those of configurations, and what of the two cannot be a lab's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Interface, IPv4Network

from fabriclab.lab.network.addresses import is_unicast
from fabriclab.lab.network.topology import Endpoint, Link
from fabriclab.lab.reading.section import Written
from fabriclab.registry.vendors import StandIn

_SHORTEST, _LONGEST = 8, 31


@dataclass(frozen=True)
class LinkAddresses:
    """The addresses of both ends, by the names of ports."""

    by_port: Mapping[str, IPv4Interface]
    networks: tuple[IPv4Network, ...]
    notes: tuple[str, ...]


def link_addresses(links: Sequence[Link], stand_ins: Mapping[str, StandIn]) -> LinkAddresses:
    """Return the addresses that links have: both ends' or none, and no two links' networks overlap."""
    found: dict[str, IPv4Interface] = {}
    notes: list[str] = []
    networks: dict[IPv4Network, str] = {}
    for link in links:
        said = [_said(end, stand_ins) for end in link.ends]
        if said == [None, None]:
            continue
        pair, wrong = _pair(said[0], said[1])
        if pair is not None:
            network = pair[0].network
            other = next((where for known, where in networks.items() if known.overlaps(network)), None)
            wrong = "" if other is None else f"{network} overlaps the network of {other}"
            networks.setdefault(network, link.a.port)
        if pair is None or wrong:
            notes.append(f"{link.a.port} – {link.b.port}: addresses of the lab's own, as {wrong}")
            continue
        found |= {end.port: address for end, address in zip(link.ends, pair, strict=True)}
    return LinkAddresses(found, tuple(networks), tuple(notes))


def addressed(link: Link, by_port: Mapping[str, IPv4Interface]) -> Link:
    """Return a link whose ends have these addresses, and no others."""
    a, b = (
        replace(end, ipv4=Written(by_port[end.port], end.key, str(by_port[end.port]), end.place))
        if end.port in by_port
        else replace(end, ipv4=None)
        for end in link.ends
    )
    return replace(link, a=a, b=b)


def _said(end: Endpoint, stand_ins: Mapping[str, StandIn]) -> IPv4Interface | None:
    if end.ipv4 is not None:
        return end.ipv4.value
    stand_in = stand_ins.get(end.node)
    return None if stand_in is None else stand_in.addresses.get(end.interface)


def _pair(a: IPv4Interface | None, b: IPv4Interface | None) -> tuple[tuple[IPv4Interface, IPv4Interface] | None, str]:
    """Return the addresses of both ends; or None, and why not."""
    one = a or b
    assert one is not None
    network = one.network
    if not _SHORTEST <= network.prefixlen <= _LONGEST or not is_unicast(one):
        return None, f"{one} cannot be a link's"
    if a is None or b is None:
        free = next((ip for ip in network.hosts() if ip != one.ip), None)
        if free is None:
            return None, f"{one} leaves no address for the other end"
        other = IPv4Interface((free, network.prefixlen))
        return ((a or other), (b or other)), ""
    if a.network != b.network or a.ip == b.ip:
        return None, f"{a} and {b} are not of one network"
    return (a, b), ""
