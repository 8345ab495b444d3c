"""Which hosts reach which by the routes that switches will have: what BGP does not announce, or refuses for its own AS
number in the path, is found before a run waits for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from fabriclab.formats.family import Family, family_of
from fabriclab.formats.plan.node import DEFAULT, Node
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.keys.wording import listed
from fabriclab.resolve.interfaces import Interface, families_of, first_address, interfaces, neighbours

_Hops = tuple[tuple[str, str], ...]
"""Pairs of gateway address and interface; of a blackhole none."""


class _Table(NamedTuple):
    """What a switch forwards by."""

    attached: tuple[tuple[int, int, Interface], ...]
    """Its networks, each with its interface, as an address and a mask."""
    by_length: tuple[tuple[int, Mapping[int, _Hops]], ...]
    """Its routes: a mask, and the next hops by network address; longest prefixes first."""
    by_name: Mapping[str, Interface]
    behind: dict[str, tuple[str, ...]]
    """The nodes behind its interfaces, as far as somebody has asked."""

    def attached_to(self, address: int) -> Interface | None:
        """Return the interface in whose network an address is."""
        return next((interface for network, mask, interface in self.attached if address & mask == network), None)

    def hops(self, address: int) -> _Hops:
        """Return the next hops of the longest prefix that an address is in; none without a route."""
        for mask, routes in self.by_length:
            found = routes.get(address & mask)
            if found is not None:
                return found
        return ()


class Forwarding:
    """The routes of a plan's nodes, of one family, asked host by host."""

    def __init__(self, nodes: Sequence[Node], family: Family = 4) -> None:
        """Read the tables of all switches, and where hosts are."""
        self._family = family
        self._nodes = {node.name: node for node in nodes}
        numbers = cache(_numbers)  # all switches have routes to about the same networks
        self._tables = {node.name: _table(node, family, numbers) for node in nodes if node.role == "switch"}
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
        address = int(ip_address(first_address(target, self._family)))
        arrives: dict[str, bool] = {}
        senders = set(self._beside[target.name])
        for gateways, hosts in self._at.items():
            if any(self._passes(gateway, target, address, arrives) for gateway in gateways):
                senders |= hosts
        return senders - {target.name}

    def _passes(self, switch: str, target: Node, address: int, arrives: dict[str, bool]) -> bool:
        """Return whether a switch's packets arrive; a path that comes back to itself does not."""
        if switch not in arrives:
            arrives[switch] = False
            arrives[switch] = self._forwards(switch, target, address, arrives)
        return arrives[switch]

    def _forwards(self, switch: str, target: Node, address: int, arrives: dict[str, bool]) -> bool:
        table = self._tables[switch]
        attached = table.attached_to(address)
        if attached is not None:
            return target.name in self._behind(switch, attached)
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


def _table(node: Node, family: Family, numbers: Callable[[str], tuple[int, int]]) -> _Table:
    """Return a switch's table; `numbers` is `_numbers`, or knows what that has returned."""
    by_mask: dict[int, dict[int, _Hops]] = {}
    for route in (route for route in node.routes if family_of(route.destination) == family):
        start, mask = numbers("0.0.0.0/0" if route.destination == DEFAULT else route.destination)
        by_mask.setdefault(mask, {})[start] = route.next_hops
    own = interfaces(node, family)
    attached = tuple((*numbers(interface.address), interface) for interface in own)
    by_name = {interface.name: interface for interface in own}
    return _Table(attached, tuple(sorted(by_mask.items(), reverse=True)), by_name, {})


def _numbers(text: str) -> tuple[int, int]:
    """Return the address and the mask of a network, or of the one that an interface's address is in."""
    network = ip_network(text, strict=False)
    return int(network.network_address), int(network.netmask)
