"""The links of an imported switch: which of its ports are in the lab, what stands behind each,
and their VLANs and port channels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from fabriclab.formats import ranges
from fabriclab.keys.wording import shown
from fabriclab.lab.network.addresses import parse_ipv4
from fabriclab.lab.reading.problems import Problems
from fabriclab.units import format_rate
from fabriclab.vendors.common.sourced_values import joined
from fabriclab.vendors.sonic.read.config_db import BgpNeighbour, ConfigDb, Port
from fabriclab.vendors.sonic.read.port_groups import PortGroup, first_address, port_groups

DEFAULT_MTU = 9100
"""SONiC's, where PORT says nothing (sonic-swss, portmgrd: DEFAULT_MTU_STR)."""
NS_A_METRE = 5
"""Propagation in fibre and copper, two thirds of the speed of light."""
_BITS_A_MBIT = 10**6
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_MOST_LETTERS = 50
_WORDS = ("all", "default", "experiment", "none", "null", "rest")
"""Words of the lab language, and the name of its file: no node is called so."""
_PAIR_PREFIX = 31
_NOT_HOSTS = 3
"""Addresses of a VLAN's network that no host has: its own, the broadcast address, the switch's."""
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}")


@dataclass(frozen=True)
class LabLink:
    """A link of the imported switch."""

    interface: str
    rate_bps: int
    mtu: int
    delay_ns: int
    neighbour: str
    """The node at the other end."""
    neighbour_interface: str
    session: BgpNeighbour | None
    """None: a host; else a switch, with a host of its own behind."""
    addresses: tuple[IPv4Interface, IPv4Interface] | None
    """The addresses of the switch and of its neighbour; None: the lab assigns them,
    or a VLAN or port channel has them."""


@dataclass(frozen=True)
class LabChannel:
    """A port channel of the imported switch."""

    name: str
    links: tuple[LabLink, ...]
    addresses: tuple[IPv4Interface, IPv4Interface] | None
    """The addresses of the switch and of its neighbour; None: the lab assigns them, or a VLAN has one."""


@dataclass(frozen=True)
class LabGroups:
    """What the imported switch's links are put together to."""

    channels: tuple[LabChannel, ...] = ()
    vlans: tuple[PortGroup, ...] = ()
    """An address None: the lab assigns one."""


