"""The switches of a fabric: one config_db.json each, told apart by their hostnames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path
from typing import NamedTuple

from fabriclab.formats.family import AnyAddress, AnyInterface, Family
from fabriclab.keys.wording import listed, shown
from fabriclab.lab.network.static_routes import WrittenStaticRoute
from fabriclab.lab.reading.problems import LabError, Place, Problems
from fabriclab.vendors.sonic.read.config_db import BgpNeighbour, ConfigDb
from fabriclab.vendors.sonic.read.interface_names import port_of_link, table_of
from fabriclab.vendors.sonic.read.lldp_text import LldpText
from fabriclab.vendors.sonic.read.neighbours import node_name, port_mtu
from fabriclab.vendors.sonic.read.read import examine_config_db, read_bytes, read_lldp

CONFIG_STEM = "config_db"


class End(NamedTuple):
    """A port of a switch."""

    switch: str
    port: str

    def __str__(self) -> str:
        return f"{self.switch}:{self.port}"


@dataclass(frozen=True)
class _Routed:
    """A routed interface of a switch: a port, or a port channel."""

    switch: str
    name: str
    members: tuple[str, ...]
    """The ports; of a port the port itself."""

    @property
    def is_channel(self) -> bool:
        """Whether it is a port channel."""
        return self.members != (self.name,)

    def __str__(self) -> str:
        return f"{self.switch}:{self.name}"


@dataclass(frozen=True)
class Interface(_Routed):
    """A routed interface with the address that the lab has: the first one of IPv4."""

    address: IPv4Interface


@dataclass(frozen=True)
class Interface6(_Routed):
    """A routed interface with an address of IPv6, which only tells of its link."""

    address: IPv6Interface


@dataclass(frozen=True, eq=False)
class FabricSwitch:
    """A switch and its file."""

    name: str
    """The node's name."""
    config: ConfigDb
    data: bytes
    """The file, byte for byte."""
    lldp: LldpText | None = None
    """What it heard by LLDP, if its file is an archive that has it."""

    @cached_property
    def ports(self) -> dict[str, None]:
        """Front-panel ports that are up, in the order of the file; all of them where none is."""
        ports = [port for port in self.config.ports.values() if port.role == "Ext"]
        return dict.fromkeys(port.name for port in [port for port in ports if port.up] or ports)

    @cached_property
    def channel_of(self) -> dict[str, str]:
        """The port channel of each port that is a member of one."""
        return {member: channel.name for channel in self.config.port_channels for member in channel.members}

    @cached_property
    def interfaces(self) -> dict[str, Interface]:
        """Routed interfaces with an address, by name: ports that are up, and port channels with a member that is."""
        return self._interfaces(self.ports)

    @cached_property
    def cabled(self) -> dict[str, Interface]:
        """The same, whether ports are up or down: a cable lies there all the same."""
        return self._interfaces({name: None for name, port in self.config.ports.items() if port.role == "Ext"})

    def _interfaces(self, ports: dict[str, None]) -> dict[str, Interface]:
        members = {
            channel.name: tuple(port for port in channel.members if port in ports)
            for channel in self.config.port_channels
        }
        members |= {port: (port,) for port in ports}
        addresses = {name: every[0] for name, every in self.config.addresses.items() if members.get(name)}
        return {name: Interface(self.name, name, members[name], address) for name, address in addresses.items()}

    @cached_property
    def cabled6(self) -> tuple[Interface6, ...]:
        """Interfaces that have addresses of IPv6 alone, with each of these, whether ports are up or down."""
        members = {channel.name: channel.members for channel in self.config.port_channels}
        members |= {name: (name,) for name, port in self.config.ports.items() if port.role == "Ext"}
        alone = {name: every for name, every in self.config.addresses6.items() if name not in self.config.addresses}
        found = ((name, one) for name, every in alone.items() for one in every if members.get(name))
        return tuple(Interface6(self.name, name, members[name], address) for name, address in found)

    def vrf_of(self, interface: str) -> str:
        """Return the VRF that an interface is in; empty: the default one."""
        return next((vrf for vrf, every in self.config.vrfs.items() if interface in every), "")

    def mtu(self, port: str) -> int:
        """Return a port's MTU in bytes, of a member that of its port channel."""
        return port_mtu(self.config, self.config.ports[port])

    def interface_of(self, port: str) -> Interface | None:
        """Return the routed interface that a port is, or is a member of."""
        return self.interfaces.get(self.channel_of.get(port, port))

    def port_named(self, word: str) -> str | None:
        """Return the port that a neighbour's file calls so: by SONiC's name, by its alias,
        or by Containerlab's `ethN`."""
        if word in self.config.ports:
            return word
        by_alias = [port.name for port in self.config.ports.values() if port.alias == word]
        if len(by_alias) == 1:
            return by_alias[0]
        port = port_of_link(word)
        return port if port in self.config.ports else None

    def sessions(self) -> Iterator[tuple[BgpNeighbour, str]]:
        """Yield each BGP session that is up and lies behind a port or port channel, with that interface's name."""
        for session in self.config.bgp_neighbours:
            interface = session.interface or self._interface_towards(session.address)
            if session.up and interface is not None:
                yield session, interface

    def sessions_of(self, family: Family) -> Iterator[tuple[BgpNeighbour, str]]:
        """Yield each session over which routes of a family go, as `sessions` does; one for each interface."""
        if family == 4:
            yield from self.sessions()
            return
        known = set()
        for session, interface in self.sessions():
            if 6 in session.families:
                known.add(interface)
                yield session, interface
        for session in self.config.bgp_neighbours6:
            if session.up and 6 in session.families and session.interface and session.interface not in known:
                known.add(session.interface)
                yield session, session.interface

    def addresses_of(self, family: Family) -> Mapping[str, tuple[AnyInterface, ...]]:
        """Return the addresses of ports, port channels and VLANs, of a family; link-local ones are not among them."""
        if family == 4:
            return self.config.addresses
        every = self.config.addresses6.items()
        found = {name: tuple(one for one in each if not one.is_link_local) for name, each in every}
        return {name: each for name, each in found.items() if each}

    def static_routes_of(self, family: Family) -> tuple[WrittenStaticRoute, ...]:
        """Return the static routes of a family."""
        return self.config.static_routes if family == 4 else self.config.static_routes6

    def _interface_towards(self, address: AnyAddress | None) -> str | None:
        return next(
            (
                name
                for name, one in self.interfaces.items()
                if address is not None and address in one.address.network and not self.vrf_of(name)
            ),
            None,
        )

    def address_place(self, interface: str, address: IPv4Interface | IPv6Interface) -> Place:
        """Return where an address is written."""
        return self.config.place(table_of(interface), f"{interface}|{address}")


