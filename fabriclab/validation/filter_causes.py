"""Which rule of a packet filter dropped packets of a pair of hosts, or of a session, that failed.

The kernel's classifiers count."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_address, ip_interface, ip_network
from typing import Any, NamedTuple

from fabriclab.formats.plan.filters import FilterTable, PacketRule, filter_cookie
from fabriclab.formats.plan.node import Node
from fabriclab.resolve.interfaces import first_address
from fabriclab.results import Results
from fabriclab.units import format_count
from fabriclab.validation.bench import Bench, Collector, collected
from fabriclab.validation.finding import ValidationFinding

_TCP, _BGP = 6, 179
_MOST_CAUSES = 2


class _Packets(NamedTuple):
    """TCP from an address to another one, to a port or from it."""

    source: str
    destination: str


class _Dropping(NamedTuple):
    """A rule that dropped packets."""

    node: str
    table: FilterTable
    rule: PacketRule
    packets: int

    @property
    def sentence(self) -> str:
        return (
            f"{self.node}: ACL_TABLE {self.table.name} ({self.table.stage}), rule {self.rule.name} dropped "
            f"{format_count(self.packets, 'packet')}"
        )


def filter_collectors(bench: Bench) -> tuple[Collector, ...]:
    """Return what is asked of the classifiers: of one of the ports that have the same."""
    return tuple(
        Collector(_name(table.stage, port), switch.name, ("tc", "-s", "-j", "filter", "show", "dev", port, table.stage))
        for switch in bench.switches
        for table, port in _asked(switch)
    )


def _asked(switch: Node) -> Iterator[tuple[FilterTable, str]]:
    known = set()
    for port in switch.ports:
        for table in switch.filters:
            if port.interface in table.ports:
                tables = tuple(
                    one for one in switch.filters if one.stage == table.stage and port.interface in one.ports
                )
                if (table.stage, tables) not in known:
                    known.add((table.stage, tables))
                    yield table, port.interface


def _name(stage: str, port: str) -> str:
    return f"filters-{stage}-{port}"


def with_filters(bench: Bench, results: Results, findings: Sequence[ValidationFinding]) -> list[ValidationFinding]:
    """Return the findings; a failure of a pair or a session says which rules dropped packets between the two."""
    dropping = list(_dropping(bench, results))
    return [_with_filter(bench, dropping, finding) for finding in findings] if dropping else list(findings)


def _dropping(bench: Bench, results: Results) -> Iterator[_Dropping]:
    for switch in bench.switches:
        counts: dict[str, int] = {}
        for table, port in _asked(switch):
            for cookie, packets in _counts(collected(results, _name(table.stage, port), switch.name)):
                counts[cookie] = counts.get(cookie, 0) + packets
        for number, table in enumerate(switch.filters):
            for index, rule in enumerate(table.rules):
                packets = counts.get(filter_cookie(number, index), 0)
                if packets:
                    yield _Dropping(switch.name, table, rule, packets)


def _counts(output: str | None) -> Iterator[tuple[str, int]]:
    """Yield the cookie of each action and how many packets it dropped."""
    try:
        filters = json.loads(output or "[]")
    except json.JSONDecodeError:
        return
    for one in filters if isinstance(filters, list) else ():
        options: Mapping[str, Any] = one.get("options") or {}
        for action in options.get("actions", ()):
            if action.get("cookie"):
                yield str(action["cookie"]), int((action.get("stats") or {}).get("drops", 0))


def _with_filter(bench: Bench, dropping: Sequence[_Dropping], finding: ValidationFinding) -> ValidationFinding:
    if finding.verdict != "fail" or finding.check not in ("reach", "sessions"):
        return finding
    ways = list(_packets_of(bench, finding))
    causes = [one.sentence for one in dropping if any(_fits(one.rule, way, finding.check) for way in ways)]
    if not causes:
        return finding
    more = len(causes) - _MOST_CAUSES
    named = "; ".join(causes[:_MOST_CAUSES]) + (f" (and {more} more)" if more > 0 else "")
    return replace(finding, measured=f"{finding.measured}; {named}")


def _packets_of(bench: Bench, finding: ValidationFinding) -> Iterator[_Packets]:
    """Yield the packets that a finding is about, both ways."""
    one, _, rest = finding.where.partition(" to ")
    other, nodes = rest.partition(",")[0], bench.plan.by_name()
    if finding.check == "sessions":
        name, _, port = one.partition(":")
        ends = _session(nodes, name, port)
    else:
        ends = tuple(first_address(nodes[name]) for name in (one, other) if name in nodes)
    if len(ends) == 2:
        yield from (_Packets(*ends), _Packets(*ends[::-1]))


def _session(nodes: Mapping[str, Node], name: str, interface: str) -> tuple[str, ...]:
    """Return the addresses of the two ends of a session over a port."""
    node = nodes.get(name)
    port = next((port for port in node.ports if port.interface == interface), None) if node is not None else None
    if port is None:
        return ()
    peer = next(one for one in nodes[port.peer_node].ports if one.interface == port.peer_interface)
    return tuple(str(ip_interface(one.address).ip) for one in (port, peer) if one.address is not None)


def _fits(rule: PacketRule, way: _Packets, check: str) -> bool:
    """Return whether a rule may be about TCP between two addresses: of BGP, or of traffic, whose ports are any."""
    about_bgp = any(bounds is not None and bounds[0] <= _BGP <= bounds[1] for bounds in _ports(rule))
    says_ports = any(bounds is not None for bounds in _ports(rule))
    if rule.protocol not in (None, _TCP) or rule.frames in ("arp", "ipv6") or rule.icmp_type is not None:
        return False
    if check == "sessions" and says_ports and not about_bgp:
        return False
    return _holds(rule.source, way.source) and _holds(rule.destination, way.destination)


def _ports(rule: PacketRule) -> tuple[tuple[int, int] | None, ...]:
    return rule.source_ports, rule.destination_ports


def _holds(wanted: str | None, address: str) -> bool:
    return wanted is None or ip_address(address) in ip_network("0.0.0.0/0" if wanted == "default" else wanted)