class LinkResolver:
    """Finds the links of one switch."""

    def __init__(self, config: ConfigDb, switch: str, notes: dict[str, None], problems: Problems) -> None:
        self._config = config
        self._notes = notes
        self._problems = problems
        self._taken = {switch}
        self._switches: dict[str, str] = {}
        self._behind: dict[str, str] = {}
        """The neighbour behind each port or port channel."""
        self._ports_of: dict[str, int] = {}
        self._networks: list[IPv4Network] = []
        self._sessions = self._find_sessions()
        self._ports = self._used_ports()
        self._groups = port_groups(config, self._ports, notes)

    def links(self) -> tuple[LabLink, ...]:
        """Return the links in the order of the ports."""
        if len(self._ports) < 2:
            self._complain(("PORT",), f"{len(self._ports)} port(s) in use; a lab needs at least two")
        if self._sessions and self._config.asn is None:
            session = next(iter(self._sessions.values()))
            message = (
                f"missing, although there are BGP sessions (BGP_NEIGHBOR|{session.key}); write the switch's AS number"
            )
            self._complain(own_asn(self._config), message)
        return tuple(self._link(self._config.ports[name]) for name in self._ports)

    def groups(self, links: Iterable[LabLink]) -> LabGroups:
        """Return the VLANs and port channels that these links are members of."""
        by_port = {link.interface: link for link in links}
        channels = tuple(
            self._channel(channel, tuple(by_port[port] for port in channel.members))
            for channel in self._groups.channels
        )
        vlans = tuple(replace(vlan, address=self._vlan_address(vlan)) for vlan in self._groups.vlans)
        return LabGroups(channels, vlans)

    def _used_ports(self) -> tuple[str, ...]:
        """Return the ports that are in the lab: front-panel ports that are up and have an address, a VLAN, a port
        channel or a neighbour.

        All that are up, if nothing is said of any of them; all there are, if none is up.
        """
        ports = [port for port in self._config.ports.values() if port.role == "Ext"]
        without = {port for channel in self._config.port_channels if not channel.up for port in channel.members}
        without |= self._slower_members() | self._closed_ports()
        up = [port for port in ports if port.up and port.name not in without]
        in_vlans = {member for vlan in self._config.vlans for member in vlan.members}
        in_channels = {member for channel in self._config.port_channels for member in channel.members}
        spoken_of = {*self._config.addresses, *self._sessions, *in_vlans, *in_channels, *self._config.device_neighbours}
        used = [port for port in up if port.name in spoken_of]
        if len(used) < 2:
            used = [port for port in up if port.name in {*spoken_of, *self._config.addresses6}]
        used = used or up or ports
        absent = len(self._config.ports) - len(used)
        if absent:
            self._note(
                f"{absent} of {len(self._config.ports)} ports are not in the lab (down, "
                "or without address and neighbour)"
            )
        return tuple(port.name for port in used)

    def _slower_members(self) -> set[str]:
        """Return the members of port channels with another speed than the first one that is up: LACP bundles links of
        one speed only (IEEE 802.1AX, 6.3.1), and so does a lab."""
        left_out: set[str] = set()
        for channel in self._config.port_channels:
            ports = [self._config.ports[name] for name in channel.members if self._config.ports[name].up]
            others = [port.name for port in ports if port.speed_mbps != ports[0].speed_mbps]
            if others:
                self._note(
                    f"{channel.name}: {joined(others)} not included: LACP bundles links of one speed, and "
                    f"{ports[0].name} has {format_rate((ports[0].speed_mbps or 1) * _BITS_A_MBIT)}"
                )
            left_out.update(others)
        return left_out

    def _closed_ports(self) -> set[str]:
        """Return the ports of which a group is of a pool without a byte: NVIDIA's templates close unused ones so."""
        empty = {pool.name for pool in self._config.pools.values() if pool.size == 0}
        profiles = {name for name, profile in self._config.profiles.items() if profile.pool in empty}
        closed = {port for binding in self._config.buffer_pgs if binding.profile in profiles for port in binding.ports}
        if closed and (spoken := sorted(port for port in closed if port in self._config.addresses)):
            self._note(
                f"{joined(spoken)}: left out, because their frames use {joined(sorted(empty))}, a pool of size 0"
            )
        return closed

    def _link(self, port: Port) -> LabLink:
        rate_bps, mtu = (port.speed_mbps or 1) * _BITS_A_MBIT, port_mtu(self._config, port)
        if rate_bps > ranges.LINE_RATE.most:
            most = ranges.LINE_RATE.most // _BITS_A_MBIT
            message = f"{format_rate(rate_bps)} are more than a lab's links carry; at most {most}"
            self._complain(("PORT", port.name, "speed"), message, str(port.speed_mbps))
        if not ranges.MTU.least <= mtu <= ranges.MTU.most:
            self._complain(
                ("PORT", port.name, "mtu"),
                f"{mtu} is out of range; a lab's links have {ranges.MTU.least} to {ranges.MTU.most}",
                str(mtu),
            )
        if _INTERFACE.fullmatch(port.name) is None:
            self._complain(
                ("PORT", port.name),
                f"{shown(port.name)} cannot name an interface of Linux (15 letters, digits, '-', '_', '.')",
            )
        interface = self._groups.interface_of(port.name)
        session = self._sessions.get(interface)
        neighbour = self._neighbour(interface, session)
        self._ports_of[neighbour] = self._ports_of.get(neighbour, 0) + 1
        is_member = interface != port.name or self._groups.vlan_of(interface) is not None
        return LabLink(
            interface=port.name,
            rate_bps=rate_bps,
            mtu=mtu,
            delay_ns=self._config.cable_metres.get(port.name, 0) * NS_A_METRE,
            neighbour=neighbour,
            neighbour_interface=f"eth{self._ports_of[neighbour]}",
            session=session,
            addresses=None if is_member else self._link_addresses(port.name, session),
        )

    def _channel(self, channel: PortGroup, links: tuple[LabLink, ...]) -> LabChannel:
        session = links[0].session
        if channel.address is None:
            return LabChannel(channel.name, links, None)
        if session is None and channel.address.network.prefixlen != _PAIR_PREFIX:
            self._note(
                f"{channel.name}: {channel.address} is not in a /31, of which a host's end of a port channel would "
                "have the other address; the lab assigns one"
            )
            return LabChannel(channel.name, links, None)
        return LabChannel(channel.name, links, self._link_addresses(channel.name, session))

    def _vlan_address(self, vlan: PortGroup) -> IPv4Interface | None:
        if vlan.address is None:
            self._note(f"{vlan.name}: no address; the lab assigns one")
            return None
        if vlan.address.network.num_addresses < len(vlan.members) + _NOT_HOSTS:
            self._note(
                f"{vlan.name}: {vlan.address.network} has no room for {len(vlan.members)} hosts; "
                "the lab assigns another network"
            )
            return None
        return vlan.address if self._takes(vlan.name, vlan.address) else None

    def _neighbour(self, interface: str, session: BgpNeighbour | None) -> str:
        """Return the name of the neighbour behind a port or port channel; two that lead to one switch have the same."""
        if interface not in self._behind:
            self._behind[interface] = self._new_neighbour(interface, session)
        return self._behind[interface]

    def _new_neighbour(self, interface: str, session: BgpNeighbour | None) -> str:
        ports = next((channel.members for channel in self._groups.channels if channel.name == interface), (interface,))
        said = next(
            (self._config.device_neighbours[port].name for port in ports if port in self._config.device_neighbours), ""
        )
        name = (session.name if session is not None else "") or said
        if session is not None and name:
            if name not in self._switches:
                self._switches[name] = self._free(_fit(name))
            return self._switches[name]
        return self._free(_fit(name) if name else f"h-{_fit(interface)}")

    def _free(self, name: str) -> str:
        candidate, number = name, 1
        while candidate in self._taken or f"{candidate}-host" in self._taken:
            number += 1
            candidate = f"{name}-{number}"
        self._taken |= {candidate, f"{candidate}-host"}
        return candidate

    def _find_sessions(self) -> dict[str, BgpNeighbour]:
        """Return the BGP session over each port or port channel; sessions that are down,
        or behind neither, are noted."""
        in_vlans = {member for vlan in self._config.vlans for member in vlan.members}
        names = [*self._config.ports, *(channel.name for channel in self._config.port_channels)]
        addresses = {
            name: self._config.addresses[name][0]
            for name in names
            if name in self._config.addresses and name not in in_vlans
        }
        sessions: dict[str, BgpNeighbour] = {}
        for session in self._config.bgp_neighbours:
            peer = session.address
            over = (name for name, address in addresses.items() if peer is not None and peer in address.network)
            interface = next(over, session.interface)
            if not session.up:
                self._note(f"BGP_NEIGHBOR|{session.key}: shut down, left out")
            elif interface not in names or interface in in_vlans:
                self._note(
                    f"BGP_NEIGHBOR|{session.key}: not behind a port or port channel (perhaps a loopback or a VLAN), "
                    "left out"
                )
            elif session.asn is not None and session.asn == self._config.asn:
                self._note(
                    f"BGP_NEIGHBOR|{session.key}: in the switch's own AS; a lab supports only external sessions (RFC "
                    "7938), so a host takes its place"
                )
            else:
                sessions[interface] = session
        return sessions

    def _link_addresses(
        self, interface: str, session: BgpNeighbour | None
    ) -> tuple[IPv4Interface, IPv4Interface] | None:
        own = first_address(self._config, interface, self._notes)
        if own is None or not self._takes(interface, own):
            return None
        said = session.address if session is not None else None
        peer = said if said is not None and said in own.network else _other(own)
        return own, IPv4Interface((peer, own.network.prefixlen))

    def _takes(self, interface: str, address: IPv4Interface) -> bool:
        """Return whether a lab can have this address beside those before it; what is wrong is noted."""
        try:
            parse_ipv4(str(address))
        except ValueError as error:
            self._note(f"{interface}: {error}; the lab assigns another")
            return False
        if any(address.network.overlaps(network) for network in self._networks):
            self._note(f"{interface}: {address.network} overlaps another port's network; the lab assigns another")
            return False
        self._networks.append(address.network)
        return True

    def _note(self, sentence: str) -> None:
        self._notes[sentence] = None

    def _complain(self, path: tuple[str, ...], message: str, value: str = "") -> None:
        self._config.complain(self._problems, path, message, value)


