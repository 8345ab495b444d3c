"""Reading ports, addresses, port channels, VLANs and neighbours."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from ipaddress import IPv4Interface, IPv6Interface

from fabriclab.keys.wording import shown
from fabriclab.vendors.sonic.read.config_db import DeviceNeighbour, Port, PortChannel, Vlan
from fabriclab.vendors.sonic.read.entries import (
    Entry,
    Fields,
    FieldValue,
    Tables,
    parse_address,
    parse_address6,
    suggestion,
)

Addresses4 = dict[str, tuple[IPv4Interface, ...]]
Addresses6 = dict[str, tuple[IPv6Interface | None, ...]]
"""By interface; None: what has a colon and is no address with its prefix length."""
_LANE = re.compile(r"[0-9]{1,6}")
_CABLE = re.compile(r"([0-9]{1,6})m")
_LARGEST_SPEED_MBPS = 1_600_000
_LARGEST_MTU = 9216
_LARGEST_VLAN = 4094


def read_ports(tables: Tables) -> dict[str, Port]:
    """Read PORT. FEC, autonegotiation and the like are the transceiver's, and mean nothing to a lab."""
    ports = {}
    for entry in tables.entries("PORT"):
        fields, lanes = Fields(tables, entry), _lanes(entry.fields.get("lanes", ""))
        ports[entry.key] = Port(
            name=entry.key,
            speed_mbps=fields.number("speed", 1, _LARGEST_SPEED_MBPS, "Mbit/s"),
            mtu=fields.number("mtu", 68, _LARGEST_MTU, "bytes"),
            up=fields.choice("admin_status", ("up", "down")) == "up",
            role=fields.choice("role", ("Ext", "Int", "Inb", "Rec", "Dpc")) or "Ext",
            alias=fields.text("alias") or "",
            lanes=len(lanes),
            first_lane=int(lanes[0]) if lanes and _LANE.fullmatch(lanes[0]) else None,
        )
        if "speed" not in fields:
            message = "missing; write the port's speed in Mbit/s, such as 100000"
            tables.complain_once(("PORT", "speed"), entry, "speed", message)
    return ports


def _lanes(said: FieldValue) -> list[str]:
    """Return the lanes of the chip that a port has."""
    words = said.split(",") if isinstance(said, str) else said
    return [word.strip() for word in words if word.strip()]


def read_cables(tables: Tables, ports: Collection[str]) -> tuple[dict[str, int], dict[str, str]]:
    """Read CABLE_LENGTH: metres of each port, and where they are from."""
    metres: dict[str, int] = {}
    origin: dict[str, str] = {}
    for entry in tables.entries("CABLE_LENGTH"):
        fields = Fields(tables, entry)
        for name in entry.fields:
            text = fields.text(name)
            match = _CABLE.fullmatch(text or "")
            if match is None:
                fields.complain(name, f"{shown(text or '')}: must be a length in metres such as 5m", text or "")
            elif name in ports:
                metres[name], origin[name] = int(match[1]), entry.origin(name)
            else:
                fields.complain(name, f"{shown(name)} is not a PORT; {suggestion(name, ports)}", name)
    return metres, origin


def read_addresses(tables: Tables, table: str, names: Collection[str] | None) -> tuple[Addresses4, Addresses6]:
    """Read the addresses of a table such as INTERFACE, whose keys are `name` and `name|address`, those of IPv4 and
    those of IPv6.

    `names` are the interfaces that there are; None: any.
    """
    addresses: Addresses4 = {}
    others: Addresses6 = {}
    for entry in tables.entries(table):
        # What the address says by itself, or its place among others; a placeholder of redis for an entry without
        # fields.
        tables.ask(table, "scope", "family", "secondary", "NULL")
        key = entry.key
        name, bar, text = key.partition("|")
        if names is not None and name not in names:
            tables.complain(
                (table, key), f"{shown(name)} is not an interface of that kind; {suggestion(name, names)}", name
            )
        elif bar:
            # intfmgrd reads over a blank behind the prefix length, and only there (sonic-swss-common, ipprefix.cpp).
            address = parse_address(text.rstrip())
            if address is not None and "/" in text:
                addresses[name] = (*addresses.get(name, ()), address)
            elif ":" in text:
                others[name] = (*others.get(name, ()), *parse_address6(text.rstrip()))
            else:
                tables.complain(
                    (table, key),
                    f"{shown(text)} is not an address; write one with its prefix length, such as 10.0.0.0/31",
                    text,
                )
    return addresses, others


