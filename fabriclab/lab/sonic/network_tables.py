"""Reading ports, addresses, port channels, VLANs and neighbours."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from ipaddress import IPv4Interface

from fabriclab.lab.problems import shown
from fabriclab.lab.sonic.config_db import DeviceNeighbour, Port, PortChannel, Vlan
from fabriclab.lab.sonic.entries import Fields, Tables, parse_address, suggestion

_CABLE = re.compile(r"([0-9]{1,6})m")
_LARGEST_SPEED_MBPS = 1_600_000


def read_ports(tables: Tables) -> dict[str, Port]:
    """Read PORT. Lanes, FEC, autonegotiation and the like are the transceiver's, and mean nothing to a lab."""
    ports = {}
    for entry in tables.entries("PORT"):
        fields = Fields(tables, entry)
        ports[entry.key] = Port(
            name=entry.key,
            speed_mbps=fields.number("speed", 1, _LARGEST_SPEED_MBPS, "Mbit/s"),
            mtu=fields.number("mtu", 68, 9216, "bytes"),
            up=fields.choice("admin_status", ("up", "down")) == "up",
            role=fields.choice("role", ("Ext", "Int", "Inb", "Rec", "Dpc")) or "Ext",
            alias=fields.text("alias") or "",
        )
        if "speed" not in fields:
            fields.complain("speed", "missing; write the port's speed in Mbit/s, such as 100000")
    return ports


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
                fields.complain(name, f"{shown(text or '')}: a length in metres such as 5m is wanted", text or "")
            elif name in ports:
                metres[name], origin[name] = int(match[1]), entry.origin(name)
            else:
                fields.complain(name, f"{shown(name)} is no PORT; {suggestion(name, ports)}", name)
    return metres, origin


def read_addresses(tables: Tables, table: str, names: Collection[str] | None) -> tuple[dict[str, tuple[IPv4Interface, ...]], int]:
    """Read the IPv4 addresses of a table such as INTERFACE, whose keys are `name` and `name|address`; also count the IPv6 ones.

    `names` are the interfaces that there are; None: any.
    """
    addresses: dict[str, tuple[IPv4Interface, ...]] = {}
    others = 0
    for entry in tables.entries(table):
        tables.ask(table, "scope", "family", "NULL")  # what the address says by itself; a placeholder of redis for an entry without fields
        key = entry.key
        name, bar, text = key.partition("|")
        if names is not None and name not in names:
            tables.complain((table, key), f"{shown(name)} is no interface of that kind; {suggestion(name, names)}", name)
        elif bar:
            address = parse_address(text)
            if address is not None and "/" in text:
                addresses[name] = (*addresses.get(name, ()), address)
            elif ":" in text:
                others += 1
            else:
                tables.complain((table, key), f"{shown(text)} is no address; write one with its prefix length, such as 10.0.0.0/31", text)
    return addresses, others


def read_members(tables: Tables, table: str) -> dict[str, tuple[str, ...]]:
    """Read the ports of each PORTCHANNEL or VLAN: keys of VLAN_MEMBER are `Vlan10|Ethernet0`."""
    members: dict[str, tuple[str, ...]] = {}
    for entry in tables.entries(table):
        name, _, port = entry.key.partition("|")
        members[name] = (*members.get(name, ()), port)
    return members


def read_port_channels(tables: Tables, ports: Collection[str]) -> tuple[PortChannel, ...]:
    """Read PORTCHANNEL and PORTCHANNEL_MEMBER."""
    members = _checked_members(tables, "PORTCHANNEL_MEMBER", ports)
    return tuple(PortChannel(entry.key, members.get(entry.key, ())) for entry in tables.entries("PORTCHANNEL"))


def read_vlans(tables: Tables, ports: Collection[str]) -> tuple[Vlan, ...]:
    """Read VLAN and VLAN_MEMBER, whose members may be port channels too."""
    members = _checked_members(tables, "VLAN_MEMBER", [*ports, *tables.keys("PORTCHANNEL")])
    return tuple(Vlan(entry.key, members.get(entry.key, ())) for entry in tables.entries("VLAN"))


def _checked_members(tables: Tables, table: str, valid: Collection[str]) -> dict[str, tuple[str, ...]]:
    groups = table.removesuffix("_MEMBER")
    names = tables.keys(groups)
    members = read_members(tables, table)
    for name, ports in members.items():
        for port in ports:
            if name not in names:
                tables.complain((table, f"{name}|{port}"), f"{shown(name)} is no {groups}; {suggestion(name, names)}", name)
            elif port not in valid:
                tables.complain((table, f"{name}|{port}"), f"{shown(port)} is no PORT; {suggestion(port, valid)}", port)
    return members


def read_device_neighbours(tables: Tables, ports: Mapping[str, Port]) -> dict[str, DeviceNeighbour]:
    """Read DEVICE_NEIGHBOR: by local port, which is the key, or `local_port` where the key is something else."""
    kinds = {entry.key: Fields(tables, entry).text("type") or "" for entry in tables.entries("DEVICE_NEIGHBOR_METADATA")}
    neighbours = {}
    for entry in tables.entries("DEVICE_NEIGHBOR"):
        fields = Fields(tables, entry)
        port = entry.key if entry.key in ports else fields.reference("local_port", "PORT", ports)
        name = fields.text("name") or entry.key
        if port is not None:
            kind = fields.text("type") or kinds.get(name, "")
            neighbours[port] = DeviceNeighbour(port, name, fields.text("port") or "", kind)
    return neighbours
