"""Which hosts reach which by the routes that switches will have: what BGP does not announce, or refuses for its own AS
number in the path, is found before a run waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import NamedTuple

from fabriclab.formats.plan.node import Node
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.lab.reading.problems import listed
from fabriclab.resolve.interfaces import Interface, first_address, interfaces, neighbours

_Hops = tuple[tuple[str, str], ...]
"""Pairs of gateway address and interface; of a blackhole none."""


class _Table(NamedTuple):
    """What a switch forwards by."""

    attached: tuple[tuple[IPv4Network, Interface], ...]
    by_length: tuple[tuple[int, Mapping[int, _Hops]], ...]
    """Its routes: next hops by network address, longest prefixes first."""

    def hops(self, address: IPv4Address) -> _Hops:
        """Return the next hops of the longest prefix that an address is in; none without a route."""
        for length, routes in self.by_length:
            found = routes.get(int(address) >> (32 - length) << (32 - length))
            if found is not None:
                return found
        return ()


class Forwarding:
    """The routes of a plan's nodes, asked host by host."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        """Read the tables of all switches."""
        self._nodes = {node.name: node for node in nodes}
        self._tables = {node.name: _table(node) for node in nodes if node.role == "switch"}
        self._senders: dict[str, frozenset[str]] = {}

    def reaches(self, one: str, other: str) -> bool:
        """Return whether the packets of two hosts reach each other, over whichever of the equal paths they take."""
        return one in self.senders_to(other) and other in self.senders_to(one)

    def senders_to(self, host: str) -> frozenset[str]:
        """Return the hosts whose packets arrive at a host's first address."""
        if host not in self._senders:
            self._senders[host] = frozenset(self._to(self._nodes[host]))
        return self._senders[host]

    def _to(self, target: Node) -> Iterator[str]:
        address = IPv4Address(first_address(target))
        arrives: dict[str, bool] = {}
        for node in self._nodes.values():
            if node.role != "host" or node is target:
                continue
            first = interfaces(node)[0]
            behind = [neighbour.node for neighbour in neighbours(node, first, self._nodes)]
            gateways = [other for other in behind if other.role == "switch"]
            if target in behind or any(self._passes(gateway.name, target, address, arrives) for gateway in gateways):
                yield node.name

    def _passes(self, switch: str, target: Node, address: IPv4Address, arrives: dict[str, bool]) -> bool:
        """Return whether a switch's packets arrive; a path that comes back to itself does not."""
        if switch not in arrives:
            arrives[switch] = False
            arrives[switch] = self._forwards(switch, target, address, arrives)
        return arrives[switch]

    def _forwards(self, switch: str, target: Node, address: IPv4Address, arrives: dict[str, bool]) -> bool:
        table, node = self._tables[switch], self._nodes[switch]
        for network, interface in table.attached:
            if address in network:
                return any(other.node is target for other in neighbours(node, interface, self._nodes))
        by_name = {interface.name: interface for _, interface in table.attached}
        hops = [by_name[name] for _, name in table.hops(address) if name in by_name]
        following = [other.node for interface in hops for other in neighbours(node, interface, self._nodes)]
        onward = [other.name for other in following if other.role == "switch"]
        return bool(onward) and all(self._passes(other, target, address, arrives) for other in onward)


def unreached_warnings(nodes: Sequence[Node], traffic: Sequence[Traffic]) -> Iterator[str]:
    """Yield a sentence for each traffic some of whose hosts have no route to each other."""
    forwarding = Forwarding(nodes)
    hosts = [node.name for node in nodes if node.role == "host"]
    for each in traffic:
        pairs = {
            (sender, receiver)
            for direction in each.directions(hosts)
            for sender in direction.senders
            for receiver in direction.receivers or direction.senders
            if sender != receiver
        }
        lost = [pair for pair in sorted(pairs) if not forwarding.reaches(*pair)]
        if lost:
            named = listed([f"{sender} and {receiver}" for sender, receiver in lost])
            yield (
                f"traffic {each.name}: by BGP's routes {len(lost)} of {len(pairs)} pairs of hosts do not reach each "
                f"other ({named}); their flows never end"
            )


def _table(node: Node) -> _Table:
    by_length: dict[int, dict[int, _Hops]] = {}
    for route in node.routes:
        network = IPv4Network("0.0.0.0/0" if route.destination == "default" else route.destination)
        by_length.setdefault(network.prefixlen, {})[int(network.network_address)] = route.next_hops
    attached = tuple((IPv4Interface(interface.address).network, interface) for interface in interfaces(node))
    return _Table(attached, tuple(sorted(by_length.items(), reverse=True)))
