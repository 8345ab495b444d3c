"""The routes of a fabric by its configurations alone: which sessions come up, what they tell, and what each switch
forwards by. Nothing runs.

BGP's decisions and policies are those of `resolve/bgp_paths.py`. Sessions over links count, and external ones only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_network
from typing import NamedTuple

from fabriclab.formats.family import AnyAddress, AnyInterface, AnyNetwork, Family
from fabriclab.formats.plan.node import BgpNeighbour as PlannedNeighbour
from fabriclab.formats.plan.node import OwnBgp
from fabriclab.formats.plan.policies import Announcement
from fabriclab.resolve.bgp_paths import Outcome, Paths, SessionEnd, Speaking, outcome_of, used_paths
from fabriclab.vendors.sonic.fabric.link_rules import autonegotiation, forward_error_correction
from fabriclab.vendors.sonic.fabric.view import View
from fabriclab.vendors.sonic.lab.fabric_switches import End, FabricSwitch
from fabriclab.vendors.sonic.read.config_db import BgpNeighbour

_LOOPBACK = "Loopback0"
_EBGP_DISTANCE = 20
_KEEPALIVE_S, _HOLD_S = 60, 180


class Hop(NamedTuple):
    """A next hop: the neighbour, and the interface that leads there."""

    switch: str
    interface: str


@dataclass(frozen=True)
class Destination:
    """A network that packets are for."""

    network: AnyNetwork
    owner: str
    """A switch that has it."""
    interface: str
    is_loopback: bool = False

    def __str__(self) -> str:
        return f"{self.network} ({self.owner}:{self.interface})"


Table = Mapping[AnyNetwork, tuple[Hop, ...]]
"""The next hops by prefix; none: packets are dropped."""


@dataclass(frozen=True, eq=False)
class FabricRouting:
    """The routes of a fabric, of one family."""

    view: View
    dead: frozenset[End] = field(default_factory=frozenset)
    """Ends of links that carry nothing."""
    family: Family = 4

    @cached_property
    def down(self) -> frozenset[End]:
        """Ends of links that would not come up, because their ends differ in speed, FEC or autonegotiation."""
        found = {
            end for link in self.view.links if len({self._speed(end) for end in link.ends}) > 1 for end in link.ends
        }
        for rule in (forward_error_correction, autonegotiation):
            for switch, one in rule(self.view):
                found |= {End(switch, port) for port in one.ports if one.severity == "error"}
        return frozenset(found)

    def _speed(self, end: End) -> int | None:
        return self.view.switch(end).config.ports[end.port].speed_mbps

    @cached_property
    def sessions(self) -> Mapping[str, Mapping[str, tuple[BgpNeighbour, SessionEnd]]]:
        """The sessions that come up, by switch and its interface, each with the other end."""
        said = {switch.name: dict(self.said(switch)) for switch in self._switches()}
        return {
            name: {
                interface: (session, far)
                for interface, (session, far) in own.items()
                if self._comes_up(name, interface, session, far, said)
            }
            for name, own in said.items()
        }

    def _switches(self) -> Iterator[FabricSwitch]:
        yield from self.view.fabric.switches.values()

    def said(self, switch: FabricSwitch) -> Iterator[tuple[str, tuple[BgpNeighbour, SessionEnd]]]:
        """Yield a switch's sessions over links of the fabric, by interface, each with the other end."""
        for session, interface in switch.sessions_of(self.family):
            far = self._far(switch, interface)
            if far is not None:
                yield interface, (session, far)

    def _far(self, switch: FabricSwitch, interface: str) -> SessionEnd | None:
        """Return the interface at the other end of a port or port channel, if one of its links carries anything."""
        for port in switch.ports:
            near = End(switch.name, port)
            if switch.channel_of.get(port, port) == interface and near in self.view.far:
                far = self.view.far[near]
                if not {near, far} & (self.dead | self.down):
                    other = self.view.switch(far)
                    return SessionEnd(far.switch, other.channel_of.get(far.port, far.port))
        return None

    def _comes_up(
        self,
        name: str,
        interface: str,
        session: BgpNeighbour,
        far: SessionEnd,
        said: Mapping[str, Mapping[str, tuple[BgpNeighbour, SessionEnd]]],
    ) -> bool:
        back = said[far.switch].get(far.interface)
        if back is None or back[1] != SessionEnd(name, interface):
            return False
        own, other = (self.view.fabric.switches[each] for each in (name, far.switch))
        asns = own.config.asn, other.config.asn
        agree = session.asn in (None, asns[1]) and back[0].asn in (None, asns[0])
        return (
            agree
            and None not in asns
            and asns[0] != asns[1]
            and self._knows(session, far)
            and self._knows(back[0], SessionEnd(name, interface))
        )

    def _knows(self, session: BgpNeighbour, far: SessionEnd) -> bool:
        """Return whether a session is to the address that the other end has, or to none."""
        if session.address is None:
            return True
        if session.address.version == 6:
            every = self.view.fabric.switches[far.switch].addresses_of(6).get(far.interface, ())
            return any(one.ip == session.address for one in every)
        there = self.view.fabric.switches[far.switch].interfaces.get(far.interface)
        return there is not None and there.address.ip == session.address

    @cached_property
    def speakers(self) -> Mapping[str, Speaking]:
        """The switches as BGP knows them."""
        return {
            switch.name: Speaking(
                switch.name,
                switch.config.asn or 0,
                self._own(switch),
                {interface: far for interface, (_, far) in self.sessions[switch.name].items()},
                dict(self._addresses(switch)),
                family=self.family,
            )
            for switch in self._switches()
        }

    def _addresses(self, switch: FabricSwitch) -> Iterator[tuple[str, AnyInterface]]:
        """Yield the addresses of interfaces that carry anything."""
        cabled = self._cabled(switch)
        for interface, addresses in switch.addresses_of(self.family).items():
            if interface not in cabled or self._far(switch, interface) is not None:
                yield interface, addresses[0]

    def _own(self, switch: FabricSwitch) -> OwnBgp:
        config, networks = switch.config, announced(switch, self.family)
        neighbours = tuple(
            PlannedNeighbour.model_construct(
                interface=interface,
                address=None if session.address is None else str(session.address),
                asn=session.asn,
                keepalive_s=session.keepalive_s or _KEEPALIVE_S,
                hold_s=session.hold_s or _HOLD_S,
                bfd=session.bfd,
                policy=session.policy,
                policy6=session.policy6,
            )
            for interface, (session, _) in self.sessions[switch.name].items()
        )
        # Nothing of it becomes a plan, and a file may have names that no plan takes.
        return OwnBgp.model_construct(
            neighbours=neighbours,
            networks=tuple(map(str, networks)),
            max_paths=config.max_paths,
            policies=config.policies,
            policies6=config.policies6,
            announcements=tuple(_announcements(switch, networks)),
        )

    def _cabled(self, switch: FabricSwitch) -> frozenset[str]:
        """Return the ports and port channels of a switch that lead to another one."""
        ports = (port for port in switch.config.ports if End(switch.name, port) in self.view.far)
        return frozenset(switch.channel_of.get(port, port) for port in ports)

    @cached_property
    def destinations(self) -> tuple[Destination, ...]:
        """The networks behind ports that lead to no other switch, and loopbacks; each once for each switch that has
        it."""
        found = []
        for switch in self._switches():
            cabled = self._cabled(switch)
            for interface, addresses in switch.addresses_of(self.family).items():
                if interface not in cabled:
                    found += [Destination(one.network, switch.name, interface) for one in addresses]
            for one in loopbacks(switch, self.family):
                found.append(Destination(ip_network(one.ip), switch.name, _LOOPBACK, is_loopback=True))
        return tuple(found)

    @cached_property
    def _used(self) -> Mapping[str, Mapping[str, Paths] | None]:
        """What each switch uses to each prefix that is announced; None: it does not settle."""
        origins: dict[str, list[str]] = defaultdict(list)
        for name, speaking in self.speakers.items():
            for prefix in speaking.own.networks if speaking.own is not None else ():
                origins[prefix].append(name)
        known: dict[tuple[object, ...], Mapping[str, Paths] | None] = {}
        found = {}
        for prefix, names in origins.items():
            verdicts = tuple(
                (one.announcements.get(prefix), one.book.prefix_verdicts(prefix)) for one in self.speakers.values()
            )
            alike = (tuple(names), verdicts)
            if alike not in known:
                known[alike] = used_paths(prefix, names, self.speakers)
            found[prefix] = known[alike]
        return found

    @property
    def prefixes(self) -> Collection[str]:
        """What switches announce."""
        return self._used.keys()

    def used(self, prefix: str) -> Mapping[str, Paths]:
        """Return the equal paths of each switch to an announced prefix; nothing where they never agree."""
        return self._used[prefix] or {}

    @cached_property
    def unsettled(self) -> tuple[str, ...]:
        """Prefixes of which switches never agree, so that nobody knows what becomes of them."""
        return tuple(prefix for prefix, used in self._used.items() if used is None)

    def outcome(self, prefix: AnyNetwork) -> Outcome | None:
        """Return what becomes of an announced prefix, with the policies that keep it out; None for another one."""
        names = [name for name, one in self.speakers.items() if one.own and str(prefix) in one.own.networks]
        return outcome_of(str(prefix), names, self.speakers) if names else None

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """What each switch forwards by, beside the networks that it is in."""
        tables: dict[str, dict[AnyNetwork, tuple[Hop, ...]]] = {name: {} for name in self.speakers}
        for prefix, used in self._used.items():
            for name, paths in (used or {}).items():
                if paths and all(path.interface is not None for path in paths):
                    most = self.view.fabric.switches[name].config.max_paths
                    tables[name][ip_network(prefix)] = tuple(self._hops(name, paths[:most]))
        for switch in self._switches():
            tables[switch.name] |= self._static(switch, tables[switch.name])
        return tables

    def _hops(self, name: str, paths: Paths) -> Iterator[Hop]:
        """Yield the next hops of paths, each once: none for the address of no switch, whose packets are lost."""
        found: dict[Hop, None] = {}
        for path in paths:
            if path.way is None:
                interface = path.interface or ""
                found[Hop(self.speakers[name].sessions[interface].switch, interface)] = None
            elif (hop := self._hop(self.view.fabric.switches[name], *path.way)) is not None:
                found[hop] = None
        yield from found

    def astray(self, name: str, network: AnyNetwork) -> tuple[str, str] | None:
        """Return the next hop of a switch's path to a network that is the address of no switch, and the interface that
        the route came by; None where all of them are."""
        for path in self.used(str(network)).get(name, ()) if str(network) in self.prefixes else ():
            if path.way is not None and self._hop(self.view.fabric.switches[name], *path.way) is None:
                return path.way[0], path.interface or ""
        return None

    def _hop(self, switch: FabricSwitch, address: str, interface: str) -> Hop | None:
        far = self._far(switch, interface)
        addresses = () if far is None else self.view.fabric.switches[far.switch].addresses_of(self.family)
        is_there = far is not None and any(str(one.ip) == address for one in dict(addresses).get(far.interface, ()))
        return Hop(far.switch, interface) if far is not None and is_there else None

    def _static(self, switch: FabricSwitch, learnt: Table) -> Table:
        """Return the static routes that a switch uses: those of the lowest distance, before BGP's if that is lower."""
        found: dict[AnyNetwork, tuple[Hop, ...]] = {}
        for route in switch.static_routes_of(self.family):
            if route.prefix in learnt and min(hop.distance for hop in route.hops) > _EBGP_DISTANCE:
                continue
            ways: dict[int, list[Hop]] = defaultdict(list)
            for hop in route.hops:
                interface = hop.interface or _towards(switch, hop.address)
                far = self._far(switch, interface) if interface else None
                ways[hop.distance] += [] if far is None else [Hop(far.switch, interface)]
            drops = {hop.distance for hop in route.hops if hop.blackhole}
            usable = sorted(distance for distance, hops in ways.items() if hops or distance in drops)
            if usable:
                found[route.prefix] = tuple(ways[usable[0]])
        return found


