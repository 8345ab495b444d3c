"""Hosts and neighbours behind the ports of switches with VRFs: their addresses, gateways and sessions.

FRR and the kernel give such a lab its routes, so all that is at its edge has addresses and default routes of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network, IPv6Network, ip_interface

from fabriclab.formats.family import AnyAddress, AnyInterface, AnyNetwork
from fabriclab.keys.wording import listed
from fabriclab.vendors.sonic.lab.fabric_stubs import Stub, StubLink
from fabriclab.vendors.sonic.lab.fabric_switches import End, Fabric, FabricSwitch
from fabriclab.vendors.sonic.vrf.sessions import VrfSession, sessions_of
from fabriclab.vendors.sonic.vrf.words import DEFAULT

_POOLS = (IPv4Network("172.31.0.0/16"), IPv4Network("10.254.0.0/16"), IPv4Network("192.168.0.0/16"))
_POOL6 = IPv6Network("fdfa:b1ab:3::/48")
"""Where the networks of hosts behind neighbours are from."""


@dataclass(frozen=True)
class Attached:
    """An interface of a switch, and what somebody behind it has there."""

    switch: FabricSwitch
    name: str
    """The port, port channel or VLAN."""
    vrf: str
    gateways: tuple[AnyInterface, ...]
    """The switch's addresses, the first one of each family."""


@dataclass(frozen=True)
class EdgeHost:
    """A host behind a port."""

    name: str
    vrf: str
    links: tuple[StubLink, ...]
    """Several: those of a port channel."""
    addresses: tuple[AnyInterface, ...]
    gateways: tuple[AnyInterface, ...]
    behind: str = ""
    """The neighbour that it is behind; empty: it is behind a switch with a file."""


@dataclass(frozen=True)
class EdgeRouter:
    """A neighbour that speaks BGP and that no file describes."""

    name: str
    asn: str
    sessions: tuple[tuple[StubLink, VrfSession, Attached], ...]
    host: EdgeHost

    @property
    def own(self) -> AnyInterface:
        """Its address towards its host."""
        return self.host.gateways[0]


