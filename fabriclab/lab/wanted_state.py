"""What is wanted of routing daemons, `validation.sessions` and `validation.routes`: of labs whose nodes' own files give
them addresses and routes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_interface
from typing import TypeVar

from fabriclab.keys.wording import did_you_mean, listed, shown
from fabriclab.lab import validation_keys as keys
from fabriclab.lab.reading.section import Section, value_of

T = TypeVar("T")
ABSENT = "absent"
LARGEST_NUMBER = 2**32 - 1
_OF_TABLE: Mapping[str, tuple[keys.RouteTable, ...]] = {
    "vrf": ("bgp", "ospf", "ospf6", "isis", "rib"),
    "level": ("isis",),
    "protocol": ("rib",),
    "cost": ("ospf", "ospf6", "isis", "rib"),
    "type": ("ospf", "ospf6"),
    "next_hop": ("bgp",),
    "as_path": ("bgp",),
    "as_numbers": ("bgp",),
    "local_preference": ("bgp",),
    "med": ("bgp",),
    "best": ("bgp",),
    "peer": ("bgp",),
    "cluster": ("bgp",),
    "community": ("bgp",),
    "large_community": ("bgp",),
    "extended_community": ("bgp",),
}
"""By key of a route: the tables that have it; the other keys belong to all tables."""
_OF_PROTOCOL: Mapping[str, tuple[keys.SessionProtocol, ...]] = {
    "family": ("bgp",),
    "negotiated": ("bgp",),
    "vrf": ("bgp", "ospf", "ospf6"),
    "level": ("isis",),
    "area": ("isis",),
}
_DIGITS = re.compile("[0-9]{1,10}")


@dataclass(frozen=True)
class WrittenSession:
    """How a session of some nodes should be."""

    name: str
    nodes: tuple[str, ...]
    protocol: keys.SessionProtocol
    neighbor: str
    """As the daemon calls it: an address or interface of BGP's, a router ID of OSPF's, a host name of IS-IS'."""
    states: tuple[str, ...] = ()
    """As the daemon calls them, or `absent`; nothing: up."""
    family: str | None = None
    vrf: str | None = None
    level: str | None = None
    area: str | None = None
    negotiated: bool = False
    """Whether a session over which its family is not exchanged counts as absent."""
    severity: keys.Severity = "error"


@dataclass(frozen=True)
class WrittenRoute:
    """Whether a table of some nodes should have a route."""

    name: str
    nodes: tuple[str, ...]
    table: keys.RouteTable
    prefix: str
    present: bool = True
    attributes: Mapping[str, str | int | bool | tuple[int, ...]] = field(default_factory=dict)
    """By key: what one of its paths has, all of it."""
    severity: keys.Severity = "error"

    @property
    def family(self) -> int:
        """4 or 6."""
        return ip_interface(self.prefix).version


def read_sessions(section: Section, nodes: Sequence[str]) -> Iterator[WrittenSession]:
    """Yield the sessions of a `validation` section of a lab with these nodes; what is wrong is recorded."""
    below = section.section("sessions", None)
    for name in below.names() if below is not None else ():
        one = None if below is None else below.section(name, keys.SESSION)
        if one is None:
            continue
        one.require("on", "protocol", "neighbor")
        protocol = one.value("protocol", keys.SESSION_PROTOCOL)
        neighbor, states = one.scalar("neighbor", "an address, an interface, a router ID or a name"), one.words("state")
        family, level = one.read(keys.SESSION.by_name["family"]), one.read(keys.SESSION.by_name["level"])
        vrf, area = one.scalar("vrf", "a VRF's name"), one.scalar("area", "an IS-IS area")
        negotiated, where = one.read(keys.SESSION.by_name["negotiated"]), read_nodes(one, nodes)
        if protocol is None or neighbor is None:
            continue
        for key, protocols in _OF_PROTOCOL.items():
            if key in one and protocol.value not in protocols:
                one.complain(key, f"a session of {protocol.value} has none; only {listed(protocols)}")
        yield WrittenSession(
            name,
            where,
            protocol.value,
            _canonical(neighbor.value),
            states=tuple(state.value for state in states or ()),
            family=value_of(family),
            vrf=value_of(vrf),
            level=value_of(level),
            area=value_of(area),
            negotiated=negotiated is not None and negotiated.value,
            severity=keys.SEVERITY.or_default(one.read(keys.SEVERITY)),
        )


def read_routes(section: Section, nodes: Sequence[str]) -> Iterator[WrittenRoute]:
    """Yield the routes of a `validation` section of a lab with these nodes; what is wrong is recorded."""
    below = section.section("routes", None)
    for name in below.names() if below is not None else ():
        one = None if below is None else below.section(name, keys.ROUTE)
        if one is None:
            continue
        one.require("on", "table", "prefix")
        table = one.value("table", keys.ROUTE_TABLE)
        prefix = one.convert("prefix", "a prefix such as 10.1.0.0/24", _prefix)
        present, where, attributes = one.read(keys.ROUTE.by_name["present"]), read_nodes(one, nodes), _attributes(one)
        if table is None or prefix is None:
            continue
        for key, tables in _OF_TABLE.items():
            if key in one and table.value not in tables:
                one.complain(key, f"routes of table {table.value} have none; only of {listed(tables)}")
        if table.value in ("ospf", "ospf6") and (ip_interface(prefix.value).version == 6) != (table.value == "ospf6"):
            prefix.complain(section.problems, f"table {table.value} has no such prefixes; table ospf6 has IPv6's")
        severity = keys.SEVERITY.or_default(one.read(keys.SEVERITY))
        is_there = present is None or present.value
        yield WrittenRoute(name, where, table.value, prefix.value, is_there, attributes, severity)


def _attributes(one: Section) -> dict[str, str | int | bool | tuple[int, ...]]:
    written = {key: _attribute(one, key) for key in _OF_TABLE if key in one}
    return {key: value for key, value in written.items() if value is not None}


def _attribute(one: Section, key: str) -> str | int | bool | tuple[int, ...] | None:
    if key == "as_numbers":
        words = one.words(key) or []
        for word in words:
            if not _is_as_number(word.value):
                word.complain(one.problems, f"{shown(word.value)} is not an AS number; write one such as 65001")
        return tuple(int(word.value) for word in words if _is_as_number(word.value))
    found: str | int | bool | None = value_of(one.read(keys.ROUTE.by_name[key]))
    return found


def _is_as_number(text: str) -> bool:
    return _DIGITS.fullmatch(text) is not None and int(text) <= LARGEST_NUMBER


def read_nodes(one: Section, nodes: Sequence[str]) -> tuple[str, ...]:
    """Return the nodes of a section's key `on`, of a lab with these; what is wrong is recorded."""
    found = (one.words("on") if "on" in one else None) or []
    for word in found:
        if word.value not in nodes:
            word.complain(one.problems, f"{shown(word.value)} is not a node; {did_you_mean(word.value, nodes)}")
    return tuple(word.value for word in found)


def _canonical(neighbor: str) -> str:
    """Return an address as daemons write it; any other neighbour as it is."""
    try:
        return str(ip_address(neighbor))
    except ValueError:
        return neighbor


def _prefix(text: str) -> str:
    try:
        return str(ip_interface(text).network)
    except ValueError:
        raise ValueError(f"{shown(text)} is not a prefix; write one such as 10.1.0.0/24 or 2001:db8::/64") from None