def routings(view: View, dead: Collection[End] = ()) -> tuple[FabricRouting, ...]:
    """Return the routes of each family: of IPv6, if the switches' files route it."""
    families: tuple[Family, ...] = (4, 6) if routes_ipv6(view) else (4,)
    return tuple(FabricRouting(view, frozenset(dead), family) for family in families)


def routes_ipv6(view: View) -> bool:
    """Return whether a session carries routes of IPv6, a switch has static ones, or hosts have nothing else."""
    switches = view.fabric.switches.values()
    is_said = any(one.config.static_routes6 or any(True for _ in one.sessions_of(6)) for one in switches)
    return (is_said and bool(view.hosts6)) or any(is_alone for _, _, is_alone in view.hosts6)


def loopbacks(switch: FabricSwitch, family: Family) -> tuple[AnyInterface, ...]:
    """Return the addresses of a family that Loopback0 has."""
    every: Mapping[str, tuple[AnyInterface, ...]] = switch.config.loopbacks if family == 4 else switch.config.loopbacks6
    return every.get(_LOOPBACK, ())


def _towards(switch: FabricSwitch, address: AnyAddress | None) -> str:
    """Return the interface whose network has an address; empty without one."""
    if address is None:
        return ""
    if address.version == 6:
        every = switch.addresses_of(6).items()
        return next((name for name, own in every if any(address in one.network for one in own)), "")
    return next((name for name, one in switch.interfaces.items() if address in one.address.network), "")


