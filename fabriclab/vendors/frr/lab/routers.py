"""The routers of a network: the files of a directory, a name for each, and what each interface is for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface
from pathlib import Path
from typing import NamedTuple

from fabriclab.formats.names import NODE_NAME
from fabriclab.keys.wording import shown
from fabriclab.lab.network import topology
from fabriclab.lab.reading.files import UnreadableError, read_named_file
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.vendors.common.command_text import LARGEST_BYTES
from fabriclab.vendors.frr.read import read_frr
from fabriclab.vendors.frr.read.config import (
    Bgp,
    BgpNeighbour,
    FrrConfig,
    FrrInterface,
    InterfaceAddress,
    InterfaceAt,
    Network,
)

FRR_CONF = "frr.conf"
LINKS = "links.txt"
SUFFIXES = (".conf", ".cfg", ".txt")
_OWN = re.compile(r"(lo|loop|loopback|dummy|dum|stub)[-_.]?[0-9]*", re.IGNORECASE)
"""Interfaces that lead nowhere, by their names."""
_DEVICES = re.compile(r"(br|bridge|vni|vxlan|vtep|gre|tun|tap|docker|virbr|pimreg|erspan|sit|ip6tnl)[-_.]?[0-9]*$")
"""Devices of the kernel that only an address makes more of."""
_MANAGEMENT = re.compile(r"(eth0|ma1|(vrf-?)?(mgmt|management)[0-9]*(-?vrf)?)", re.IGNORECASE)
_LLDP = re.compile(r"(^|[._-])lldp[._-]?(neighbors)?\.(json|txt)$")
_OTHER_FILES = ("daemons", "vtysh.conf", "support_bundle_commands.conf", "hosts", LINKS)


class End(NamedTuple):
    """An interface of a node."""

    node: str
    interface: str

    def __str__(self) -> str:
        return f"{self.node}:{self.interface}"


@dataclass(frozen=True)
class Router:
    """A router with its configuration."""

    name: str
    config: FrrConfig

    def peers(self) -> Iterator[tuple[Bgp, BgpNeighbour]]:
        """Yield all neighbours of all instances."""
        return ((bgp, peer) for bgp in self.config.bgp for peer in bgp.peers())

    def place(self, interface: str) -> Place:
        """Return where an interface stands; the file alone where it does not."""
        known = self.config.interfaces.get(interface)
        return self.config.place(None if known is None else known.line)

    def networks(self, interface: str) -> list[InterfaceAt]:
        """Return the addresses of an interface that others can be in the network of: neither a host's own (/32) nor
        link-local."""
        return [
            one
            for one in self.config.interfaces[interface].addresses
            if one.value.network.prefixlen < one.value.max_prefixlen and not one.value.is_link_local
        ]

    def is_own(self, interface: FrrInterface) -> bool:
        """Return whether an interface leads nowhere: a loopback, a VRF's device, one with nothing but a /32."""
        if _OWN.fullmatch(interface.name) is not None or interface.name in self.config.vrfs:
            return True
        hosts_only = bool(interface.addresses) and not self.networks(interface.name)
        return hosts_only and not self.is_unnumbered(interface)

    def is_management(self, interface: FrrInterface) -> bool:
        """Return whether an interface is that of the management, by its name or its VRF's."""
        return is_management(interface.name) or (interface.vrf is not None and is_management(interface.vrf))

    def is_unnumbered(self, interface: FrrInterface) -> bool:
        """Return whether something runs over an interface that has no network of its own."""
        if self.networks(interface.name):
            return False
        return any(peer.name == interface.name for _, peer in self.peers()) or bool(interface.areas)

    def ports(self) -> Iterator[FrrInterface]:
        """Yield the interfaces that lead somewhere."""
        for interface in self.config.interfaces.values():
            if self.is_own(interface) or self.is_management(interface):
                continue
            if self.networks(interface.name) or self.is_unnumbered(interface):
                yield interface

    def idle(self) -> Iterator[str]:
        """Yield the names of interfaces with neither address nor protocol: the lab has them not."""
        ports = {interface.name for interface in self.ports()}
        for interface in self.config.interfaces.values():
            is_device = _DEVICES.match(interface.name) is not None
            if not (interface.name in ports or self.is_own(interface) or self.is_management(interface) or is_device):
                yield interface.name

    def loopbacks(self) -> list[InterfaceAddress]:
        """Return the addresses of interfaces of the default VRF that lead nowhere, those of `lo` first."""
        own = [one for one in self.config.interfaces.values() if self.is_own(one) and self.vrf_of(one.name) is None]
        own.sort(key=lambda one: one.name != "lo")
        return [one.value for interface in own for one in interface.addresses]

    def vrf_of(self, interface: str) -> str | None:
        """Return the VRF of an interface: what it says, or what sessions and routes over it, or announcements of its
        network, say."""
        known = self.config.interfaces[interface]
        if known.vrf is not None:
            return known.vrf
        networks = [one.value.network for one in known.addresses]
        return next(self._hints_at_vrf(interface, networks), None)

    def _hints_at_vrf(self, interface: str, networks: Sequence[Network]) -> Iterator[str]:
        for bgp, peer in self.peers():
            in_network = peer.address is not None and any(peer.address in network for network in networks)
            if bgp.vrf is not None and (in_network or peer.name == interface):
                yield bgp.vrf
        for route in self.config.routes:
            is_over = route.interface == interface or (
                route.next_hop is not None and any(route.next_hop in network for network in networks)
            )
            if route.vrf is not None and is_over:
                yield route.vrf
        for announcing in self.config.bgp:
            if announcing.vrf is not None and any(network in announcing.networks for network in networks):
                yield announcing.vrf
        for process in self.config.interiors:
            if process.vrf is not None and any(network in networks for network, _ in process.networks):
                yield process.vrf


