"""What the files of a fabric say of one thing in two places: the two ends of a link, addresses, BGP sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv6Address
from typing import Literal

from fabriclab.formats.family import Family
from fabriclab.keys.wording import listed
from fabriclab.lab.reading.problems import Problems
from fabriclab.units import format_rate
from fabriclab.vendors.sonic.lab.fabric_links import FabricLink
from fabriclab.vendors.sonic.lab.fabric_switches import End, Fabric, FabricSwitch
from fabriclab.vendors.sonic.read.config_db import BgpNeighbour
from fabriclab.vendors.sonic.read.neighbours import own_asn

FabricRule = Literal["link-speed", "link-mtu", "link-channel", "link-address", "session-as", "session-address"]
"""What `fabriclab sonic check` calls each kind of contradiction."""
_BITS_A_MBIT = 10**6


@dataclass(frozen=True)
class _Address:
    """An address of an interface."""

    switch: FabricSwitch
    interface: str
    value: IPv4Interface

    @property
    def vrf(self) -> str:
        """The VRF of its interface; empty: the default one."""
        return self.switch.vrf_of(self.interface)

    def complain(self, problems: Problems, message: str, other: _Address) -> None:
        """Record what is wrong with it and another one; `{other}` of the message is that one with its place."""
        place = other.switch.address_place(other.interface, other.value)
        said = f"{other.value} of {other.switch.name}:{other.interface} ({place})"
        key = f"{self.interface}|{self.value}"
        here = self.switch.address_place(self.interface, self.value)
        problems.add(here, key, f"{self.value} {message.format(other=said)}", str(self.value))


class FabricChecks:
    """Compares what the files say."""

    def __init__(
        self,
        fabric: Fabric,
        links: Sequence[FabricLink],
        down: Sequence[FabricLink],
        notes: dict[str, None],
        problems: Problems,
        families: tuple[Family, ...] = (4,),
    ) -> None:
        """`families`: of whose routes the sessions are compared. An import does not ask for IPv6: a lab leaves sessions
        over it out that do not come up."""
        self._fabric = fabric
        self._links = links
        self._far = {near: far for link in links for near, far in (link.ends, link.ends[::-1])}
        self._cabled = {near: far for link in (*links, *down) for near, far in (link.ends, link.ends[::-1])}
        self._notes = notes
        self._problems = problems
        self._families = families

    def check(self) -> None:
        """Record all contradictions, and note what is only doubtful."""
        for part in self._parts().values():
            part()

    def by_rule(self) -> Iterator[tuple[FabricRule, Problems]]:
        """Yield the contradictions of each kind by themselves, by the name of their rule."""
        for rule, part in self._parts().items():
            self._problems = Problems()
            part()
            yield rule, self._problems

    def _parts(self) -> dict[FabricRule, Callable[[], None]]:
        return {
            "link-speed": lambda: self._of_links(self._check_speeds),
            "link-mtu": lambda: self._of_links(self._check_mtus),
            "link-channel": lambda: self._of_links(self._check_cables, self._check_channels),
            "link-address": self._check_addresses,
            "session-as": self._check_as_numbers,
            "session-address": self._check_sessions,
        }

    def _of_links(self, *checks: Callable[[FabricLink], None]) -> None:
        for link in self._links:
            for check in checks:
                check(link)

    def _sessions(self) -> Iterator[tuple[FabricSwitch, BgpNeighbour, str, End]]:
        """Yield the sessions over links of the fabric: switch, session, its interface, and the other switch's port."""
        for switch in self._fabric.switches.values():
            for session, interface in self._sessions_of(switch):
                members = [
                    port for port in switch.ports if port == interface or switch.channel_of.get(port) == interface
                ]
                far = next((self._far[end] for port in members if (end := End(switch.name, port)) in self._far), None)
                if far is not None:
                    yield switch, session, interface, far

    def _sessions_of(self, switch: FabricSwitch) -> dict[tuple[BgpNeighbour, str], None]:
        """Return the sessions of a switch that are up, with their interfaces, each once."""
        return dict.fromkeys(pair for family in self._families for pair in switch.sessions_of(family))

    def one_sided(self) -> Iterator[tuple[FabricSwitch, BgpNeighbour, End]]:
        """Yield the sessions that the other switch does not have."""
        for switch, session, _, far in self._sessions():
            other = self._fabric.switches[far.switch]
            family: Family = 6 if isinstance(session.address, IPv6Address) else 4
            ours = other.channel_of.get(far.port, far.port)
            if not any(name == ours for _, name in other.sessions_of(family)):
                yield switch, session, far

    def _check_as_numbers(self) -> None:
        for switch in self._fabric.switches.values():
            self._check_own_as(switch)
        for switch, session, _, far in self._sessions():
            self._check_as(switch, session, self._fabric.switches[far.switch])

    def _check_sessions(self) -> None:
        for switch, session, interface, far in self._sessions():
            self._check_session(switch, session, interface, far)
        for switch, session, far in self.one_sided():
            where = switch.config.place("BGP_NEIGHBOR", session.key)
            self._notes[
                f"{switch.name} has a BGP session ({where}), but {far.switch} has none over {far}: the session never "
                "comes up"
            ] = None

    def _check_own_as(self, switch: FabricSwitch) -> None:
        """A switch with sessions has an AS number."""
        session = next((session for session, _ in switch.sessions()), None)
        if session is not None and switch.config.asn is None:
            message = (
                f"missing, although there are BGP sessions (BGP_NEIGHBOR|{session.key}); write the switch's AS number"
            )
            switch.config.complain(self._problems, own_asn(switch.config), message)

    def _switch_and_port(self, end: End) -> tuple[FabricSwitch, str]:
        return self._fabric.switches[end.switch], end.port

    def _check_speeds(self, link: FabricLink) -> None:
        speeds = [switch.config.ports[port].speed_mbps for switch, port in map(self._switch_and_port, link.ends)]
        if None not in speeds and speeds[0] != speeds[1]:
            ours, theirs = (format_rate((speed or 0) * _BITS_A_MBIT) for speed in speeds)
            self._complain_of_ends(link, "speed", ours, theirs)

    def _check_mtus(self, link: FabricLink) -> None:
        ours, theirs = (switch.mtu(port) for switch, port in map(self._switch_and_port, link.ends))
        if ours != theirs:
            self._complain_of_ends(link, "mtu", str(ours), str(theirs))

    def _complain_of_ends(self, link: FabricLink, field: str, ours: str, theirs: str) -> None:
        place = self._fabric.switches[link.b.switch].config.place("PORT", link.b.port, field)
        message = (
            f"{ours} here, but {theirs} at the other end, {link.b} ({place}; link found by {link.found_by}); write "
            "the same"
        )
        self._fabric.switches[link.a.switch].config.complain(
            self._problems, ("PORT", link.a.port, field), message, ours
        )

    def _check_cables(self, link: FabricLink) -> None:
        metres = [switch.config.cable_metres.get(port) for switch, port in map(self._switch_and_port, link.ends)]
        if metres[0] != metres[1]:
            ours, theirs = (f"{one} m" if one is not None else "nothing" for one in metres)
            self._notes[f"CABLE_LENGTH: {ours} at {link.a}, {theirs} at {link.b}; each direction has its own delay"] = (
                None
            )

    def _check_channels(self, link: FabricLink) -> None:
        """Members of a port channel lead to those of one other port channel."""
        channel, other = (self._channel(end) for end in link.ends)
        if channel is None and other is None:
            return
        if channel is None or other is None:
            member, lone = (link.a, link.b) if other is None else (link.b, link.a)
            place = self._fabric.switches[lone.switch].config.place("PORT", lone.port)
            message = f"leads to {lone} ({place}), which is not a member of a port channel"
            self._complain_of_member(member, message)
            return
        first = next(
            each for each in self._links if self._channel(each.a) == channel or self._channel(each.b) == channel
        )
        expected = self._channel(first.b if self._channel(first.a) == channel else first.a)
        if expected is not None and expected != other:
            message = (
                f"leads to {other[1]} of {other[0]}, but {first.a} leads to {first.b}; all members of a port channel "
                "must lead to the same one"
            )
            self._complain_of_member(link.a, message)

    def _channel(self, end: End) -> tuple[str, str] | None:
        """Return switch and name of the port channel that a port is a member of."""
        name = self._fabric.switches[end.switch].channel_of.get(end.port)
        return None if name is None else (end.switch, name)

    def _complain_of_member(self, end: End, message: str) -> None:
        switch = self._fabric.switches[end.switch]
        key = f"{switch.channel_of[end.port]}|{end.port}"
        switch.config.complain(self._problems, ("PORTCHANNEL_MEMBER", key), message)

    def _addresses(self) -> Iterator[_Address]:
        for switch in self._fabric.switches.values():
            for table in (switch.config.loopbacks, switch.config.addresses):
                for interface, every in table.items():
                    yield from (_Address(switch, interface, address) for address in every)

    def _check_addresses(self) -> None:
        """No address occurs twice, the ends of a link share a network, and no two other networks overlap."""
        owners: dict[tuple[str, IPv4Address], _Address] = {}
        for address in self._addresses():
            other = owners.setdefault((address.vrf, address.value.ip), address)
            if other is not address:
                address.complain(self._problems, "is also {other}; each interface needs its own address", other)
        different = self._check_ends()
        found = sorted(
            owners.values(),
            key=lambda one: (one.vrf, int(one.value.network.network_address), one.value.network.prefixlen),
        )
        widest = None
        for address in found:
            widest = widest if widest is not None and widest.vrf == address.vrf else None
            if widest is not None and self._is_overlap(address, widest) and not different & {address, widest}:
                address.complain(
                    self._problems,
                    "overlaps {other}, but no link joins the two; write networks that do not overlap",
                    widest,
                )
            if widest is None or address.value.network.broadcast_address > widest.value.network.broadcast_address:
                widest = address

    def _check_ends(self) -> set[_Address]:
        """Record the links whose ends are of different networks; return those ends."""
        wrong: set[_Address] = set()
        for link in self._links:
            ours, theirs = (self._fabric.switches[end.switch].interface_of(end.port) for end in link.ends)
            if ours is None or theirs is None or ours.address.network == theirs.address.network:
                continue
            near, far = (_Address(self._fabric.switches[one.switch], one.name, one.address) for one in (ours, theirs))
            if near not in wrong:
                near.complain(
                    self._problems,
                    f"and {{other}} are in different networks, although a link joins them ({link.found_by}); write "
                    "addresses of one network",
                    far,
                )
            wrong |= {near, far}
        return wrong

    def _is_overlap(self, one: _Address, other: _Address) -> bool:
        """Return whether two networks overlap that are not those of one interface, or of the two ends of a link."""
        if not one.value.network.overlaps(other.value.network):
            return False
        if one.vrf and one.switch is not other.switch:
            return False  # a VRF may have a network at several switches; an import notes it
        if one.switch is other.switch:
            return one.interface != other.interface
        return not any(
            self._fabric.switches[far.switch] is other.switch and far.port in self._members(other)
            for port in self._members(one)
            if (far := self._cabled.get(End(one.switch.name, port))) is not None
        )

    def _members(self, address: _Address) -> tuple[str, ...]:
        interface = address.switch.cabled.get(address.interface)
        return () if interface is None else interface.members

    def _check_session(self, switch: FabricSwitch, session: BgpNeighbour, interface: str, far: End) -> None:
        """Compare a session with what stands at the other end of its link."""
        other = self._fabric.switches[far.switch]
        path = ("BGP_NEIGHBOR", session.key)
        if isinstance(session.address, IPv6Address):
            self._check_address6(switch, session, interface, far)
            return
        theirs = other.interface_of(far.port)
        if session.address is not None and (theirs is None or theirs.address.ip != session.address):
            place = (
                other.config.place("PORT", far.port)
                if theirs is None
                else other.address_place(theirs.name, theirs.address)
            )
            said = "no address" if theirs is None else str(theirs.address.ip)
            message = (
                f"{session.address} is the neighbour behind {interface}, but {far} has {said} ({place}); write the same"
            )
            switch.config.complain(self._problems, path, message, str(session.address))

    def _check_address6(self, switch: FabricSwitch, session: BgpNeighbour, interface: str, far: End) -> None:
        other = self._fabric.switches[far.switch]
        theirs = other.channel_of.get(far.port, far.port)
        every = other.addresses_of(6).get(theirs, ())
        if session.address not in [one.ip for one in every]:
            said = listed(f"{one.ip} ({other.address_place(theirs, one)})" for one in every) or "no address of IPv6"
            message = f"{session.address} is the neighbour behind {interface}, but {far} has {said}; write the same"
            switch.config.complain(self._problems, ("BGP_NEIGHBOR", session.key), message, str(session.address))

    def _check_as(self, switch: FabricSwitch, session: BgpNeighbour, other: FabricSwitch) -> None:
        if other.config.asn is None and any(True for _ in other.sessions()):
            return  # told at that switch
        place = other.config.place(*own_asn(other.config))
        if session.asn is not None and session.asn != other.config.asn:
            theirs = "no AS number" if other.config.asn is None else f"AS {other.config.asn}"
            message = f"AS {session.asn}, but {other.name} has {theirs} ({place}); write the same"
            switch.config.complain(self._problems, ("BGP_NEIGHBOR", session.key, "asn"), message, str(session.asn))
        elif session.asn is not None and session.asn == switch.config.asn:
            self._notes[
                f"{switch.name}: its session with {other.name} is internal (AS {session.asn}); a lab supports only "
                "external sessions (RFC 7938)"
            ] = None