def announced(switch: FabricSwitch, family: Family) -> tuple[AnyNetwork, ...]:
    """Return what a switch announces of a family.

    bgpcfgd announces Loopback0 and the networks of VLANs (bgpd.main.conf.j2), frrcfgd what its tables say.
    """
    config = switch.config
    own_loopbacks = [ip_network(one.ip) for one in loopbacks(switch, family)[:1]]
    vlans = {vlan.name for vlan in config.vlans}
    own = {name: [one.network for one in every] for name, every in switch.addresses_of(family).items()}
    of_vlans = [network for name, networks in own.items() if name in vlans for network in networks]
    static = [route.prefix for route in switch.static_routes_of(family) if route.advertised]
    if not config.frrcfgd:
        return tuple(dict.fromkeys([*own_loopbacks, *of_vlans, *static]))
    said: tuple[AnyNetwork, ...] = config.networks if family == 4 else config.networks6
    if not (config.announces_connected if family == 4 else config.announces_connected6):
        return tuple(dict.fromkeys([*said, *static]))
    every = [network for networks in own.values() for network in networks]
    return tuple(dict.fromkeys([*said, *every, *own_loopbacks, *static]))


def _announcements(switch: FabricSwitch, networks: tuple[AnyNetwork, ...]) -> Iterator[Announcement]:
    """Yield the networks that go through a map."""
    for network in networks:
        name = switch.config.announcement_map(network)
        if name is not None:
            yield Announcement(prefix=str(network), map=name)