Routers = Mapping[str, Router]


def is_management(name: str) -> bool:
    """Return whether an interface or a VRF is that of the management, by its name."""
    return _MANAGEMENT.fullmatch(name) is not None


def read_routers(paths: Sequence[Path], notes: dict[str, None], problems: Problems) -> dict[str, Router]:
    """Return the routers of files, and of those in directories, by name. Raises LabError for what is not text."""
    routers: dict[str, Router] = {}
    for path, fallback in _files(paths, problems):
        try:
            data = read_named_file(path, LARGEST_BYTES)
        except UnreadableError as error:
            problems.add(Place(str(path)), "", str(error))
            continue
        config = read_frr(data, str(path), problems)
        name = _name_of(config, fallback)
        if name in routers:
            other, here = routers[name].config, config.place(config.hostname_line)
            said = f"{shown(name)} is also the name of the router in {other.place(other.hostname_line)}"
            if fallback in (name, *routers) or not NODE_NAME.is_in(fallback):
                problems.add(here, "hostname", f"{said}; give each router's file once", name)
                continue
            notes[f"{here}: hostname {said}: the lab calls this router {fallback}, after the file"] = None
            name = fallback
        routers[name] = Router(name, config)
    return routers


def _name_of(config: FrrConfig, fallback: str) -> str:
    """Return the hostname without its domain, or what the file is called."""
    for text in (config.hostname.partition(".")[0], config.hostname, fallback):
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-_")[:63]
        if NODE_NAME.is_in(name):
            return name
    return "router"


def _files(paths: Sequence[Path], problems: Problems) -> Iterator[tuple[Path, str]]:
    """Yield the files with what each router is called where it does not say so."""
    for path in paths:
        if not path.is_dir():
            yield path, path.parent.name if path.name == FRR_CONF else path.stem
            continue
        found = list(_in_directory(path))
        if not found:
            problems.add(
                Place(str(path)),
                "",
                "has no router's configuration; for each router it needs NAME.conf or NAME/frr.conf with the output "
                "of `vtysh -c 'show running-config'`",
            )
        yield from found


def _in_directory(directory: Path) -> Iterator[tuple[Path, str]]:
    if (directory / FRR_CONF).is_file():
        yield directory / FRR_CONF, directory.resolve().name
    for path in sorted(directory.iterdir()):
        if path.name.startswith(".") or path.name == FRR_CONF:
            continue
        if _is_configuration(path):
            yield path, path.stem
        elif path.is_dir() and not (path / topology.FILE_NAME).exists():  # a lab may be made there
            yield from _in_folder(path)


def _in_folder(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the one file of a router's folder."""
    if (folder / FRR_CONF).is_file():
        yield folder / FRR_CONF, folder.name
        return
    for path in sorted(folder.iterdir()):
        if _is_configuration(path):
            yield path, folder.name
            return


def _is_configuration(path: Path) -> bool:
    is_other = path.name in _OTHER_FILES or _LLDP.search(path.name) is not None
    return path.suffix in SUFFIXES and not is_other and path.is_file()


def files_of_links(paths: Sequence[Path]) -> list[Path]:
    """Return the files of directories that say links: links.txt, and what LLDP saw (NAME.lldp.json, NAME/lldp.txt)."""
    found = []
    for path in paths:
        if path.is_dir():
            found += [path / LINKS] if (path / LINKS).is_file() else []
            inner = [
                *path.iterdir(),
                *(one for folder in path.iterdir() if folder.is_dir() for one in folder.iterdir()),
            ]
            found += sorted(one for one in inner if _LLDP.search(one.name) is not None and one.is_file())
    return found


def first_ipv4(router: Router, interface: str) -> IPv4Interface | None:
    """Return the first IPv4 address of an interface that has a network."""
    values = (one.value for one in router.networks(interface))
    return next((value for value in values if isinstance(value, IPv4Interface)), None)
