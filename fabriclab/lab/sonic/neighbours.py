"""The links of an imported switch: which of its ports are in the lab, and what stands behind each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from fabriclab.lab.links import LARGEST_MTU, LARGEST_RATE_BPS, SMALLEST_MTU, parse_ipv4
from fabriclab.lab.problems import Problems, shown
from fabriclab.lab.sonic.config_db import BgpNeighbour, ConfigDb, Port, PortChannel, Vlan
from fabriclab.lab.sonic.figures import joined
from fabriclab.units import format_rate

DEFAULT_MTU = 9100
"""SONiC's, where PORT says nothing (sonic-swss, portmgrd: DEFAULT_MTU_STR)."""
NS_A_METRE = 5
"""Propagation in fibre and copper, two thirds of the speed of light."""
_BITS_A_MBIT = 10**6
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_MOST_LETTERS = 50
_WORDS = ("all", "default", "experiment", "none", "null", "rest")
"""Words of the lab language, and the name of its file: no node is called so."""
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
    """Of the switch and of its neighbour; None: the lab assigns them."""


class LinkResolver:
    """Finds the links of one switch."""

    def __init__(self, config: ConfigDb, switch: str, notes: dict[str, None], problems: Problems) -> None:
        self._config = config
        self._notes = notes
        self._problems = problems
        self._taken = {switch}
        self._switches: dict[str, str] = {}
        self._ports_of: dict[str, int] = {}
        self._networks: list[IPv4Network] = []
        self._addresses = self._port_addresses()
        self._sessions = self._port_sessions()

    def used_ports(self) -> tuple[str, ...]:
        """Return the ports that are in the lab: front-panel ports that are up and have an address, a VLAN, a port channel or a neighbour.

        All that are up, if nothing is said of any of them; all there are, if none is up.
        """
        ports = [port for port in self._config.ports.values() if port.role == "Ext"]
        up = [port for port in ports if port.up]
        members = {member for group in self._groups() for member in group.members}
        spoken_of = {*self._addresses, *self._sessions, *members, *self._config.device_neighbours}
        used = [port for port in up if port.name in spoken_of] or up or ports
        absent = [port.name for port in self._config.ports.values() if port not in used]
        if absent:
            self._note(f"{len(absent)} of {len(self._config.ports)} ports are not in the lab (down, or without address and neighbour)")
        return tuple(port.name for port in used)

    def links(self) -> tuple[LabLink, ...]:
        """Return the links in the order of the ports."""
        ports = self.used_ports()
        if len(ports) < 2:
            self._complain(("PORT",), f"{len(ports)} port(s) in use; a lab needs two at least")
        for group in self._groups():
            self._note_group(group.name, group.members)
        return tuple(self._link(self._config.ports[name]) for name in ports)

    def _groups(self) -> tuple[Vlan | PortChannel, ...]:
        return (*self._config.vlans, *self._config.port_channels)

    def _note_group(self, name: str, members: tuple[str, ...]) -> None:
        if name.startswith("Vlan") and members:
            self._note(f"{name}: not bridged in the lab; its members ({joined(members)}) are routed ports with addresses of their own")
        elif len(members) > 1:
            self._note(f"{name}: LACP is not emulated; {members[0]} has its address, the other members are links of their own")

    def _link(self, port: Port) -> LabLink:
        rate_bps, mtu = (port.speed_mbps or 1) * _BITS_A_MBIT, DEFAULT_MTU if port.mtu is None else port.mtu
        if rate_bps > LARGEST_RATE_BPS:
            message = f"{format_rate(rate_bps)} are more than a lab's links carry; at most {LARGEST_RATE_BPS // _BITS_A_MBIT}"
            self._complain(("PORT", port.name, "speed"), message, str(port.speed_mbps))
        if not SMALLEST_MTU <= mtu <= LARGEST_MTU:
            self._complain(
                ("PORT", port.name, "mtu"), f"{mtu} is out of range; a lab's links have {SMALLEST_MTU} to {LARGEST_MTU}", str(mtu)
            )
        if _INTERFACE.fullmatch(port.name) is None:
            self._complain(("PORT", port.name), f"{shown(port.name)} cannot name an interface of Linux (15 letters, digits, '-', '_', '.')")
        session = self._sessions.get(port.name)
        neighbour = self._neighbour(port.name, session)
        self._ports_of[neighbour] = self._ports_of.get(neighbour, 0) + 1
        return LabLink(
            interface=port.name,
            rate_bps=rate_bps,
            mtu=mtu,
            delay_ns=self._config.cable_metres.get(port.name, 0) * NS_A_METRE,
            neighbour=neighbour,
            neighbour_interface=f"eth{self._ports_of[neighbour]}",
            session=session,
            addresses=self._link_addresses(port.name, session),
        )

    def _neighbour(self, port: str, session: BgpNeighbour | None) -> str:
        """Return the neighbour's name; two links to one switch have the same."""
        said = self._config.device_neighbours.get(port)
        name = (session.name if session is not None else "") or (said.name if said is not None else "")
        if session is not None and name:
            if name not in self._switches:
                self._switches[name] = self._free(_fit(name))
            return self._switches[name]
        return self._free(_fit(name) if name else f"h-{_fit(port)}")

    def _free(self, name: str) -> str:
        candidate, number = name, 1
        while candidate in self._taken or f"{candidate}-host" in self._taken:
            number += 1
            candidate = f"{name}-{number}"
        self._taken |= {candidate, f"{candidate}-host"}
        return candidate

    def _port_addresses(self) -> dict[str, IPv4Interface]:
        """Return the first address of each port, or of the port channel whose first member it is."""
        first = {channel.name: channel.members[0] for channel in self._config.port_channels if channel.members}
        addresses: dict[str, IPv4Interface] = {}
        for name, every in self._config.addresses.items():
            port = first.get(name, name)
            if port in self._config.ports:
                addresses.setdefault(port, every[0])
                if len(every) > 1:
                    self._note(f"{name}: {len(every)} addresses; a lab's port has the first one, {every[0]}")
        return addresses

    def _port_sessions(self) -> dict[str, BgpNeighbour]:
        """Return the BGP session over each port; sessions that are down, or behind no port, are noted."""
        networks = {port: address.network for port, address in self._addresses.items()}
        sessions: dict[str, BgpNeighbour] = {}
        for session in self._config.bgp_neighbours:
            peer = session.address
            over = [port for port, network in networks.items() if peer is not None and peer in network]
            port = next(iter(over), session.interface)
            if not session.up:
                self._note(f"BGP_NEIGHBOR|{session.key}: shut down, left out")
            elif port is None or port not in self._config.ports:
                self._note(f"BGP_NEIGHBOR|{session.key}: behind no port (a loopback, a VLAN?), left out")
            elif session.asn is not None and session.asn == self._config.asn:
                self._note(f"BGP_NEIGHBOR|{session.key}: of our own AS; a lab's sessions are external (RFC 7938), so a host stands there")
            else:
                sessions[port] = session
        return sessions

    def _link_addresses(self, port: str, session: BgpNeighbour | None) -> tuple[IPv4Interface, IPv4Interface] | None:
        own = self._addresses.get(port)
        if own is None:
            return None
        try:
            parse_ipv4(str(own))
        except ValueError as error:
            self._note(f"{port}: {error}; the lab assigns another")
            return None
        if any(own.network.overlaps(network) for network in self._networks):
            self._note(f"{port}: {own.network} overlaps another port's network; the lab assigns another")
            return None
        self._networks.append(own.network)
        said = session.address if session is not None else None
        peer = said if said is not None and said in own.network else _other(own)
        return own, IPv4Interface((peer, own.network.prefixlen))

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
