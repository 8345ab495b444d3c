"""Packet filters as ACL_TABLE and ACL_RULE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabriclab.formats.plan.filters import FilterTable, PacketRule
from fabriclab.formats.plan.node import Node
from fabriclab.vendors.sonic.export.tables import FieldValue, Tables

_FRAMES = {"ip": "IPV4ANY", "ipv6": "IPV6ANY", "arp": "ARP"}
_TYPES = {(True, False): "L3", (False, True): "L3V6"}


def write_acls(node: Node, names: Mapping[str, str], tables: Tables) -> None:
    """Write the filters of a node. `names` are SONiC's for the node's interfaces."""
    for table in node.filters:
        fields: dict[str, FieldValue] = {
            "type": _type(table),
            "stage": table.stage,
            "ports": [names.get(port, port) for port in table.ports],
        }
        tables.put("ACL_TABLE", table.name, fields)
        for number, rule in enumerate(table.rules):
            priority = {"PRIORITY": str(len(table.rules) - number)}
            tables.put("ACL_RULE", f"{table.name}|{rule.name}", {**priority, **dict(_fields(rule))})


def _type(table: FilterTable) -> str:
    is_v6 = {_is_v6(rule) for rule in table.rules}
    return _TYPES.get((is_v6 == {False}, is_v6 == {True}), "L3V4V6")


def _is_v6(rule: PacketRule) -> bool:
    return rule.frames == "ipv6"


def _fields(rule: PacketRule) -> Iterator[tuple[str, str]]:
    v6 = _is_v6(rule)
    said = {
        "PACKET_ACTION": "DROP" if rule.drops else "FORWARD",
        "IP_TYPE": _FRAMES.get(rule.frames) if isinstance(rule.frames, str) else None,
        "ETHER_TYPE": f"{rule.frames:#06x}" if isinstance(rule.frames, int) else None,
        "SRC_IPV6" if v6 else "SRC_IP": rule.source,
        "DST_IPV6" if v6 else "DST_IP": rule.destination,
        "NEXT_HEADER" if v6 else "IP_PROTOCOL": _text(rule.protocol),
        "DSCP": _text(rule.dscp),
        "TCP_FLAGS": None if rule.tcp_flags is None else "/".join(f"{one:#04x}" for one in rule.tcp_flags),
        "ICMPV6_TYPE" if v6 else "ICMP_TYPE": _text(rule.icmp_type),
        "ICMPV6_CODE" if v6 else "ICMP_CODE": _text(rule.icmp_code),
        **_ports("L4_SRC_PORT", rule.source_ports),
        **_ports("L4_DST_PORT", rule.destination_ports),
    }
    yield from ((name, value) for name, value in said.items() if value is not None)


def _ports(name: str, bounds: tuple[int, int] | None) -> dict[str, str | None]:
    if bounds is None:
        return {}
    first, last = bounds
    return {name: str(first)} if first == last else {f"{name}_RANGE": f"{first}-{last}"}


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)
