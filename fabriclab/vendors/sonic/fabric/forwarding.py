"""Where packets for a network go, switch by switch, over every equal path: all of them at once, not one packet.

A network is taken apart where a switch has a route to a part of it, so that every address of a part goes one way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from fabriclab.formats.family import AnyAddress, AnyNetwork, is_within
from fabriclab.vendors.sonic.fabric.routing import Destination, FabricRouting, Hop


class Lost(NamedTuple):
    """Where packets end that do not arrive."""

    switch: str
    why: str


@dataclass(frozen=True)
class Fate:
    """What becomes of packets from a switch to a part of a network."""

    part: AnyNetwork
    paths: int
    """How many equal paths arrive; parallel links count, members of a port channel do not."""
    width: int
    """How many next hops the switch itself has."""
    shortest: int
    longest: int
    """Links that packets take; 0 where the switch is in the network itself."""
    lost: Lost | None
    """Where one of its paths ends elsewhere; None: all paths arrive."""


@dataclass(frozen=True, eq=False)
class Part:
    """The ways of all switches to addresses that go one way."""

    network: AnyNetwork
    hops: Mapping[str, tuple[Hop, ...]]
    """By switch; a switch without an entry has no route, one without hops drops."""
    owners: frozenset[str]
    """Switches that are in the network."""
    _known: dict[str, Fate] = field(default_factory=dict)

    def fate(self, switch: str) -> Fate:
        """Return what becomes of packets that a switch has."""
        if switch not in self._known:
            self._known[switch] = self._found(switch)
        return self._known[switch]

    def _found(self, switch: str) -> Fate:
        if switch in self.owners:
            return Fate(self.network, 1, 0, 0, 0, None)
        # While it is being found, a path that comes back here is a loop.
        self._known[switch] = Fate(self.network, 0, 0, 0, 0, Lost(switch, "packets come back: a loop"))
        hops = self.hops.get(switch)
        if not hops:
            return Fate(self.network, 0, 0, 0, 0, Lost(switch, "no route" if hops is None else "a route that drops"))
        onward = [self.fate(hop.switch) for hop in hops]
        arriving = [fate for fate in onward if fate.paths]
        lost = next((fate.lost for fate in onward if fate.lost is not None), None)
        return Fate(
            self.network,
            sum(fate.paths for fate in arriving),
            len(hops),
            1 + min((fate.shortest for fate in arriving), default=-1),
            1 + max((fate.longest for fate in arriving), default=-1),
            lost,
        )

    def comes_back(self, switch: str) -> tuple[str, ...]:
        """Return the other switches of the loops in which a switch is, the nearest first; nothing where it is in
        none."""
        return tuple(name for name in self._onward(switch) if name != switch and switch in self._onward(name))

    def _onward(self, switch: str) -> Mapping[str, None]:
        """Return the switches that packets of a switch may come to."""
        found: dict[str, None] = {}
        frontier = [switch]
        while frontier:
            for hop in () if frontier[0] in self.owners else self.hops.get(frontier[0]) or ():
                if hop.switch not in found:
                    found[hop.switch] = None
                    frontier.append(hop.switch)
            frontier.pop(0)
        return found

    def avoids(self, switch: str, waypoints: Collection[str]) -> tuple[str, ...]:
        """Return a path that arrives without passing any of these switches; nothing if there is none."""
        if switch in waypoints:
            return ()
        reached, frontier = {switch: ""}, [switch]
        while frontier:
            here = frontier.pop(0)
            if here in self.owners:
                return tuple(reversed(list(_back(here, reached))))
            for hop in self.hops.get(here) or ():
                if hop.switch not in reached and hop.switch not in waypoints:
                    reached[hop.switch] = here
                    frontier.append(hop.switch)
        return ()


def _back(switch: str, before: Mapping[str, str]) -> Iterator[str]:
    while switch:
        yield switch
        switch = before[switch]


@dataclass(frozen=True, eq=False)
class Forwarding:
    """The ways to all networks of a fabric, of one family."""

    routing: FabricRouting

    @cached_property
    def _prefixes(self) -> tuple[AnyNetwork, ...]:
        return tuple(dict.fromkeys(prefix for table in self.routing.tables.values() for prefix in table))

    @cached_property
    def _by_length(self) -> Mapping[str, list[tuple[int, Mapping[int, tuple[Hop, ...]]]]]:
        """The routes of each switch by mask, longest prefixes first."""
        found: dict[str, list[tuple[int, Mapping[int, tuple[Hop, ...]]]]] = {}
        for name, table in self.routing.tables.items():
            masks: dict[int, dict[int, tuple[Hop, ...]]] = {}
            for prefix, hops in table.items():
                masks.setdefault(int(prefix.netmask), {})[int(prefix.network_address)] = hops
            found[name] = sorted(masks.items(), reverse=True)
        return found

    @cached_property
    def _parts(self) -> dict[AnyNetwork, tuple[Part, ...]]:
        return {}

    def parts(self, destination: Destination) -> tuple[Part, ...]:
        """Return the parts of a network."""
        if destination.network not in self._parts:
            inside = [
                one for one in self._prefixes if one != destination.network and is_within(one, destination.network)
            ]
            parts = [self._part(one, destination, _address_in(one, inside)) for one in (destination.network, *inside)]
            self._parts[destination.network] = tuple(part for part in parts if part is not None)
        return self._parts[destination.network]

    def _part(self, network: AnyNetwork, destination: Destination, address: AnyAddress | None) -> Part | None:
        if address is None:
            return None
        owners = frozenset(one.owner for one in self.routing.destinations if address in one.network)
        hops = {name: found for name in self._by_length if (found := self._hops(name, int(address))) is not None}
        # A longer prefix comes before the network that a switch is in itself.
        longer = {name for name in owners if self._is_longer(name, int(address), destination.network)}
        return Part(network, hops, owners - longer)

    def _hops(self, name: str, address: int) -> tuple[Hop, ...] | None:
        for mask, routes in self._by_length[name]:
            if address & mask in routes:
                return routes[address & mask]
        return None

    def _is_longer(self, name: str, address: int, network: AnyNetwork) -> bool:
        return any(mask > int(network.netmask) and address & mask in routes for mask, routes in self._by_length[name])


def _address_in(network: AnyNetwork, parts: Collection[AnyNetwork]) -> AnyAddress | None:
    """Return an address of a network that is in none of the smaller ones in it; None: they fill it."""
    smaller = [one for one in parts if one != network and is_within(one, network)]
    edges = [int(one.broadcast_address) + 1 for one in smaller] + [int(one.network_address) - 1 for one in smaller]
    candidates = [int(network.network_address) + (network.num_addresses > 2), int(network.network_address), *edges]
    first, last = int(network.network_address), int(network.broadcast_address)
    for number in candidates:
        if first <= number <= last and not any(network[number - first] in one for one in smaller):
            return network[number - first]
    return None
