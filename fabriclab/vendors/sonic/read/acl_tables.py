"""Reading ACL_TABLE and ACL_RULE: what of them filters packets of ports in a lab, and why the rest does not.

Fields as SONiC's aclorch has them (sonic-swss, orchagent/aclorch.cpp). A table acts as a whole or not at all: without
one of its rules it would let pass what the switch drops, or the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network

from fabriclab.constraints import Within
from fabriclab.formats import ranges
from fabriclab.formats.plan.filters import FrameKind, PacketRule, Stage
from fabriclab.keys.wording import shown
from fabriclab.vendors.sonic.read.entries import SEPARATOR, Entry, FieldValue, Tables, printable

TABLES = ("ACL_TABLE", "ACL_RULE")
MOST_RULES = 10_000
"""Of a switch: more than a chip holds, and few enough for a kernel that asks them one by one."""
COPYING = frozenset({"MIRROR", "MIRRORV6", "MIRROR_DSCP", "CTRLPLANE"})
"""Types of tables that copy packets, or that guard the switch's own CPU."""
_PASSING = frozenset({"FORWARD", "ACCEPT"})
_MIRRORING = ("MIRROR_ACTION", "MIRROR_INGRESS_ACTION", "MIRROR_EGRESS_ACTION")
_IP_TYPES: Mapping[str, FrameKind] = {
    "ANY": "all",
    "IPV4": "ip",
    "IPV4ANY": "ip",
    "IPV6": "ipv6",
    "IPV6ANY": "ipv6",
    "ARP": "arp",
}
_ADDRESSES = {"SRC_IP": 4, "DST_IP": 4, "SRC_IPV6": 6, "DST_IPV6": 6}
_ACTING = frozenset(
    {
        *("PRIORITY", "PACKET_ACTION", "IP_TYPE", "ETHER_TYPE", "IP_PROTOCOL", "NEXT_HEADER", "DSCP", "TCP_FLAGS"),
        *("L4_SRC_PORT", "L4_DST_PORT", "L4_SRC_PORT_RANGE", "L4_DST_PORT_RANGE", "NULL"),
        *("ICMP_TYPE", "ICMP_CODE", "ICMPV6_TYPE", "ICMPV6_CODE"),
        *_ADDRESSES,
        *_MIRRORING,
    }
)
_OF_TABLE = ("ACL_TABLE_NAME", "policy_desc", "type", "stage", "ports", "services", "NULL")
_FLAGS = re.compile(r"(0[xX][0-9a-fA-F]{1,2})(?:/(0[xX][0-9a-fA-F]{1,2}))?")
_RANGE = re.compile(r"([0-9]{1,5})-([0-9]{1,5})")
_NUMBER = re.compile(r"[0-9]{1,6}|0[xX][0-9a-fA-F]{1,6}")
_PRIORITIES = Within(0, 999_999)
_ALL_FLAGS = 0x3F


@dataclass(frozen=True)
class AclTable:
    """A table that filters packets."""

    name: str
    stage: Stage
    ports: tuple[str, ...]
    """Ports, port channels and VLANs."""
    rules: tuple[PacketRule, ...]


@dataclass
class SwitchAcls:
    """The tables of a switch that act in a lab."""

    tables: list[AclTable] = field(default_factory=list)
    why_not: dict[str, str] = field(default_factory=dict)
    """Why a table that is bound to ports does not act, by its name."""


class _NotExpressibleError(Exception):
    """A lab cannot have a rule; why."""


def read_acls(tables: Tables) -> SwitchAcls:
    """Return the tables of a file that are bound to ports and filter packets."""
    tables.ask("ACL_TABLE", *_OF_TABLE)
    if max(map(tables.count, TABLES)) > MOST_RULES:
        why = f"the file has more than {MOST_RULES} rules or tables"
        return SwitchAcls(why_not=dict.fromkeys(tables.keys("ACL_TABLE"), why))
    rules: dict[str, list[Entry]] = {}
    for entry in tables.entries("ACL_RULE"):
        tables.ask("ACL_RULE", *entry.fields)
        rules.setdefault(entry.key.partition(SEPARATOR)[0], []).append(entry)
    found = SwitchAcls()
    for table in tables.entries("ACL_TABLE"):
        ports = _words(table.fields.get("ports"))
        if not ports or not rules.get(table.key) or _text(table.fields.get("type")).upper() in COPYING:
            continue
        try:
            found.tables.append(AclTable(printable(table.key), _stage(table), ports, tuple(_rules(rules[table.key]))))
        except _NotExpressibleError as error:
            found.why_not[table.key] = str(error)
    return found


def _stage(table: Entry) -> Stage:
    said = _text(table.fields.get("stage")).lower() or "ingress"
    if said == "ingress":
        return "ingress"
    if said == "egress":
        return "egress"
    raise _NotExpressibleError(f"{table.origin('stage')}: {shown(said)} is neither ingress nor egress")


def _rules(entries: list[Entry]) -> Iterator[PacketRule]:
    """Yield the rules as they are asked: the highest priority first."""
    ranked = [(_required(entry, "PRIORITY", _PRIORITIES), entry) for entry in entries]
    for _, entry in sorted(ranked, key=lambda one: -one[0]):
        if (drops := _drops(entry)) is not None:
            yield _rule(entry, drops)


def _drops(entry: Entry) -> bool | None:
    """Return whether a rule drops what it matches; None: it does nothing. What is only mirrored is forwarded."""
    action = _text(entry.fields.get("PACKET_ACTION")).upper()
    if action == "DROP":
        return True
    others = [name for name in entry.fields if name.endswith("_ACTION") and name not in (*_MIRRORING, "PACKET_ACTION")]
    if others or (action and action not in _PASSING):
        raise _NotExpressibleError(
            f"{entry.origin(others[0] if others else 'PACKET_ACTION')}: a lab's filters drop or forward"
        )
    return False if action or any(name in entry.fields for name in _MIRRORING) else None