class Edge:
    """What is behind the ports of a fabric with VRFs."""

    def __init__(self, fabric: Fabric, stubs: Sequence[Stub], notes: dict[str, None]) -> None:
        self._fabric = fabric
        self._notes = notes
        self._sessions = {switch.name: [*sessions_of(switch.config)] for switch in fabric.switches.values()}
        self._taken: set[tuple[str, AnyAddress]] = set()
        self._shared: dict[tuple[str, AnyNetwork], dict[str, None]] = {}
        self._free, self._free6 = self._pools()
        self._met: set[tuple[str, str]] = set()
        """Sessions whose other end is there, by switch and key."""
        for switch in fabric.switches.values():
            for name in dict.fromkeys((*switch.config.addresses, *switch.config.addresses6)):
                self._taken |= {(switch.vrf_of(name), one.ip) for one in _addresses(switch, name)}
        self.hosts: list[EdgeHost] = []
        self.routers: list[EdgeRouter] = []
        for stub in stubs:
            self._add(stub)
        self.hosts += [router.host for router in self.routers]
        self._note_shared()

    def _pools(self) -> tuple[Iterator[IPv4Network], Iterator[IPv6Network]]:
        used = [
            one
            for switch in self._fabric.switches.values()
            for each in switch.config.addresses.values()
            for one in each
        ]
        pool = next((one for one in _POOLS if not any(each.network.overlaps(one) for each in used)), _POOLS[0])
        return pool.subnets(new_prefix=31), _POOL6.subnets(new_prefix=127)

    def _add(self, stub: Stub) -> None:
        every = [(link, self._attached(link.end)) for link in stub.links]
        sessions = [(link, one, at) for link, at in every if (one := self._session(at)) is not None]
        if sessions:
            for number, each in enumerate([sessions] if stub.role == "switch" else [[one] for one in sessions]):
                name = f"peer-{stub.name[2:]}" if stub.name.startswith("h-") else stub.name
                self._add_router(name if number == 0 else f"{name}-{number + 1}", each)
        elif stub.role == "host":
            self._add_host(stub, every[0][1])

    def _attached(self, end: End) -> Attached:
        switch = self._fabric.switches[end.switch]
        channel = switch.channel_of.get(end.port, end.port)
        name = next((vlan.name for vlan in switch.config.vlans if {channel, end.port} & {*vlan.members}), channel)
        found = {one.version: one for one in reversed([*_addresses(switch, name)])}
        return Attached(switch, name, switch.vrf_of(name), tuple(found[one] for one in sorted(found)))

    def _session(self, at: Attached) -> VrfSession | None:
        """Return the session with who is behind an interface."""
        for one in self._sessions[at.switch.name]:
            is_behind = one.peer is not None and any(one.peer in each.network for each in at.gateways)
            is_met = (at.switch.name, one.key) in self._met
            if one.vrf == (at.vrf or DEFAULT) and (one.interface == at.name or is_behind) and not is_met:
                self._met.add((at.switch.name, one.key))
                return one
        return None

    def _add_host(self, stub: Stub, at: Attached) -> None:
        addresses = tuple(one for gateway in at.gateways if (one := self._next(at, gateway)) is not None)
        if not addresses:
            self._notes[f"{stub.name}: left out: {at.switch.name}:{at.name} has no network with a free address"] = None
            return
        self.hosts.append(EdgeHost(stub.name, at.vrf, stub.links, addresses, at.gateways))

    def _next(self, at: Attached, gateway: AnyInterface) -> AnyInterface | None:
        """Return the first free address of an interface's network; hosts of one VRF have different ones."""
        self._share(at, gateway)
        for number, each in enumerate(gateway.network.hosts()):
            found = ip_interface(f"{each}/{gateway.network.prefixlen}")
            if (at.vrf, found.ip) not in self._taken:
                self._taken.add((at.vrf, found.ip))
                return found
            if number > 65_536:
                break
        return None

    def _share(self, at: Attached, gateway: AnyInterface) -> None:
        self._shared.setdefault((at.vrf, gateway.network), {})[f"{at.switch.name}:{at.name}"] = None

    def _add_router(self, name: str, sessions: Sequence[tuple[StubLink, VrfSession, Attached]]) -> None:
        _, first, at = sessions[0]
        is_of_ipv6 = first.peer is not None and first.peer.version == 6
        network: AnyNetwork = next(self._free6) if is_of_ipv6 else next(self._free)
        own, other = (ip_interface(f"{network[number]}/{network.prefixlen}") for number in (0, 1))
        asn = first.own_asn if first.asn == "internal" else "64999" if first.asn == "external" else first.asn
        host = EdgeHost(f"{name}-host", at.vrf, (), (other,), (own,), behind=name)
        own_links = tuple((replace(link, node=name), session, where) for link, session, where in sessions)
        self.routers.append(EdgeRouter(name, asn, own_links, host))
        for _, session, where in sessions:
            for gateway in where.gateways if session.peer is not None else ():
                if session.peer in gateway.network:
                    self._share(where, gateway)

    def _note_shared(self) -> None:
        for (vrf, network), interfaces in self._shared.items():
            if len({one.partition(":")[0] for one in interfaces}) > 1:
                self._notes[
                    f"{network} of {vrf or 'the default VRF'} is at {listed(interfaces)}: no link joins them, so each "
                    "has hosts of its own in the lab"
                ] = None


def _addresses(switch: FabricSwitch, interface: str) -> Iterator[AnyInterface]:
    """Yield the addresses of an interface, without link-local ones."""
    yield from switch.config.addresses.get(interface, ())
    yield from (one for one in switch.config.addresses6.get(interface, ()) if not one.is_link_local)
