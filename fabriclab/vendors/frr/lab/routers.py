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
from fabriclab.lab.reading.files import UnreadableError, read_named_file
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.vendors.common.command_text import LARGEST_BYTES
from fabriclab.vendors.frr.lab.router_files import router_files
from fabriclab.vendors.frr.read import read_daemons_files, read_frr
from fabriclab.vendors.frr.read.config import (
    Bgp,
    BgpNeighbour,
    FrrConfig,
    FrrInterface,
    InterfaceAddress,
    InterfaceAt,
    Network,
)

_OWN = re.compile(r"(lo|loop|loopback|dummy|dum|stub)[-_.]?[0-9]*", re.IGNORECASE)
"""Interfaces that lead nowhere, by their names."""
_DEVICES = re.compile(r"(br|bridge|vni|vxlan|vtep|gre|tun|tap|docker|virbr|pimreg|erspan|sit|ip6tnl)[-_.]?[0-9]*$")
"""Devices of the kernel that only an address makes more of."""
_MANAGEMENT = re.compile(r"(eth0|ma1|(vrf-?)?(mgmt|management)[0-9]*(-?vrf)?)", re.IGNORECASE)


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
    for fallback, files in router_files(paths, notes, problems):
        config = _read(files, problems)
        if config is None:
            continue
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


def _read(files: Sequence[Path], problems: Problems) -> FrrConfig | None:
    """Return the configuration that files are together; None, and problems, where one cannot be read."""
    texts: dict[str, bytes] = {}
    before = len(problems)
    for path in files:
        try:
            texts[str(path)] = read_named_file(path, LARGEST_BYTES)
        except UnreadableError as error:
            problems.add(Place(str(path)), "", str(error))
    if before != len(problems):
        return None
    if len(texts) == 1:
        ((file, data),) = texts.items()
        return read_frr(data, file, problems)
    return read_daemons_files(texts, problems)


def _name_of(config: FrrConfig, fallback: str) -> str:
    """Return the hostname without its domain, or what the file is called."""
    for text in (config.hostname.partition(".")[0], config.hostname, fallback):
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-_")[:63]
        if NODE_NAME.is_in(name):
            return name
    return "router"


def first_ipv4(router: Router, interface: str) -> IPv4Interface | None:
    """Return the first IPv4 address of an interface that has a network."""
    values = (one.value for one in router.networks(interface))
    return next((value for value in values if isinstance(value, IPv4Interface)), None)