def read_port_channels(tables: Tables, ports: Collection[str]) -> tuple[PortChannel, ...]:
    """Read PORTCHANNEL and PORTCHANNEL_MEMBER."""
    members: dict[str, dict[str, None]] = {}
    owner: dict[str, str] = {}
    for entry, name, port in _members(tables, "PORTCHANNEL_MEMBER", ports):
        other = owner.setdefault(port, name)
        if other == name:
            members.setdefault(name, {})[port] = None
        else:
            tables.complain(
                (entry.table, entry.key),
                f"{shown(port)} is also a member of {other}; a port can be in only one port channel",
                port,
            )
    return tuple(
        _port_channel(Fields(tables, entry), tuple(members.get(entry.key, ())))
        for entry in tables.entries("PORTCHANNEL")
    )


def _port_channel(fields: Fields, members: tuple[str, ...]) -> PortChannel:
    return PortChannel(
        name=fields.entry.key,
        members=members,
        mtu=fields.number("mtu", 1, _LARGEST_MTU, "bytes"),
        up=(fields.choice("admin_status", ("up", "down")) or "up") == "up",
    )


def read_vlans(tables: Tables, ports: Collection[str]) -> tuple[Vlan, ...]:
    """Read VLAN and VLAN_MEMBER, whose members may be port channels too.

    A port is untagged in one VLAN at most (sonic-vlan.yang).
    """
    untagged: dict[str, list[str]] = {}
    tagged: dict[str, list[str]] = {}
    owner = {port: channel for channel, port in (_words(key) for key in tables.keys("PORTCHANNEL_MEMBER"))}
    for entry, name, port in _members(tables, "VLAN_MEMBER", [*ports, *tables.keys("PORTCHANNEL")]):
        mode = Fields(tables, entry).choice("tagging_mode", ("untagged", "tagged", "priority_tagged")) or "untagged"
        if mode != "untagged":
            tagged.setdefault(name, []).append(port)
        elif owner.setdefault(port, name) == name:
            untagged.setdefault(name, []).append(port)
        else:
            message = (
                f"{shown(port)} is also a member of {owner[port]}; a port can be in only one port channel, or "
                "untagged in one VLAN"
            )
            tables.complain((entry.table, entry.key), message, port)
    return tuple(
        _vlan(Fields(tables, entry), tuple(untagged.get(entry.key, ())), tuple(tagged.get(entry.key, ())))
        for entry in tables.entries("VLAN")
    )


def _vlan(fields: Fields, members: tuple[str, ...], tagged: tuple[str, ...]) -> Vlan:
    name = fields.entry.key
    number = fields.number("vlanid", 1, _LARGEST_VLAN)
    if number is not None and name != f"Vlan{number}":
        fields.complain(
            "vlanid", f"{number} is the number of Vlan{number}, but this is {shown(name)}; write the same", str(number)
        )
    return Vlan(name, members, tagged, up=(fields.choice("admin_status", ("up", "down")) or "up") == "up")


def _words(key: str) -> tuple[str, str]:
    """Return group and member of a key such as `Vlan10|Ethernet0`."""
    name, _, port = key.partition("|")
    return name, port


def _members(tables: Tables, table: str, valid: Collection[str]) -> Iterator[tuple[Entry, str, str]]:
    """Yield the entries of a table of members whose words are known, each with its group and its member."""
    groups = table.removesuffix("_MEMBER")
    names = tables.keys(groups)
    for entry in tables.entries(table):
        name, port = _words(entry.key)
        if name not in names:
            tables.complain((table, entry.key), f"{shown(name)} is not a {groups}; {suggestion(name, names)}", name)
        elif port not in valid:
            tables.complain((table, entry.key), f"{shown(port)} is not a PORT; {suggestion(port, valid)}", port)
        else:
            yield entry, name, port


def read_device_neighbours(tables: Tables, ports: Mapping[str, Port]) -> dict[str, DeviceNeighbour]:
    """Read DEVICE_NEIGHBOR: by local port, which is the key, or `local_port` where the key is something else."""
    kinds = {
        entry.key: Fields(tables, entry).text("type") or "" for entry in tables.entries("DEVICE_NEIGHBOR_METADATA")
    }
    neighbours = {}
    for entry in tables.entries("DEVICE_NEIGHBOR"):
        fields = Fields(tables, entry)
        port = entry.key if entry.key in ports else fields.reference("local_port", "PORT", ports)
        name = fields.text("name") or entry.key
        if port is not None:
            kind = fields.text("type") or kinds.get(name, "")
            neighbours[port] = DeviceNeighbour(port, name, fields.text("port") or "", kind)
    return neighbours
