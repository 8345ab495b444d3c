"""The links between the switches of a fabric, by what their files say of one another.

In this order: DEVICE_NEIGHBOR; cables that are given, or heard of by LLDP; two ports (or port channels) with addresses
of one /30 or /31, or of one /126 or /127; a BGP_NEIGHBOR that is the address of another switch's port; two ports in a
larger network that no other port is in; sessions without addresses whose AS numbers only these two switches have. Each
is found once, by the first of these; what contradicts it is an error that names both files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import TypeVar

from fabriclab.formats.family import AnyAddress
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.common.imported_lab import FoundLink
from fabriclab.vendors.sonic.lab.fabric_switches import End, Fabric, FabricSwitch, Interface, Interface6
from fabriclab.vendors.sonic.lab.laid_cables import LaidCables
from fabriclab.vendors.sonic.read.bgp_tables import LINK_PREFIX6
from fabriclab.vendors.sonic.read.entries import suggestion

_LINK_PREFIX = 30
"""Networks at least as long as this one have two ends."""


N = TypeVar("N", IPv4Network, IPv6Network)
InterfaceT = TypeVar("InterfaceT", Interface, Interface6)
_AnyInterface = Interface | Interface6
FabricLink = FoundLink[End]
"""A link between two switches of the fabric."""


@dataclass(frozen=True)
class _Claim:
    """What DEVICE_NEIGHBOR says of a port whose neighbour is in the fabric."""

    near: End
    neighbour: str
    """The node at the other end."""
    far: End | None
    """None: its port is not said."""


class LinkFinder:
    """Finds the links of a fabric."""

    def __init__(
        self, fabric: Fabric, notes: dict[str, None], problems: Problems, cables: LaidCables | None = None
    ) -> None:
        self._fabric = fabric
        self._cables = cables or LaidCables()
        self._notes = notes
        self._problems = problems
        self._order = {name: number for number, name in enumerate(fabric.switches)}
        self._links: list[FabricLink] = []
        self._far: dict[End, End] = {}
        self.down: tuple[FabricLink, ...] = ()
        """The links that were found and have a port that is down; set by `links`."""

    def links(self) -> tuple[FabricLink, ...]:
        """Return the links in the order of the files and their ports; those with a port that is down
        are noted and left out."""
        claims = self._claims()
        self._link_by_ports(claims)
        self._link_by_names(claims)
        self._link_by_cables(claims)
        self._link_by_networks()
        self._link_by_networks6()
        self._link_by_sessions()
        self._link_by_networks(alone=True)
        self._link_by_networks6(alone=True)
        self._link_by_as_numbers()
        self._complain_of_unresolved(claims)
        ports = {
            End(switch.name, port): number
            for switch in self._switches()
            for number, port in enumerate(switch.config.ports)
        }
        links = sorted(self._links, key=lambda link: (self._order[link.a.switch], ports[link.a]))
        up = {link: self._is_up(link) for link in links}
        self.down = tuple(link for link in links if not up[link])
        return tuple(link for link in links if up[link])

    def _switches(self) -> Iterator[FabricSwitch]:
        yield from self._fabric.switches.values()

    def _claims(self) -> dict[End, _Claim]:
        claims = {}
        for switch in self._switches():
            for said in switch.config.device_neighbours.values():
                other = self._fabric.named(said.name)
                if other is None or said.local_port not in switch.config.ports:
                    continue
                near, port = End(switch.name, said.local_port), other.port_named(said.port)
                if other is switch:
                    self._complain(near, f"leads to {said.name}, the switch itself")
                elif said.port and port is None:
                    ports = other.config.place("PORT")
                    hint = suggestion(said.port, other.config.ports)
                    self._complain(near, f"{shown(said.port)} is not a PORT of {other.name} ({ports}); {hint}", "port")
                else:
                    claims[near] = _Claim(near, other.name, None if port is None else End(other.name, port))
        return claims

    def _link_by_ports(self, claims: dict[End, _Claim]) -> None:
        for claim in claims.values():
            if claim.far is not None and self._agrees(claim.near, claim.far, claims):
                if claim.far not in claims:
                    self._link(claim.near, claim.far, f"DEVICE_NEIGHBOR of {claim.near.switch}")
                elif claim.near not in self._far:
                    self._link(claim.near, claim.far, "DEVICE_NEIGHBOR of both")

    def _agrees(self, near: End, far: End, claims: dict[End, _Claim]) -> bool:
        """Return whether nothing contradicts that a port leads to another one; else complain."""
        back = claims.get(far)
        place = self._fabric.neighbour_place(far)
        if back is not None and (back.far == near or (back.far is None and back.neighbour == near.switch)):
            return True
        said = self._fabric.switches[far.switch].config.device_neighbours.get(far.port)
        if said is not None:
            theirs = str(back.far) if back is not None and back.far is not None else said.name
            self._complain(near, f"leads to {far}, but that port leads to {theirs} ({place}); write the same")
            return False
        other = self._far.get(far)
        if other is not None and other != near:
            self._complain(
                near,
                f"leads to {far}, and so does {other} ({self._fabric.neighbour_place(other)}); "
                "a port has one neighbour",
            )
        return other is None or other == near

    def _link_by_names(self, claims: dict[End, _Claim]) -> None:
        """Link the one port of two switches each that names the other switch, and not its port."""
        unsaid: dict[tuple[str, str], list[End]] = defaultdict(list)
        for claim in claims.values():
            if claim.far is None and claim.near not in self._far:
                unsaid[claim.near.switch, claim.neighbour].append(claim.near)
        for (switch, neighbour), ends in unsaid.items():
            others = unsaid.get((neighbour, switch), [])
            if self._order[switch] < self._order[neighbour] and len(ends) == len(others) == 1:
                self._link(ends[0], others[0], "DEVICE_NEIGHBOR of both, the only link between them")

    def _link_by_cables(self, claims: dict[End, _Claim]) -> None:
        """Link the ports that a cable joins; complain of a DEVICE_NEIGHBOR that says otherwise."""
        for near, far in self._cables.joined.items():
            ends = (near, far)
            if all(end not in self._far for end in ends):
                self._link(near, far, self._cables.source[near])
            elif self._far.get(near) != far:
                linked = near if near in self._far else far
                other = far if linked == near else near
                message = f"leads to {self._far[linked]}, but to {other} by {self._cables.source[near]}"
                if linked in claims or self._far[linked] in claims:
                    self._complain(
                        linked if linked in claims else self._far[linked], f"{message}; correct what is wrong"
                    )

    def _link_by_networks(self, *, alone: bool = False) -> None:
        """Link the two ports of a network for two; or, if `alone`, those that are alone in a larger one."""
        by_network: dict[IPv4Network, list[Interface]] = defaultdict(list)
        for switch in self._switches():
            for interface in switch.cabled.values():
                if (interface.address.network.prefixlen >= _LINK_PREFIX) is not alone:
                    by_network[interface.address.network].append(interface)
        for interfaces in self._pairs(by_network):
            near, far = interfaces
            network = near.address.network
            if not alone:
                self._pair(near, far, f"addresses of {network}")
            elif near.address.ip != far.address.ip and self._unlinked(near) and self._unlinked(far):
                self._pair(near, far, f"addresses of {network}, in which no other port is")

    def _link_by_networks6(self, *, alone: bool = False) -> None:
        """Link the two ports of a network of IPv6 for two, or, if `alone`, those that are alone in a larger one, as far
        as nothing else told of them."""
        by_network: dict[IPv6Network, list[Interface6]] = defaultdict(list)
        for switch in self._switches():
            for interface in switch.cabled6:
                network = interface.address.network
                is_for_two = LINK_PREFIX6 <= network.prefixlen < network.max_prefixlen
                is_larger = network.prefixlen < LINK_PREFIX6 and not network.is_link_local
                if is_larger if alone else is_for_two:
                    by_network[network].append(interface)
        for near, far in self._pairs(by_network):
            is_free = self._unlinked(near) and self._unlinked(far)
            if is_free and near.address.ip != far.address.ip:
                network = near.address.network
                self._pair(near, far, f"addresses of {network}{', in which no other port is' if alone else ''}")

    def _pairs(self, by_network: Mapping[N, list[InterfaceT]]) -> Iterator[tuple[InterfaceT, InterfaceT]]:
        """Yield the interfaces of networks that have two, of different switches. If a network has more, those of each
        VRF count by themselves."""
        for every in by_network.values():
            by_vrf: dict[str, list[InterfaceT]] = defaultdict(list)
            for one in every:
                by_vrf[self._fabric.switches[one.switch].vrf_of(one.name) if len(every) > 2 else ""].append(one)
            for found in by_vrf.values():
                if len(found) == 2 and found[0].switch != found[1].switch:
                    yield found[0], found[1]

    def _link_by_sessions(self) -> None:
        owners: dict[AnyAddress, Interface] = {}
        for switch in self._switches():
            for interface in switch.interfaces.values() if not switch.config.vrfs else _of_default(switch):
                owners.setdefault(interface.address.ip, interface)
        for switch in self._switches():
            for session, name in switch.sessions():
                near, far = (
                    switch.interfaces.get(name),
                    None if session.address is None else owners.get(session.address),
                )
                if near is not None and far is not None and far.switch != switch.name:
                    self._pair(near, far, f"BGP_NEIGHBOR {session.address} of {switch.name}")

    def _link_by_as_numbers(self) -> None:
        """Link the ports of two switches with one session each that has no address and is of the other's AS number."""
        sessions = self._unnumbered()
        for (near, far), over in sessions.items():
            back = sessions.get((far, near), [])
            if self._order[near] < self._order[far] and len(over) == len(back) == 1 and len(over[0]) == len(back[0]):
                own, other = (self._fabric.switches[name].config.asn for name in (near, far))
                for end, far_end in zip(over[0], back[0], strict=True):
                    self._link(end, far_end, f"BGP_NEIGHBOR of both, the only one of AS {own} and AS {other}")

    def _unnumbered(self) -> dict[tuple[str, str], list[list[End]]]:
        """Return the ports of each session without address, by its switch and the only switch of its AS number."""
        owners: dict[int | None, list[str]] = defaultdict(list)
        for switch in self._switches():
            owners[switch.config.asn].append(switch.name)
        found: dict[tuple[str, str], list[list[End]]] = defaultdict(list)
        for switch in self._switches():
            for session, name in switch.sessions():
                ports = [port for port in switch.ports if switch.channel_of.get(port, port) == name]
                ends = [end for port in ports if (end := End(switch.name, port)) not in self._far]
                is_free = session.address is None and session.asn is not None and ends
                if is_free and len(owners[session.asn]) == len(owners[switch.config.asn]) == 1:
                    found[switch.name, owners[session.asn][0]].append(ends)
        return found

    def _pair(self, near: _AnyInterface, far: _AnyInterface, found_by: str) -> None:
        """Link two interfaces port by port, as far as their ports have no link yet."""
        ours, theirs = (self._unlinked(interface) for interface in (near, far))
        if not (ours or theirs) or (len(near.members) == len(far.members) == 1 and not (ours and theirs)):
            return  # found already; one port with another neighbour has an address that contradicts it
        if len(ours) != len(theirs) or near.is_channel != far.is_channel:
            place = self._fabric.switches[far.switch].address_place(far.name, far.address)
            message = (
                f"of the link to {far} ({place}): {len(ours)} ports remain at this end and {len(theirs)} at the "
                "other, so the link is ambiguous; write DEVICE_NEIGHBOR"
            )
            switch = self._fabric.switches[near.switch]
            self._problems.add(switch.address_place(near.name, near.address), f"{near.name}|{near.address}", message)
            return
        if len(ours) > 1:
            self._notes[
                f"{near} and {far}: no DEVICE_NEIGHBOR; their members were matched in the order of the files"
            ] = None
        for end, other in zip(ours, theirs, strict=True):
            self._link(end, other, found_by)

    def _unlinked(self, interface: _AnyInterface) -> list[End]:
        return [end for port in interface.members if (end := End(interface.switch, port)) not in self._far]

    def _link(self, near: End, far: End, found_by: str) -> None:
        if self._order[near.switch] > self._order[far.switch]:
            near, far = far, near
        self._links.append(FabricLink(near, far, found_by))
        self._far |= {near: far, far: near}

    def _is_up(self, link: FabricLink) -> bool:
        down = [str(end) for end in link.ends if end.port not in self._fabric.switches[end.switch].ports]
        if down:
            self._notes[f"the link {link.a} to {link.b} is left out: {' and '.join(down)} down (admin_status)"] = None
        return not down

    def _complain_of_unresolved(self, claims: dict[End, _Claim]) -> None:
        for claim in claims.values():
            if claim.far is None and claim.near not in self._far:
                message = (
                    f"leads to {claim.neighbour}, but neither the field port nor an address says to which of its "
                    "ports; write port"
                )
                self._complain(claim.near, message, "port")

    def _complain(self, end: End, message: str, field: str = "") -> None:
        path = ("DEVICE_NEIGHBOR", end.port, *([field] if field else []))
        self._fabric.switches[end.switch].config.complain(self._problems, path, message)


def _of_default(switch: FabricSwitch) -> Iterator[Interface]:
    return (one for one in switch.interfaces.values() if not switch.vrf_of(one.name))
