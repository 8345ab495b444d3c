"""What the config_db.json of a switch of kind sonic-vs says of it: AS number, loopback, sessions, networks,
groups of ports, profile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import TypeVar

from fabriclab.formats.family import AnyNetwork, Family
from fabriclab.formats.plan.filters import FilterTable
from fabriclab.formats.plan.policies import Announcement
from fabriclab.lab.network.labels import parse_asn, parse_loopback
from fabriclab.lab.network.own_configuration import NotEmulated, OwnConfiguration, OwnSession, Touches
from fabriclab.lab.network.topology import Endpoint, LabNode, Link
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written
from fabriclab.vendors.common.profile_file import profile_text
from fabriclab.vendors.sonic.judge.places import FIELDS
from fabriclab.vendors.sonic.judge.switch_rules import REMEDIES
from fabriclab.vendors.sonic.kind.groups import written_layer2
from fabriclab.vendors.sonic.kind.vrfs import with_vrfs
from fabriclab.vendors.sonic.lab.files import LOOPBACK
from fabriclab.vendors.sonic.lab.load_balancing import written_load_balancing
from fabriclab.vendors.sonic.profile.switch_profile import says_memory, switch_profile
from fabriclab.vendors.sonic.read.config_db import BgpNeighbour, ConfigDb
from fabriclab.vendors.sonic.read.interface_names import table_of
from fabriclab.vendors.sonic.read.port_groups import PortGroups, first_ipv6, port_groups

T = TypeVar("T")
_KEEPALIVE_S, _HOLD_S = 60, 180
"""Where BGP_NEIGHBOR says nothing: SONiC's template of bgpd.conf (dockers/docker-fpm-frr/frr/bgpd),
and FRR's own defaults."""


def bind_nodes(
    nodes: Sequence[LabNode],
    links: Sequence[Link],
    configs: Mapping[str, ConfigDb],
    problems: Problems,
    families: tuple[Family, ...],
) -> tuple[LabNode, ...]:
    """Return the nodes with what their files say: AS number, loopback, sessions, buffers and QoS; `families` are those
    of the lab's addresses."""
    links_of: dict[str, list[Link]] = {node.name: [] for node in nodes}
    for link in links:
        for name in dict.fromkeys(end.node for end in link.ends):
            links_of[name].append(link)
    return tuple(
        _NodeBinder(node, configs, links_of[node.name], problems, families).bind() if node.name in configs else node
        for node in nodes
    )


