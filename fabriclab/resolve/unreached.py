"""Which hosts reach which by the routes that switches will have: what BGP does not announce, or refuses for its own AS
number in the path, is found before a run waits for it."""

from __future__ import annotations

from collections import defaultdict
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
    by_name: Mapping[str, Interface]
    behind: dict[str, tuple[str, ...]]
    """The nodes behind its interfaces, as far as somebody has asked."""

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
        """Read the tables of all switches, and where hosts are."""
        self._family = family
        self._nodes = {node.name: node for node in nodes}
        self._tables = {node.name: _table(node, family) for node in nodes if node.role == "switch"}
        self._senders: dict[str, frozenset[str]] = {}
        self._at: dict[tuple[str, ...], set[str]] = defaultdict(set)
        """Hosts by the switches that they send to: the packets of all of them take the same paths."""
        self._beside: dict[str, set[str]] = defaultdict(set)
        """Hosts that a host reaches without a switch's routes."""
        for node in nodes:
            if node.role == "host":
                first = interfaces(node, family)[0]
                behind = [neighbour.node for neighbour in neighbours(node, first, self._nodes)]
                self._at[tuple(other.name for other in behind if other.role == "switch")].add(node.name)
                for other in behind:
                    self._beside[other.name].add(node.name)

    def reaches(self, one: str, other: str) -> bool:
        """Return whether the packets of two hosts reach each other, over whichever of the equal paths they take."""
        return one in self.senders_to(other) and other in self.senders_to(one)

    def senders_to(self, host: str) -> frozenset[str]:
        """Return the hosts whose packets arrive at a host's first address."""
        if host not in self._senders:
            self._senders[host] = frozenset(self._to(self._nodes[host]))
        return self._senders[host]

    def _to(self, target: Node) -> set[str]:
        address = ip_address(first_address(target, self._family))
        arrives: dict[str, bool] = {}
        senders = set(self._beside[target.name])
        for gateways, hosts in self._at.items():
            if any(self._passes(gateway, target, address, arrives) for gateway in gateways):
                senders |= hosts
        return senders - {target.name}

    def _passes(self, switch: str, target: Node, address: AnyAddress, arrives: dict[str, bool]) -> bool:
        """Return whether a switch's packets arrive; a path that comes back to itself does not."""
        if switch not in arrives:
            arrives[switch] = False
            arrives[switch] = self._forwards(switch, target, address, arrives)
        return arrives[switch]

    def _forwards(self, switch: str, target: Node, address: AnyAddress, arrives: dict[str, bool]) -> bool:
        table = self._tables[switch]
        for network, interface in table.attached:
            if address in network:
                return target.name in self._behind(switch, interface)
        following = [
            other
            for _, name in table.hops(address)
            if name in table.by_name
            for other in self._behind(switch, table.by_name[name])
        ]
        onward = [other for other in following if other in self._tables]
        return bool(onward) and all(self._passes(other, target, address, arrives) for other in onward)

    def _behind(self, switch: str, interface: Interface) -> tuple[str, ...]:
        """Return the nodes behind a switch's interface."""
        known = self._tables[switch].behind
        if interface.name not in known:
            found = neighbours(self._nodes[switch], interface, self._nodes)
            known[interface.name] = tuple(other.node.name for other in found)
        return known[interface.name]


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
    by_name = {interface.name: interface for _, interface in attached}
    return _Table(attached, tuple(sorted(by_length.items(), reverse=True)), by_name, {})
