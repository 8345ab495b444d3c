"""Which hosts reach which by the routes that switches will have: what BGP does not announce, or refuses for its own AS
number in the path, is found before a run waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_interface, ip_network
from typing import NamedTuple

from fabriclab.formats.family import AnyAddress, AnyNetwork, Family, family_of
from fabriclab.formats.plan.node import DEFAULT, Node
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.keys.wording import listed
from fabriclab.resolve.interfaces import Interface, families_of, first_address, interfaces, neighbours

_Hops = tuple[tuple[str, str], ...]
"""Pairs of gateway address and interface; of a blackhole none."""


class _Table(NamedTuple):
    """What a switch forwards by."""

    attached: tuple[tuple[AnyNetwork, Interface], ...]
    by_length: tuple[tuple[int, Mapping[int, _Hops]], ...]
    """Its routes: next hops by network address, longest prefixes first."""

    def hops(self, address: AnyAddress) -> _Hops:
        """Return the next hops of the longest prefix that an address is in; none without a route."""
        for length, routes in self.by_length:
            found = routes.get(int(address) >> (address.max_prefixlen - length) << (address.max_prefixlen - length))
            if found is not None:
                return found
        return ()


class Forwarding:
    """The routes of a plan's nodes, of one family, asked host by host."""

    def __init__(self, nodes: Sequence[Node], family: Family = 4) -> None:
        """Read the tables of all switches."""
        self._family = family
        self._nodes = {node.name: node for node in nodes}
        self._tables = {node.name: _table(node, family) for node in nodes if node.role == "switch"}
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
        address = ip_address(first_address(target, self._family))
        arrives: dict[str, bool] = {}
        for node in self._nodes.values():
            if node.role != "host" or node is target:
                continue
            first = interfaces(node, self._family)[0]
            behind = [neighbour.node for neighbour in neighbours(node, first, self._nodes)]
            gateways = [other for other in behind if other.role == "switch"]
            if target in behind or any(self._passes(gateway.name, target, address, arrives) for gateway in gateways):
                yield node.name

    def _passes(self, switch: str, target: Node, address: AnyAddress, arrives: dict[str, bool]) -> bool:
        """Return whether a switch's packets arrive; a path that comes back to itself does not."""
        if switch not in arrives:
            arrives[switch] = False
            arrives[switch] = self._forwards(switch, target, address, arrives)
        return arrives[switch]

    def _forwards(self, switch: str, target: Node, address: AnyAddress, arrives: dict[str, bool]) -> bool:
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
    families = families_of(nodes[0])
    forwarding = {family: Forwarding(nodes, family) for family in families}
    hosts = [node.name for node in nodes if node.role == "host"]
    for each in traffic:
        pairs = {
            (sender, receiver)
            for direction in each.directions(hosts)
            for sender in direction.senders
            for receiver in direction.receivers or direction.senders
            if sender != receiver
        }
        over = forwarding[each.carried_by.ip or families[0]]
        lost = [pair for pair in sorted(pairs) if not over.reaches(*pair)]
        if lost:
            named = listed([f"{sender} and {receiver}" for sender, receiver in lost])
            yield (
                f"traffic {each.name}: with BGP's routes {len(lost)} of {len(pairs)} pairs of hosts can't reach each "
                f"other ({named}); their flows never end"
            )


def _table(node: Node, family: Family) -> _Table:
    by_length: dict[int, dict[int, _Hops]] = {}
    for route in (route for route in node.routes if family_of(route.destination) == family):
        network = ip_network("0.0.0.0/0" if route.destination == DEFAULT else route.destination)
        by_length.setdefault(network.prefixlen, {})[int(network.network_address)] = route.next_hops
    attached = tuple((ip_interface(interface.address).network, interface) for interface in interfaces(node, family))
    return _Table(attached, tuple(sorted(by_length.items(), reverse=True)))
