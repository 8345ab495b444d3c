"""What stands behind the ports that no other file of the fabric explains: hosts,
and switches that speak BGP and have no file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Interface, IPv6Address, IPv6Interface
from typing import Literal

from fabriclab.keys.wording import listed, shown
from fabriclab.lab.network.labels import Role
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.sonic.lab.fabric_links import FabricLink
from fabriclab.vendors.sonic.lab.fabric_switches import End, Fabric, FabricSwitch
from fabriclab.vendors.sonic.lab.laid_cables import LaidCables
from fabriclab.vendors.sonic.read.bgp_tables import LINK_PREFIX6
from fabriclab.vendors.sonic.read.config_db import BgpNeighbour
from fabriclab.vendors.sonic.read.neighbours import node_name
from fabriclab.vendors.sonic.read.port_groups import first_ipv6

Missing = Literal["hosts", "left-out", "error"]
"""What becomes of a neighbour that no file describes and that is not a host: a switch (with a host behind
it), nothing, an error."""
_ETH = re.compile(r"eth[1-9][0-9]{0,3}")


@dataclass(frozen=True)
class StubLink:
    """A link from a switch of the fabric to a node that no file describes."""

    end: End
    node: str
    interface: str
    address: IPv4Interface | None
    """The node's address; None: it follows from the switch's, or the lab assigns it."""
    found_by: str
    address6: IPv6Interface | None = None
    """The same of IPv6."""


@dataclass(frozen=True)
class Stub:
    """A node that no file describes."""

    name: str
    role: Role
    asn: int | None = None
    links: tuple[StubLink, ...] = ()
    has_host: bool = False
    """Whether a host is behind a switch. Routers refuse paths with their own AS number:
    none where several switches share it."""


@dataclass(frozen=True)
class _Found:
    """A port with something behind it."""

    end: End
    role: Role
    name: str
    """The neighbour's name; empty where nobody says it."""
    port: str
    """The neighbour's, as DEVICE_NEIGHBOR has it."""
    found_by: str
    session: BgpNeighbour | None = None