def _rule(entry: Entry, drops: bool) -> PacketRule:
    for name in entry.fields:
        if name not in _ACTING:
            raise _NotExpressibleError(f"{entry.origin(name)}: a lab's filters do not look at it")
    icmp = _icmp(entry)
    return PacketRule(
        name=printable(entry.key.partition(SEPARATOR)[2]),
        drops=drops,
        frames=_frames(entry),
        source=_address(entry, "SRC_IP", "SRC_IPV6"),
        destination=_address(entry, "DST_IP", "DST_IPV6"),
        protocol=_first(entry, ("IP_PROTOCOL", "NEXT_HEADER"), ranges.UINT8),
        source_ports=_ports(entry, "L4_SRC_PORT"),
        destination_ports=_ports(entry, "L4_DST_PORT"),
        dscp=_optional(entry, "DSCP", ranges.DSCP),
        tcp_flags=_flags(entry),
        icmp_type=icmp[0],
        icmp_code=icmp[1],
    )


def _icmp(entry: Entry) -> tuple[int | None, int | None]:
    kind = _first(entry, ("ICMP_TYPE", "ICMPV6_TYPE"), ranges.UINT8)
    code = _first(entry, ("ICMP_CODE", "ICMPV6_CODE"), ranges.UINT8)
    if code is not None and kind is None:
        raise _NotExpressibleError(f"ACL_RULE|{entry.key}: a code of ICMP without its type")
    return kind, code


def _frames(entry: Entry) -> FrameKind | int:
    """Return the kind of frames that a rule is about: by its EtherType, its type of IP, or its addresses."""
    families = {family for name, family in _ADDRESSES.items() if name in entry.fields}
    families |= {6} if {"NEXT_HEADER", "ICMPV6_TYPE"} & entry.fields.keys() else set()
    said: set[FrameKind | int] = {_kind_of_type(entry), _kind_of_ether_type(entry)}
    said |= {"ip"} if 4 in families else set()
    said |= {"ipv6"} if 6 in families else set()
    said -= {"all"}
    if len(said) > 1:
        raise _NotExpressibleError(f"ACL_RULE|{entry.key}: IPv4 and IPv6, or another EtherType, at once")
    return next(iter(said), "all")


def _kind_of_type(entry: Entry) -> FrameKind | int:
    text = _text(entry.fields.get("IP_TYPE")).upper() or "ANY"
    if text not in _IP_TYPES:
        raise _NotExpressibleError(f"{entry.origin('IP_TYPE')}: a lab's filters do not know {shown(text)}")
    return _IP_TYPES[text]


def _kind_of_ether_type(entry: Entry) -> FrameKind | int:
    number = _optional(entry, "ETHER_TYPE", ranges.ETHER_TYPE)
    kinds: dict[int, FrameKind] = {0x0800: "ip", 0x86DD: "ipv6", 0x0806: "arp"}
    return "all" if number is None else kinds.get(number, number)


def _address(entry: Entry, *names: str) -> str | None:
    for name in names:
        text = _text(entry.fields.get(name))
        if text:
            try:
                network = ip_network(text, strict=False)
            except ValueError:
                network = None
            if network is None or network.version != _ADDRESSES[name]:
                raise _NotExpressibleError(
                    f"{entry.origin(name)}: {shown(text)} is not a network of IPv{_ADDRESSES[name]}"
                )
            return str(network)
    return None


def _ports(entry: Entry, name: str) -> tuple[int, int] | None:
    one = _optional(entry, name, ranges.UINT16)
    text = _text(entry.fields.get(f"{name}_RANGE"))
    if not text:
        return None if one is None else (one, one)
    match = _RANGE.fullmatch(text)
    if match is None or not int(match[1]) <= int(match[2]) <= ranges.UINT16.most:
        raise _NotExpressibleError(f"{entry.origin(f'{name}_RANGE')}: {shown(text)} is not a range such as 1000-2000")
    return int(match[1]), int(match[2])


def _flags(entry: Entry) -> tuple[int, int] | None:
    text = _text(entry.fields.get("TCP_FLAGS"))
    if not text:
        return None
    match = _FLAGS.fullmatch(text)
    if match is None:
        raise _NotExpressibleError(
            f"{entry.origin('TCP_FLAGS')}: {shown(text)} is not flags and a mask such as 0x02/0x02"
        )
    return int(match[1], 16), _ALL_FLAGS if match[2] is None else int(match[2], 16)


def _first(entry: Entry, names: tuple[str, ...], within: Within) -> int | None:
    found = [value for name in names if (value := _optional(entry, name, within)) is not None]
    return found[0] if found else None


def _optional(entry: Entry, name: str, within: Within) -> int | None:
    return _required(entry, name, within) if _text(entry.fields.get(name)) else None


def _required(entry: Entry, name: str, within: Within) -> int:
    text = _text(entry.fields.get(name))
    number = int(text, 0 if "x" in text.lower() else 10) if _NUMBER.fullmatch(text) else -1
    if not within.least <= number <= within.most:
        raise _NotExpressibleError(
            f"{entry.origin(name)}: {shown(text)} is not a number from {within.least} to {within.most}"
        )
    return number


def _words(value: FieldValue | None) -> tuple[str, ...]:
    words = () if value is None else value.split(",") if isinstance(value, str) else value
    return tuple(word.strip() for word in words if word.strip())


def _text(value: FieldValue | None) -> str:
    return (value[0] if len(value) == 1 else "") if isinstance(value, tuple) else (value or "").strip()
