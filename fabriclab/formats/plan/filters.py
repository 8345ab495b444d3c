"""Packet filters of a switch's own configuration: tables that are bound to ports, each with rules that drop or forward
(SONiC's ACL_TABLE and ACL_RULE).

Each table that a port has is asked. In each the first rule that matches decides; what none matches passes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fabriclab.constraints import Record
from fabriclab.formats import names, ranges
from fabriclab.formats.names import InterfaceName

Stage = Literal["ingress", "egress"]
FrameKind = Literal["all", "ip", "ipv6", "arp"]
Bounds = tuple[Annotated[int, ranges.UINT16], Annotated[int, ranges.UINT16]]
"""The first and the last of the numbers that match; of flags, those that must be set and those that are looked at."""


@dataclass(frozen=True, kw_only=True)
class PacketRule(Record):
    """A rule: all that it says must hold."""

    name: Annotated[str, names.LINE]
    drops: bool
    frames: FrameKind | Annotated[int, ranges.ETHER_TYPE] = "all"
    """Frames of a kind, or of an EtherType."""
    source: Annotated[str, names.DESTINATION] | None = None
    destination: Annotated[str, names.DESTINATION] | None = None
    protocol: Annotated[int, ranges.UINT8] | None = None
    """Of IP: 6 is TCP."""
    source_ports: Bounds | None = None
    destination_ports: Bounds | None = None
    """Of TCP and UDP, where no protocol is said."""
    dscp: Annotated[int, ranges.DSCP] | None = None
    tcp_flags: Bounds | None = None
    icmp_type: Annotated[int, ranges.UINT8] | None = None
    icmp_code: Annotated[int, ranges.UINT8] | None = None


@dataclass(frozen=True, kw_only=True)
class FilterTable(Record):
    """A table, bound to ports of a switch in one direction."""

    name: Annotated[str, names.LINE]
    stage: Stage
    """ingress: of frames that come by the ports; egress: of those that leave by them."""
    ports: tuple[InterfaceName, ...]
    rules: tuple[PacketRule, ...]
    """In the order in which they are asked."""


def filter_cookie(table: int, rule: int) -> str:
    """Return what the kernel keeps with the action of a rule, by the rule's place in its node's filters: who reads the
    kernel's counters knows it by that."""
    return f"{table:04x}{rule:08x}"