class StubFinder:
    """Finds the stubs of a fabric."""

    def __init__(
        self,
        fabric: Fabric,
        links: Sequence[FabricLink],
        missing: Missing,
        notes: dict[str, None],
        problems: Problems,
        cables: LaidCables,
    ) -> None:
        self._fabric = fabric
        self._linked = {end for link in links for end in link.ends}
        self._missing = missing
        self._notes = notes
        self._problems = problems
        self._cables = cables
        self._taken = {name.lower() for name in fabric.switches}

    def stubs(self) -> tuple[Stub, ...]:
        """Return the nodes in the order of the files and their ports."""
        groups: dict[tuple[Role, str], list[_Found]] = {}
        for switch in self._fabric.switches.values():
            for found in self._behind(switch):
                groups.setdefault((found.role, self._identity(found, groups)), []).append(found)
        stubs = [self._stub(found) for found in groups.values()]
        asns = Counter([stub.asn for stub in stubs] + [switch.config.asn for switch in self._fabric.switches.values()])
        return tuple(
            replace(stub, has_host=stub.role == "switch" and (stub.asn is None or asns[stub.asn] == 1))
            for stub in stubs
        )

    def _behind(self, switch: FabricSwitch) -> Iterator[_Found]:
        """Yield what is behind the ports of a switch that lead to no other file's; note those with nothing."""
        sessions = {interface: session for session, interface in switch.sessions()}
        vlan_of = {member: vlan.name for vlan in switch.config.vlans for member in vlan.members}
        nothing = []
        for port in switch.ports:
            if End(switch.name, port) in self._linked or self._is_down_elsewhere(switch, port):
                continue
            found = self._behind_port(switch, port, sessions, vlan_of)
            if found is None:
                nothing.append(port)
            elif found.role == "host" or self._has_place(switch, found):
                yield found
        if nothing:
            self._notes[
                f"{switch.name}: up, but without neighbour, address, VLAN or port channel, and left out: "
                f"{listed(nothing)}"
            ] = None

    def _is_down_elsewhere(self, switch: FabricSwitch, port: str) -> bool:
        """Return whether a port leads to a switch of the fabric whose port is down; the link is noted already."""
        said = switch.config.device_neighbours.get(port)
        return said is not None and self._fabric.named(said.name) is not None

    def _behind_port(
        self, switch: FabricSwitch, port: str, sessions: dict[str, BgpNeighbour], vlan_of: dict[str, str]
    ) -> _Found | None:
        end, interface = End(switch.name, port), switch.channel_of.get(port, port)
        said, session = switch.config.device_neighbours.get(port), sessions.get(interface)
        name, far_port = ("", "") if said is None else (said.name, said.port)
        cabled = self._cables.outside.get(end)
        if said is None and cabled is not None:
            name, far_port = cabled.device, cabled.ports[0] if cabled.ports else ""
        if session is not None:
            return _Found(end, "switch", session.name or name, far_port, f"BGP_NEIGHBOR {session.key}", session)
        if said is not None:
            role: Role = "switch" if "router" in said.kind.lower() else "host"
            return _Found(end, role, name, far_port, "DEVICE_NEIGHBOR")
        if cabled is not None:
            return _Found(end, "host", name, far_port, self._cables.source[end])
        if interface in vlan_of:
            return _Found(end, "host", "", "", f"a member of {vlan_of[interface]}")
        if interface in switch.interfaces:
            return _Found(end, "host", "", "", f"the address {switch.interfaces[interface].address}")
        return _Found(end, "host", "", "", f"a member of {interface}") if interface != port else None

    def _has_place(self, switch: FabricSwitch, found: _Found) -> bool:
        """Return whether a switch without a file is built; else tell."""
        what = f"{found.end} leads to {found.name or 'a switch'} ({found.found_by}), which has no file"
        if self._missing == "error":
            path = (
                ("BGP_NEIGHBOR", found.session.key)
                if found.session is not None
                else ("DEVICE_NEIGHBOR", found.end.port)
            )
            message = f"{what}; give its config_db.json, or --missing hosts or left-out"
            switch.config.complain(self._problems, path, message, found.name)
        elif self._missing == "left-out":
            self._notes[f"{what}: left out"] = None
        elif found.session is None:
            self._notes[f"{what} and no BGP session: left out"] = None
        return self._missing == "hosts" and found.session is not None

    def _identity(self, found: _Found, groups: dict[tuple[Role, str], list[_Found]]) -> str:
        """Return what is the same for the ports that lead to one node: its name,
        or the port channel they are members of."""
        channel = self._fabric.switches[found.end.switch].channel_of.get(found.end.port)
        if not found.name:
            return f"{found.end.switch}:{channel or found.end.port}"
        number, identity = 1, found.name
        while found.port and any(other.port == found.port for other in groups.get((found.role, identity), ())):
            number += 1
            identity = f"{found.name}-{number}"
            self._notes[
                f"{found.name}:{found.port} is the neighbour of several ports; in the lab each port gets a neighbour "
                "of its own"
            ] = None
        return identity

    def _stub(self, found: list[_Found]) -> Stub:
        first = found[0]
        config = self._fabric.switches[first.end.switch].config
        prefix = "peer" if first.role == "switch" else "h"
        name = self._free(node_name(config, first.name or f"{prefix}-{first.end.switch}-{first.end.port}"))
        names = dict(zip((one.end for one in found), _interfaces([one.port for one in found]), strict=True))
        links = tuple(
            StubLink(one.end, name, names[one.end], self._address(one), one.found_by, self._address6(one))
            for one in found
        )
        return Stub(name, first.role, self._asn(found), links)

    def _free(self, name: str) -> str:
        candidate, number = name, 1
        while candidate.lower() in self._taken or f"{candidate.lower()}-host" in self._taken:
            number += 1
            candidate = f"{name}-{number}"
        self._taken |= {candidate.lower(), f"{candidate.lower()}-host"}
        return candidate

    def _address(self, found: _Found) -> IPv4Interface | None:
        """Return the neighbour's address in a network of more than two; in a smaller one it is the other one."""
        switch = self._fabric.switches[found.end.switch]
        own = switch.interfaces.get(found.end.port)
        if own is None or own.address.network.prefixlen >= 30:
            return None
        peer = None if found.session is None else found.session.address
        other = peer or next((address for address in own.address.network.hosts() if address != own.address.ip), None)
        return None if other is None else IPv4Interface((other, own.address.network.prefixlen))

    def _address6(self, found: _Found) -> IPv6Interface | None:
        """Return the address of IPv6 of a neighbour that speaks BGP, in a network of more than two."""
        config = self._fabric.switches[found.end.switch].config
        own = first_ipv6(config, found.end.port)
        peers = (one.address for one in config.bgp_neighbours6 if one.interface == found.end.port)
        peer = next((one for one in peers if isinstance(one, IPv6Address)), None)
        if own is None or peer is None or own.network.prefixlen >= LINK_PREFIX6 or peer not in own.network:
            return None
        return IPv6Interface((peer, own.network.prefixlen))

    def _asn(self, found: list[_Found]) -> int | None:
        """Return the AS number that all sessions with a switch give it."""
        said = [one for one in found if one.session is not None and one.session.asn is not None]
        for one in said[1:]:
            first = said[0]
            if one.session is None or first.session is None or one.session.asn == first.session.asn:
                continue
            place = self._fabric.switches[first.end.switch].config.place("BGP_NEIGHBOR", first.session.key, "asn")
            message = f"AS {one.session.asn} of {shown(one.name)}, but {first.session.asn} in {place}; write the same"
            path = ("BGP_NEIGHBOR", one.session.key, "asn")
            self._fabric.switches[one.end.switch].config.complain(self._problems, path, message, str(one.session.asn))
        return said[0].session.asn if said and said[0].session is not None else None


def _interfaces(said: Sequence[str]) -> list[str]:
    """Return the interfaces of a node: `ethN` as DEVICE_NEIGHBOR has it, else the first that is free."""
    taken = {name for name in said if _ETH.fullmatch(name)}
    free = (name for number in range(1, 2 * len(said) + 1) if (name := f"eth{number}") not in taken)
    return [name if _ETH.fullmatch(name) else next(free) for name in said]