@dataclass(frozen=True)
class _NodeBinder:
    """Binds one switch."""

    node: LabNode
    configs: Mapping[str, ConfigDb]
    links: Sequence[Link]
    """Its own."""
    problems: Problems
    families: tuple[Family, ...]
    """Of the addresses that the lab has."""
    notes: dict[str, None] = field(default_factory=dict)

    @cached_property
    def config(self) -> ConfigDb:
        """The switch's own config_db.json."""
        return self.configs[self.node.name]

    @property
    def _has6(self) -> bool:
        return 6 in self.families

    @property
    def _static_notes(self) -> tuple[str, ...]:
        return self.config.static_route_notes6 if self._has6 else self.config.static_route_notes

    @cached_property
    def links_here(self) -> tuple[tuple[Endpoint, Endpoint], ...]:
        """The switch's links: its own end, and the other one."""
        return tuple(
            (near, far)
            for link in self.links
            for near, far in (link.ends, link.ends[::-1])
            if near.node == self.node.name
        )

    @cached_property
    def groups(self) -> PortGroups:
        """The VLANs and port channels of ports that have links."""
        return port_groups(self.config, [near.interface for near, _ in self.links_here], self.notes)

    def bind(self) -> LabNode:
        """Return the node with what its config_db.json says of it."""
        config = self.config
        rates = {
            near.interface: near.rate.value
            for near, _ in self.links_here
            if near.rate is not None and near.interface in config.ports
        }
        found: dict[str, None] = {}
        profile = (
            switch_profile(self.node.name, config, rates, None, found, self.problems)
            if says_memory(config, self.notes)
            else None
        )
        # What stands in for something else is told at each check; what is simply not there was told by the import.
        self.notes.update((note, None) for note in found if "|meter_type: " in note)
        networks = [*(self._networks() if 4 in self.families else ()), *(self._networks6() if self._has6 else ())]
        own = OwnConfiguration(
            file=config.file,
            profile="" if profile is None else profile_text(profile),
            sessions=tuple(one for neighbour in self._neighbours() if (one := self._session(neighbour)) is not None),
            max_paths=config.max_paths,
            networks=tuple(networks),
            families=self.families,
            policies=config.policies,
            policies6=config.policies6 if self._has6 else None,
            announcements=tuple(self._announcements(networks)),
            static_routes=(*config.static_routes, *(config.static_routes6 if self._has6 else ())),
            layer2=written_layer2(config, self.groups, self.families),
            filters=tuple(self._filters()),
            load_balancing=written_load_balancing(config),
            not_emulated=(*config.not_emulated, *self._of_one_family()),
            remedies=REMEDIES,
            fields=FIELDS,
            notes=(*self.notes, *self._static_notes, *config.adaptive_routing.notes),
        )
        if any(any(one.vrfs.values()) for one in self.configs.values()):
            own = with_vrfs(own, self.node.name, config, [near.interface for near, _ in self.links_here])
        loopback6 = self._loopback6() if self._has6 else self.node.loopback6
        return replace(self.node, asn=self._asn(), loopback=self._loopback(), loopback6=loopback6, own=own)

    def _asn(self) -> Written[int] | None:
        if self.config.asn is None:
            return self.node.asn
        table = (
            ("BGP_GLOBALS", "default", "local_asn")
            if self.config.frrcfgd
            else ("DEVICE_METADATA", "localhost", "bgp_asn")
        )
        return self._same(self.node.asn, str(self.config.asn), table, parse_asn)

    def _loopback(self) -> Written[IPv4Address] | None:
        said = next(iter(self.config.loopbacks.get(LOOPBACK, ())), None)
        if said is None:
            return self.node.loopback
        return self._same(
            self.node.loopback, str(said.ip), ("LOOPBACK_INTERFACE", f"{LOOPBACK}|{said}"), parse_loopback
        )

    def _same(
        self, label: Written[T] | None, said: str, path: tuple[str, ...], parse: Callable[[str], T]
    ) -> Written[T] | None:
        """Return a value of the file that a label may repeat."""
        try:
            value = parse(said)
        except ValueError as error:
            self.config.complain(self.problems, path, str(error), said)
            return label
        place = self.config.place(*path)
        if label is not None and label.value != value:
            label.complain(
                self.problems,
                f"{label.text} here, but {said} in {'|'.join(path)} ({place}); write the same, or remove the label",
            )
        return Written(value, "|".join(path), said, place)

    def _session(self, neighbour: BgpNeighbour) -> OwnSession | None:
        """Return a session over one of the lab's links; those that lead nowhere in the lab are left out.

        Its other end must be there.
        """
        if not neighbour.up:
            return None
        for near, far in self.links_here:
            interface = self.groups.interface_of(near.interface)
            own = self._address(near)
            is_behind = own is not None and neighbour.address is not None and neighbour.address in own.network
            if neighbour.interface == interface or is_behind:
                if not self._has_peer(neighbour, near, far):
                    return None
                return OwnSession(
                    interface=interface,
                    address=neighbour.address,
                    asn=neighbour.asn,
                    keepalive_s=neighbour.keepalive_s or _KEEPALIVE_S,
                    hold_s=neighbour.hold_s or _HOLD_S,
                    bfd=neighbour.bfd,
                    policy=neighbour.policy,
                    families=neighbour.families if len(self.families) > 1 else (),
                    policy6=neighbour.policy6 if self._has6 else None,
                )
        return None

    def _neighbours(self) -> Iterator[BgpNeighbour]:
        """Yield the sessions of the file that count in the lab: those known by addresses of IPv6 too, where the lab has
        such addresses and no other session of the link carries their routes."""
        yield from self.config.bgp_neighbours
        if self._has6:
            known = {one.interface for one in self.config.bgp_neighbours if 6 in one.families}
            yield from (one for one in self.config.bgp_neighbours6 if one.families and one.interface not in known)

    def _address(self, end: Endpoint) -> IPv4Interface | None:
        """Return the address of the switch's port, or port channel, at an end of a link; None of a VLAN's member."""
        interface = self.groups.interface_of(end.interface)
        if interface == end.interface:
            return None if end.ipv4 is None else end.ipv4.value
        return next((channel.address for channel in self.groups.channels if channel.name == interface), None)

    def _has_peer(self, neighbour: BgpNeighbour, near: Endpoint, far: Endpoint) -> bool:
        """Return whether the other end of a session has the address that the neighbour is known by; tell if not."""
        is_of_ipv6 = isinstance(neighbour.address, IPv6Address)
        there = self._far_address6(far) if is_of_ipv6 else self._far_address(far)
        if neighbour.address is None or there is None or there.value.ip == neighbour.address:
            return True
        other = f"{far.port} has {there.value.ip} ({there.place})"
        message = f"{neighbour.address} is the neighbour behind {near.port}, but {other}"
        path = ("BGP_NEIGHBOR", neighbour.key)
        if is_of_ipv6:
            place = self.config.place(*path)
            self.notes[f"{place}: {'|'.join(path)}: {message}; the session is left out, as it never comes up"] = None
            return False
        self.config.complain(self.problems, path, f"{message}; write the same", str(neighbour.address))
        return True

    def _far_address(self, far: Endpoint) -> Written[IPv4Interface] | None:
        """Return the address at the other end: of the link, or of its port channel in that switch's file."""
        config = self.configs.get(far.node)
        if config is None:
            return far.ipv4
        for channel in config.port_channels:
            addresses = config.addresses.get(channel.name, ()) if far.interface in channel.members else ()
            if addresses:
                key = f"{channel.name}|{addresses[0]}"
                return Written(
                    addresses[0], f"PORTCHANNEL_INTERFACE|{key}", key, config.place("PORTCHANNEL_INTERFACE", key)
                )
        return far.ipv4

    def _far_address6(self, far: Endpoint) -> Written[IPv6Interface] | None:
        """Return the address of IPv6 at the other end, which is that of its port channel in that switch's file."""
        config = self.configs.get(far.node)
        for channel in () if config is None else config.port_channels:
            own = first_ipv6(config, channel.name) if config and far.interface in channel.members else None
            if config is not None and own is not None:
                key = f"{channel.name}|{own}"
                place = config.place("PORTCHANNEL_INTERFACE", key)
                return Written(own, f"PORTCHANNEL_INTERFACE|{key}", key, place)
        return far.ipv6

    def _of_one_family(self) -> Iterator[NotEmulated]:
        """Yield the interfaces of hosts that have addresses of one family alone, where the lab has both."""
        ports: dict[str, list[str]] = {}
        for near, far in self.links_here if len(self.families) > 1 else ():
            channel = self.groups.interface_of(near.interface)
            vlan = self.groups.vlan_of(channel)
            if far.node not in self.configs:
                ports.setdefault(channel if vlan is None else vlan.name, []).append(near.interface)
        for name, bound in ports.items():
            has = [bool(every.get(name)) for every in (self.config.addresses, self.config.addresses6)]
            if has[0] != has[1]:
                path = (table_of(name), name)
                lacking: Touches = "ipv6" if has[0] else "ipv4"
                why = "its hosts get one of a network of the lab, which the switch announces"
                place = self.config.place(*path)
                value = f"without an address of {'IPv6' if has[0] else 'IPv4'}"
                yield NotEmulated(path, value, lacking, why, place, tuple(bound))

    def _networks(self) -> list[AnyNetwork]:
        """Return what the switch announces.

        bgpcfgd announces Loopback0 and the networks of VLANs only (bgpd.main.conf.j2); frrcfgd what its tables say.
        """
        config = self.config
        loopbacks = [IPv4Network(address.ip) for address in config.loopbacks.get(LOOPBACK, ())[:1]]
        vlans = [vlan.address.network for vlan in self.groups.vlans if vlan.address is not None]
        static = [route.prefix for route in config.static_routes if route.advertised]
        if not config.frrcfgd:
            return list(dict.fromkeys([*loopbacks, *vlans, *static]))
        if not config.announces_connected:
            return list(dict.fromkeys([*config.networks, *static]))
        routed = [own.network for near, _ in self.links_here if (own := self._address(near)) is not None]
        return list(dict.fromkeys([*config.networks, *routed, *vlans, *loopbacks, *static]))

    def _networks6(self) -> list[AnyNetwork]:
        """Return what the switch announces of IPv6, in the same way."""
        config = self.config
        loopbacks = [IPv6Network(address.ip) for address in config.loopbacks6.get(LOOPBACK, ())[:1]]
        vlans = [vlan.ipv6.network for vlan in self.groups.vlans if vlan.ipv6 is not None]
        static = [route.prefix for route in config.static_routes6 if route.advertised]
        if not config.frrcfgd:
            return list(dict.fromkeys([*loopbacks, *vlans, *static]))
        if not config.announces_connected6:
            return list(dict.fromkeys([*config.networks6, *static]))
        interfaces = (self.groups.interface_of(near.interface) for near, _ in self.links_here)
        routed = [own.network for name in interfaces if (own := first_ipv6(config, name)) is not None]
        return list(dict.fromkeys([*config.networks6, *routed, *vlans, *loopbacks, *static]))

    def _loopback6(self) -> Written[IPv6Address] | None:
        said = next(iter(self.config.loopbacks6.get(LOOPBACK, ())), None)
        if said is None:
            return self.node.loopback6
        key = f"{LOOPBACK}|{said}"
        return Written(said.ip, f"LOOPBACK_INTERFACE|{key}", str(said.ip), self.config.place("LOOPBACK_INTERFACE", key))

    def _filters(self) -> Iterator[FilterTable]:
        """Yield the ACLs of ports that have links; that of a port channel or a VLAN is its members'."""
        every = (*self.groups.vlans, *self.groups.channels)
        here = [near.interface for near, _ in self.links_here]
        for acl in self.config.acls:
            bound = set(acl.ports)
            for group in every:
                bound |= set(group.members) if group.name in bound else set()
            ports = tuple(port for port in dict.fromkeys(here) if port in bound)
            if ports:
                yield FilterTable(name=acl.name, stage=acl.stage, ports=ports, rules=acl.rules)

    def _announcements(self, networks: Sequence[AnyNetwork]) -> Iterator[Announcement]:
        """Yield the networks that go through a map."""
        for network in networks:
            name = self.config.announcement_map(network)
            if name is not None:
                yield Announcement(prefix=str(network), map=name)
