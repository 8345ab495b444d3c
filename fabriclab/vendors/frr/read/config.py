"""What an FRR configuration says, as far as a lab is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import Literal, NamedTuple, TypeAlias

from fabriclab.lab.reading.problems import Place

Address: TypeAlias = IPv4Address | IPv6Address
InterfaceAddress: TypeAlias = IPv4Interface | IPv6Interface
Network: TypeAlias = IPv4Network | IPv6Network
Protocol = Literal["ospf", "ospf6", "isis", "rip", "eigrp", "openfabric", "pim", "babel"]
RemoteAs: TypeAlias = int | Literal["internal", "external", "auto"]


@dataclass(frozen=True)
class InterfaceAt:
    """An address and the line that it stands in."""

    value: InterfaceAddress
    line: int


@dataclass
class FrrInterface:
    """An interface, all its blocks together."""

    name: str
    line: int
    vrf: str | None = None
    description: str = ""
    addresses: list[InterfaceAt] = field(default_factory=list)
    bandwidth_bps: int | None = None
    is_down: bool = False
    of_kernel: list[InterfaceAddress] = field(default_factory=list)
    """Those of its addresses that the kernel has, and the file has not."""
    areas: dict[Protocol, str] = field(default_factory=dict)
    """The interior protocols that the interface itself speaks, each with its area; IS-IS with its process."""


@dataclass
class BgpNeighbour:
    """A neighbour, or a peer group; what is None or empty was not written."""

    name: str
    line: int
    address: Address | None = None
    """None: the name is an interface's, and the session unnumbered (or it is a peer group)."""
    is_interface: bool = False
    is_group: bool = False
    group: str | None = None
    remote_as: RemoteAs | None = None
    local_as: int | None = None
    description: str = ""
    families: set[str] = field(default_factory=set)
    left_families: set[str] = field(default_factory=set)
    """Those for which it was said not to be activated."""
    is_client: bool = False
    """Whether it is a route reflector's client."""
    is_next_hop_self: bool = False
    """Whether it is told this router as the next hop of what others announce."""
    is_down: bool = False
    policies: set[str] = field(default_factory=set)
    """The directions, in and out, for which there is a policy in some address family."""


@dataclass
class Bgp:
    """A BGP instance: the default one, or a VRF's."""

    asn: int
    vrf: str | None
    line: int
    router_id: str | None = None
    neighbours: dict[str, BgpNeighbour] = field(default_factory=dict)
    networks: list[Network] = field(default_factory=list)
    redistributes: list[str] = field(default_factory=list)
    requires_policy: bool | None = None
    """Whether routes are exchanged with an external neighbour by a policy only; None: not said."""
    activates_ipv4: bool = True
    """Whether neighbours exchange IPv4 unicast routes where nothing else is said."""
    listens: list[tuple[Network, str]] = field(default_factory=list)
    """Networks whose routers may open sessions, each with the peer group that they are then of."""

    def peers(self) -> Iterator[BgpNeighbour]:
        """Yield the neighbours that are not peer groups."""
        return (one for one in self.neighbours.values() if not one.is_group)

    def is_internal(self, neighbour: BgpNeighbour) -> bool:
        """Return whether a neighbour is of the same AS."""
        return self.remote_as(neighbour) in ("internal", self.local_as(neighbour))

    def is_next_hop_for(self, neighbour: BgpNeighbour) -> bool:
        """Return whether a neighbour, or its group, is told this router as the next hop."""
        group = self.neighbours.get(neighbour.group or "", neighbour)
        return neighbour.is_next_hop_self or group.is_next_hop_self

    def exchanges_ipv4(self, neighbour: BgpNeighbour) -> bool:
        """Return whether IPv4 unicast routes are exchanged with a neighbour."""
        family, group = "ipv4 unicast", self.neighbours.get(neighbour.group or "", neighbour)
        if family in neighbour.left_families | group.left_families:
            return False
        return self.activates_ipv4 or family in neighbour.families | group.families

    def remote_as(self, neighbour: BgpNeighbour) -> RemoteAs | None:
        """Return a neighbour's AS, its own or its group's."""
        group = self.neighbours.get(neighbour.group or "")
        return neighbour.remote_as if neighbour.remote_as is not None or group is None else group.remote_as

    def local_as(self, neighbour: BgpNeighbour) -> int:
        """Return the AS that a neighbour sees."""
        group = self.neighbours.get(neighbour.group or "")
        return neighbour.local_as or (None if group is None else group.local_as) or self.asn

    def policies(self, neighbour: BgpNeighbour) -> set[str]:
        """Return the directions for which a neighbour, or its group, has a policy."""
        group = self.neighbours.get(neighbour.group or "")
        return neighbour.policies if group is None else neighbour.policies | group.policies

    def is_client(self, neighbour: BgpNeighbour) -> bool:
        """Return whether a neighbour, or its group, is a route reflector's client."""
        group = self.neighbours.get(neighbour.group or "")
        return neighbour.is_client or (group is not None and group.is_client)


