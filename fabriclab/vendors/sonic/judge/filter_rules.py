"""Rules of ACLs: a rule that no packet gets to, because another one comes before it."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network

from fabriclab.formats.plan.filters import PacketRule
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding

_MOST_BROAD = 400
"""The rules of a table that are of any packet, with which those behind them are compared: a table has few."""


def shadowed(bindings: Bindings) -> Iterator[SonicFinding]:
    """Each rule of an ACL gets packets: none with a higher priority and the opposite action takes them all."""
    for table in bindings.config.acls:
        broad: list[PacketRule] = []
        for rule in table.rules:
            before = next((one for one in broad if one.drops != rule.drops and _contains(one, rule)), None)
            if before is not None:
                priority = bindings.config.place("ACL_RULE", f"{table.name}|{before.name}")
                bound = f"never asked: {before.name} has a higher priority and takes all of its packets ({priority})"
                drops = "packets that are to be dropped pass" if rule.drops else "packets that are to pass are dropped"
                path = ("ACL_RULE", f"{table.name}|{rule.name}")
                yield finding("acl-rule-shadowed", path, None, bound, drops, "exchange the priorities, or remove it")
            if is_of_any_packet(rule) and len(broad) < _MOST_BROAD:
                broad.append(rule)


def is_of_any_packet(rule: PacketRule) -> bool:
    """Return whether a rule looks at nothing but addresses."""
    said = (rule.protocol, rule.source_ports, rule.destination_ports, rule.dscp, rule.tcp_flags, rule.icmp_type)
    return all(one is None for one in said)


def _contains(broad: PacketRule, rule: PacketRule) -> bool:
    """Return whether a rule of any packet matches all that another one does."""
    if broad.frames not in ("all", rule.frames):
        return False
    return all(
        wide is None or (narrow is not None and _is_within(narrow, wide))
        for wide, narrow in ((broad.source, rule.source), (broad.destination, rule.destination))
    )


def _is_within(narrow: str, wide: str) -> bool:
    one, other = ip_network(narrow), ip_network(wide)
    if isinstance(one, IPv4Network) and isinstance(other, IPv4Network):
        return one.subnet_of(other)
    return isinstance(one, IPv6Network) and isinstance(other, IPv6Network) and one.subnet_of(other)
