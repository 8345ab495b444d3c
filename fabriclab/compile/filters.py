"""A switch's packet filters as classifiers of tc (tc-flower(8), tc-matchall(8)): before a frame that comes is looked at
(ingress), and before one that leaves is queued (egress).

Ports with the same tables share a block of classifiers. Each table is a chain: a rule that forwards goes on to the next
one. What a switch sends by itself passes at egress, as in hardware, where it does not go through the pipeline; pauses
are the port's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_interface

from fabriclab.formats.plan.filters import FilterTable, PacketRule, Stage, filter_cookie
from fabriclab.formats.plan.node import Node
from fabriclab.resolve.interfaces import families_of, interfaces

_STAGES: tuple[Stage, ...] = ("ingress", "egress")
_PAUSES = "0x8808"
_TCP, _UDP, _ICMP, _ICMPV6 = 6, 17, 1, 58
_NAMES = {_TCP: "tcp", _UDP: "udp", _ICMP: "icmp", _ICMPV6: "icmpv6"}
_KINDS = {"all": "all", "ip": "ip", "ipv6": "ipv6", "arp": "arp"}
_LINK_LOCAL = "fe80::/10"

_Tables = tuple[FilterTable, ...]


def compile_filters(node: Node) -> Iterator[str]:
    """Yield the `tc -batch` lines of a node's filters; none where it has none."""
    if not node.filters:
        return
    blocks: dict[tuple[Stage, _Tables], int] = {}
    for port in node.ports:
        words = []
        for stage in _STAGES:
            tables = tuple(one for one in node.filters if one.stage == stage and port.interface in one.ports)
            if tables:
                words.append(f"{stage}_block {blocks.setdefault((stage, tables), len(blocks) + 1)}")
        if words:
            yield f"qdisc add dev {port.interface} {' '.join(words)} clsact"
    for (stage, tables), number in blocks.items():
        for line in _block(node, stage, tables):
            yield f"filter add block {number} {line}"


def _block(node: Node, stage: Stage, tables: _Tables) -> Iterator[str]:
    """Yield the classifiers of a block, each with a number of its own: they are asked in this order."""
    first = list(_own(node)) if stage == "egress" else [f"protocol {_PAUSES} matchall action pass"]
    for chain, table in enumerate(tables):
        is_last = chain == len(tables) - 1
        passes = "action pass" if is_last else f"action goto chain {chain + 1}"
        position = node.filters.index(table)
        rules = (line for number, rule in enumerate(table.rules) for line in _rule(rule, passes, (position, number)))
        every = [*(first if chain == 0 else []), *rules]
        every += [] if is_last else [f"protocol all matchall {passes}"]
        for number, line in enumerate(every, 1):
            protocol, kind, rest = _split(line)
            yield f"chain {chain} {protocol} pref {number} {kind}{rest}"


def _split(line: str) -> tuple[str, str, str]:
    """Return the protocol, the kind of classifier and what it is told."""
    _, protocol, kind, *rest = line.split()
    return f"protocol {protocol}", kind, "".join(f" {word}" for word in rest)


def _own(node: Node) -> Iterator[str]:
    """Yield what lets pass the frames that the switch itself sends: by its addresses."""
    yield "protocol arp matchall action pass"
    yield f"protocol ipv6 flower src_ip {_LINK_LOCAL} action pass"
    every = [interface for family in families_of(node) for interface in interfaces(node, family)]
    own = [ip_interface(interface.address).ip for interface in every if interface.address]
    loopbacks = [address for address in (node.loopback, node.loopback6) if address is not None]
    for address in dict.fromkeys([*map(str, own), *loopbacks]):
        yield f"protocol {'ipv6' if ':' in address else 'ip'} flower src_ip {address} action pass"


def _rule(rule: PacketRule, passes: str, cookie: tuple[int, int]) -> Iterator[str]:
    action = f"action drop cookie {filter_cookie(*cookie)}" if rule.drops else passes
    kinds = [_KINDS[rule.frames] if isinstance(rule.frames, str) else f"{rule.frames:#06x}"]
    if kinds == ["all"] and _of_ip(rule):
        kinds = [family for family in ("ip", "ipv6") if _fits(rule, family)]
    for kind in kinds:
        for protocol in _protocols(rule):
            words = list(_matches(rule, kind, protocol))
            yield f"protocol {kind} {'flower ' + ' '.join(words) if words else 'matchall'} {action}"


def _of_ip(rule: PacketRule) -> bool:
    """Return whether a rule looks at anything of IP."""
    said: Sequence[object] = (
        *(rule.source, rule.destination, rule.protocol, rule.source_ports, rule.destination_ports, rule.dscp),
        *(rule.tcp_flags, rule.icmp_type, rule.icmp_code),
    )
    return any(one is not None for one in said)


def _fits(rule: PacketRule, family: str) -> bool:
    """Return whether the addresses of a rule are of a family; a rule without addresses is of both."""
    wanted = [address for address in (rule.source, rule.destination) if address is not None]
    return all((":" in address) == (family == "ipv6") for address in wanted)


def _protocols(rule: PacketRule) -> tuple[int | None, ...]:
    """Return the protocol of a rule; those that have ports where it says ports alone."""
    if rule.protocol is None and (rule.source_ports is not None or rule.destination_ports is not None):
        return (_TCP, _UDP) if rule.tcp_flags is None else (_TCP,)
    return (_TCP,) if rule.protocol is None and rule.tcp_flags is not None else (rule.protocol,)


def _matches(rule: PacketRule, kind: str, protocol: int | None) -> Iterator[str]:
    if protocol is None and rule.icmp_type is not None:
        protocol = _ICMPV6 if kind == "ipv6" else _ICMP
    if protocol is not None:
        yield f"ip_proto {_NAMES.get(protocol, protocol)}"
    words = {"src_ip": _address(rule.source), "dst_ip": _address(rule.destination)}
    words |= {"src_port": _range(rule.source_ports), "dst_port": _range(rule.destination_ports)}
    words["ip_tos"] = None if rule.dscp is None else f"{rule.dscp << 2:#x}/0xfc"
    words["tcp_flags"] = None if rule.tcp_flags is None else f"{rule.tcp_flags[0]:#x}/{rule.tcp_flags[1]:#x}"
    words["type"] = None if rule.icmp_type is None else str(rule.icmp_type)
    words["code"] = None if rule.icmp_code is None else str(rule.icmp_code)
    yield from (f"{word} {value}" for word, value in words.items() if value is not None)


def _address(text: str | None) -> str | None:
    return "0.0.0.0/0" if text == "default" else text


def _range(bounds: tuple[int, int] | None) -> str | None:
    if bounds is None:
        return None
    first, last = bounds
    return str(first) if first == last else f"{first}-{last}"
