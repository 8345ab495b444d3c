"""The VLANs and port channels of a switch as far as its lab has them: groups of ports in the lab,
each with one address."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface

from fabriclab.vendors.common.sourced_values import joined
from fabriclab.vendors.sonic.read.config_db import ConfigDb, PortChannel, Vlan


@dataclass(frozen=True)
class PortGroup:
    """A VLAN or a port channel with its members in the lab."""

    name: str
    members: tuple[str, ...]
    """Ports; of a VLAN, port channels too."""
    address: IPv4Interface | None = None
    """The first of the file; None: it has none, or is a VLAN's member."""
    ipv6: IPv6Interface | None = None
    """The same of IPv6."""


@dataclass(frozen=True)
class PortGroups:
    """The VLANs and port channels of one switch, as its lab has them."""

    channels: tuple[PortGroup, ...] = ()
    vlans: tuple[PortGroup, ...] = ()

    def interface_of(self, port: str) -> str:
        """Return the port channel that a port is a member of, else the port: a neighbour is behind it,
        and a session goes over it."""
        return next((channel.name for channel in self.channels if port in channel.members), port)

    def vlan_of(self, interface: str) -> PortGroup | None:
        """Return the VLAN that a port or port channel is a member of."""
        return next((vlan for vlan in self.vlans if interface in vlan.members), None)


def port_groups(config: ConfigDb, ports: Collection[str], notes: dict[str, None]) -> PortGroups:
    """Return the groups of `ports`, those in the lab.

    Groups without one of them are left out; what they lose is noted.
    """
    channels = [channel for channel in config.port_channels if channel.up]
    present = [
        (channel.name, kept)
        for channel in channels
        if (kept := tuple(port for port in channel.members if port in ports))
    ]
    names = {name for name, _ in present}
    vlans = []
    for vlan in config.vlans:
        kept = tuple(member for member in vlan.members if member in ports or member in names)
        _note_tagged(vlan, {*ports, *names}, notes)
        if kept and vlan.up:
            vlans.append(
                PortGroup(vlan.name, kept, first_address(config, vlan.name, notes), first_ipv6(config, vlan.name))
            )
    _note_absent(config.port_channels, names, notes)
    _note_absent(config.vlans, {vlan.name for vlan in vlans}, notes)
    in_vlans = {member for vlan in vlans for member in vlan.members}
    return PortGroups(
        channels=tuple(
            PortGroup(name, kept)
            if name in in_vlans
            else PortGroup(name, kept, first_address(config, name, notes), first_ipv6(config, name))
            for name, kept in present
        ),
        vlans=tuple(vlans),
    )


def first_address(config: ConfigDb, interface: str, notes: dict[str, None]) -> IPv4Interface | None:
    """Return the address that an interface has in a lab."""
    every = config.addresses.get(interface, ())
    if len(every) > 1:
        notes[f"{interface}: {len(every)} addresses; in the lab it has only the first one, {every[0]}"] = None
    return every[0] if every else None


def first_ipv6(config: ConfigDb, interface: str) -> IPv6Interface | None:
    """Return the address that an interface has in a lab of IPv6: the first one of more than a link."""
    return next((one for one in config.addresses6.get(interface, ()) if not one.is_link_local), None)


def _note_tagged(vlan: Vlan, there: Collection[str], notes: dict[str, None]) -> None:
    tagged = tuple(member for member in vlan.tagged if member in there)
    if tagged:
        notes[
            f"{vlan.name}: the tagged members {joined(tagged)} were left out, because frames in a lab have no tag"
        ] = None


def _note_absent(groups: Iterable[Vlan | PortChannel], present: Collection[str], notes: dict[str, None]) -> None:
    absent = tuple(group.name for group in groups if group.name not in present)
    if absent:
        notes[f"{joined(absent)}: down, or without a port in the lab; left out"] = None