class Fabric:
    """All switches, in the order of the files."""

    def __init__(self, switches: Sequence[FabricSwitch]) -> None:
        self.switches = {switch.name: switch for switch in switches}
        self._by_hostname = self.switches | {
            switch.config.hostname: switch for switch in switches if switch.config.hostname
        }

    def named(self, hostname: str) -> FabricSwitch | None:
        """Return the switch that a neighbour's file calls so."""
        return self._by_hostname.get(hostname)

    def neighbour_place(self, end: End) -> Place:
        """Return where a port's DEVICE_NEIGHBOR is written."""
        return self.switches[end.switch].config.place("DEVICE_NEIGHBOR", end.port)


def read_fabric(paths: Sequence[Path], problems: Problems) -> Fabric:
    """Return the switches of several files. What is wrong with any of them, or is the same in two, is recorded."""
    configs = [(path, *read) for path in _each_once(paths, problems) if (read := _read(path, problems)) is not None]
    switches: dict[str, FabricSwitch] = {}
    for path, config, data in configs:
        switch = FabricSwitch(node_name(config, config.hostname or _name_of_file(path)), config, data, read_lldp(path))
        other = switches.setdefault(switch.name.lower(), switch)
        if other is not switch:
            _complain_alike(switch, other, problems)
    return Fabric(list(switches.values()))


def _each_once(paths: Sequence[Path], problems: Problems) -> Iterator[Path]:
    known: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            problems.add(Place(str(path)), "", f"a directory; give the files in it, such as {path}/*/config_db.json")
        elif known.setdefault(path.resolve(), path) is not path:
            problems.add(
                Place(str(path)), "", f"the same file as {known[path.resolve()]}; give each switch's file once"
            )
        else:
            yield path


def _read(path: Path, problems: Problems) -> tuple[ConfigDb, bytes] | None:
    try:
        data = read_bytes(path)
        config, found = examine_config_db(data, str(path))
    except LabError as error:
        for problem in error.mistakes:
            problems.add(Place(problem.file, problem.line), problem.key, problem.message, problem.value)
        return None
    problems.add_all(found)
    return None if config is None else (config, data)


def _name_of_file(path: Path) -> str:
    """Return what a switch without a hostname is called: `leaf1` of leaf1.json, and of leaf1/config_db.json."""
    return path.resolve().parent.name if path.stem == CONFIG_STEM else path.stem


def _complain_alike(switch: FabricSwitch, other: FabricSwitch, problems: Problems) -> None:
    key = ("DEVICE_METADATA", "localhost", "hostname")
    name = switch.config.hostname or switch.name
    message = (
        f"{shown(name)} is the name of the switch in {other.config.place(*key)} too "
        f"({shown(other.config.hostname or other.name)}); "
    )
    asics = (other.config.asic, switch.config.asic)
    if all(asics) and len(set(asics)) > 1:
        remedy = (
            f"these are {listed(asics)} of one switch, and a lab's switches have one ASIC each; give one of the files"
        )
    else:
        remedy = "give each its own hostname"
    switch.config.complain(problems, key, message + remedy, name)