@dataclass
class Interior:
    """A process of an interior routing protocol."""

    protocol: Protocol
    name: str
    """IS-IS's process or OSPF's instance; empty without one."""
    vrf: str | None
    line: int
    networks: list[tuple[Network, str]] = field(default_factory=list)
    """Networks whose interfaces speak it, each with its area."""
    redistributes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class StaticRoute:
    """A static route: one with an address as next hop, an interface, or neither (blackhole)."""

    prefix: Network
    next_hop: Address | None
    interface: str | None
    vrf: str | None
    line: int


@dataclass
class Vrf:
    """A VRF, and the VNI of its routes in EVPN."""

    name: str
    line: int
    vni: int | None = None


@dataclass(frozen=True)
class Unknown:
    """A command at the top level that is none of FRR's as far as is known here."""

    line: int
    text: str


class FilePart(NamedTuple):
    """A file of several that are one configuration."""

    file: str
    first: int
    """The line of all of them at which it begins."""


@dataclass
class FrrConfig:
    """One router's configuration."""

    file: str
    data: bytes
    hostname: str = ""
    hostname_line: int | None = None
    interfaces: dict[str, FrrInterface] = field(default_factory=dict)
    bgp: list[Bgp] = field(default_factory=list)
    interiors: list[Interior] = field(default_factory=list)
    routes: list[StaticRoute] = field(default_factory=list)
    vrfs: dict[str, Vrf] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    """What is FRR's alone, and not looked at: how many commands, by their first words."""
    unknown: list[Unknown] = field(default_factory=list)
    is_datacenter: bool = False
    """Whether FRR's defaults are those of data centres."""
    has_evpn: bool = False
    is_vtep: bool = False
    """Whether it announces the VNIs of the kernel's VXLAN devices."""
    parts: tuple[FilePart, ...] = ()
    """The files that were joined, where these are several."""

    def place(self, line: int | None) -> Place:
        """Return the place of a line, in the file that it was written in."""
        part = next((part for part in reversed(self.parts) if line and part.first <= line), None)
        return Place(self.file, line or None) if part is None or not line else Place(part.file, line - part.first + 1)

    @property
    def own_bgp(self) -> Bgp | None:
        """Return the instance of the default VRF."""
        return next((one for one in self.bgp if one.vrf is None), None)

    @property
    def daemons(self) -> Mapping[str, bool]:
        """Return FRR's daemons beside zebra and staticd, and whether the configuration needs each."""
        spoken = {one.protocol for one in self.interiors}
        heads = " ".join(self.kept)
        return {
            "bgpd": bool(self.bgp),
            "ospfd": "ospf" in spoken,
            "ospf6d": "ospf6" in spoken,
            "isisd": "isis" in spoken,
            "ripd": "rip" in spoken,
            "ripngd": "router ripng" in heads,
            "eigrpd": "eigrp" in spoken,
            "babeld": "babel" in spoken,
            "fabricd": "openfabric" in spoken,
            "pimd": "router pim" in self.kept or "pim" in spoken,
            "pim6d": "router pim6" in self.kept,
            "ldpd": "mpls ldp" in self.kept,
            "nhrpd": "nhrp" in heads,
            "pbrd": "pbr-map" in self.kept,
            "bfdd": "bfd" in self.kept or self._speaks_bfd,
            "pathd": "segment-routing" in self.kept,
            "vrrpd": "vrrp" in heads,
        }

    @property
    def _speaks_bfd(self) -> bool:
        return b" bfd" in self.data