def _other(own: IPv4Interface) -> IPv4Address:
    """Return another address of a network: the other one of a /31, else the first or the second."""
    if own.network.prefixlen == 31:
        return next(address for address in own.network if address != own.ip)
    return next(address for address in own.network.hosts() if address != own.ip)


def _fit(name: str) -> str:
    """Return a name that a node of a lab may have."""
    fitting = _UNFIT.sub("-", name).strip("-_")[:_MOST_LETTERS] or "node"
    return f"node-{fitting}" if fitting.lower() in _WORDS else fitting


def node_name(config: ConfigDb, wanted: str | None) -> str:
    """Return the switch's name in the lab: the one wanted, else its hostname, else `switch`."""
    return _fit(wanted or config.hostname or "switch")


def own_asn(config: ConfigDb) -> tuple[str, str, str]:
    """Return where a switch's own AS number is written: bgpcfgd's place, or frrcfgd's."""
    return ("BGP_GLOBALS", "default", "local_asn") if config.frrcfgd else ("DEVICE_METADATA", "localhost", "bgp_asn")


def port_mtu(config: ConfigDb, port: Port) -> int:
    """Return the MTU of a port: its port channel's where that says one, else its own."""
    of_channel = next((channel.mtu for channel in config.port_channels if port.name in channel.members), None)
    return of_channel or port.mtu or DEFAULT_MTU
