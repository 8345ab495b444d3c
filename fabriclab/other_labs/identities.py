"""AS numbers, loopbacks and MTUs: the topology's own, those of configurations, and what of these cannot be a lab's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import TypeVar

from fabriclab.lab.network.labels import parse_asn, parse_loopback
from fabriclab.lab.network.topology import LabNode, Link
from fabriclab.lab.reading.section import Written
from fabriclab.registry.vendors import StandIn

T = TypeVar("T")


@dataclass(frozen=True)
class Identities:
    """The nodes with their AS numbers and loopbacks."""

    by_node: Mapping[str, LabNode]
    notes: tuple[str, ...]


def node_identities(
    nodes: Sequence[LabNode], stand_ins: Mapping[str, StandIn], networks: Sequence[IPv4Network]
) -> Identities:
    """Return the nodes with what their configurations say, where it can be all of theirs; `networks` are the links'."""
    notes: list[str] = []
    said = {node.name: _with_said(node, stand_ins.get(node.name)) for node in nodes}
    counts = Counter(node.asn.value for node in said.values() if node.asn is not None)
    if any(count > 1 for count in counts.values()):
        shared = sorted(asn for asn, count in counts.items() if count > 1)
        notes.append(f"AS numbers are the lab's own, as several switches share one ({', '.join(map(str, shared))})")
        said = {name: replace(node, asn=None) for name, node in said.items()}
    loopbacks = Counter(node.loopback.value for node in said.values() if node.loopback is not None)
    for name, node in said.items():
        if node.loopback is None:
            continue
        address = node.loopback.value
        if loopbacks[address] > 1 or any(address in network for network in networks):
            notes.append(f"{name}: its loopback is the lab's own, as {address} is in use elsewhere")
            said[name] = replace(node, loopback=None)
    return Identities(said, tuple(notes))


def _with_said(node: LabNode, stand_in: StandIn | None) -> LabNode:
    if stand_in is None:
        return node
    asn = node.asn or _written(node, None if stand_in.asn is None else str(stand_in.asn), parse_asn)
    loopback = None if stand_in.loopback is None else str(stand_in.loopback)
    return replace(node, asn=asn, loopback=node.loopback or _written(node, loopback, parse_loopback))


def _written(node: LabNode, text: str | None, parse: Callable[[str], T]) -> Written[T] | None:
    """Return a value that a label may have; None for any other."""
    try:
        return None if text is None else Written(parse(text), "", text, node.place)
    except ValueError:
        return None


@dataclass(frozen=True)
class LinkMtus:
    """The MTU of each link, by its key."""

    by_link: Mapping[str, Written[int] | None]
    notes: tuple[str, ...]


def link_mtus(links: Sequence[Link], stand_ins: Mapping[str, StandIn]) -> LinkMtus:
    """Return the links' MTUs: the topology's, else the smaller one of the two ends."""
    found, notes = {}, []
    for link in links:
        said = [
            stand_ins[end.node].mtus[end.interface]
            for end in link.ends
            if end.node in stand_ins and end.interface in stand_ins[end.node].mtus
        ]
        mtu = min(said, default=None)
        if link.mtu is None and len({*said}) > 1:
            notes.append(f"{link.a.port} – {link.b.port}: MTU {mtu}, the smaller one of {said[0]} and {said[1]}")
        found[link.key] = link.mtu or (None if mtu is None else Written(mtu, link.key, str(mtu), link.place))
    return LinkMtus(found, tuple(notes))
