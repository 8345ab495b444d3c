"""Whether every host reaches every other, with packets as large as they should be, over all the paths there are.

Each pair has some flows of one segment and one of full segments. TCP sends them with DF, so a link that is narrower
than both hosts' shows as an exception of the sender's path MTU (RFC 1191; `ip route show cache`), or as a flow that
never ends where nobody tells the sender.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from fabriclab.formats.family import Family
from fabriclab.formats.plan.node import Node, Route
from fabriclab.formats.plan.traffic import Carrier, FlowsTraffic
from fabriclab.resolve.interfaces import fabric_neighbours, first_address, member_ports
from fabriclab.results import Results
from fabriclab.units import format_count
from fabriclab.validation.bench import (
    MS,
    NO_PROBES,
    Bench,
    Collector,
    S,
    Setting,
    Stage,
    collected,
    set_up,
    single_flows,
)
from fabriclab.validation.filter_causes import filter_collectors, with_filters
from fabriclab.validation.finding import ValidationFinding, judged, over_family, shortened, unmeasured
from fabriclab.validation.routing import collectors as routing_collectors
from fabriclab.validation.routing import judge_routing

_SMALL, _FULL = "small", "full"
_SMALL_BYTES = 100
_FULL_SEGMENTS = 8
_FLOWS_A_PATH = 16
"""How many of a switch's flows take each path on average: that a path is missed by chance has a
probability of exp(-16)."""
_BETWEEN_RECEIVERS_NS = 200_000
_LEAST_SHARE = 0.1
"""The least share that a path may have of the mean of a switch's equal paths:
below it a path is not used. What BGP itself sends is far below."""
_CACHE: Mapping[Family, tuple[str, ...]] = {
    4: ("ip", "-j", "route", "show", "cache"),
    6: ("ip", "-j", "-6", "route", "show", "cache"),
}


def reach_stage(bench: Bench) -> Stage:
    """Return the stage. It judges routing as well, at its end: sessions have then carried traffic."""
    hosts = [host.name for host in bench.hosts]
    count = _flows_a_pair(bench)
    traffic: list[FlowsTraffic] = []
    for number, receiver in enumerate(hosts):
        senders = [host for host in hosts if host != receiver]
        start_ns = number * _BETWEEN_RECEIVERS_NS
        full_bytes = _FULL_SEGMENTS * bench.plan.node(receiver).ports[0].mtu
        for family in bench.plan.families:
            small, full = (f"{_of(size, family)}{receiver}" for size in (_SMALL, _FULL))
            over = {"carrier": Carrier(ip=family if len(bench.plan.families) > 1 else None)}
            traffic.append(single_flows(small, senders, receiver, _SMALL_BYTES, start_ns, count=count, **over))
            traffic.append(single_flows(full, senders, receiver, full_bytes, start_ns, **over))
    last_start_ns = len(hosts) * _BETWEEN_RECEIVERS_NS + count * MS
    probes = NO_PROBES.model_copy(update={"interface_interval_ns": S})
    plan = set_up(bench, "reach", Setting(traffic, last_start_ns, probes))
    caches = tuple(
        Collector(_mtu_name(family), host, _CACHE[family]) for family in bench.plan.families for host in hosts
    )
    asked = (*routing_collectors(bench), *caches, *filter_collectors(bench))
    return Stage("reach", plan, lambda results: with_filters(bench, results, _judge(bench, results)), asked)


def _of(size: str, family: Family) -> str:
    """Return what the names of a family's traffic begin with."""
    return f"{size}-" if family == 4 else f"{size}6-"


def _mtu_name(family: Family) -> str:
    return "path-mtu" if family == 4 else "path-mtu6"


def _over(bench: Bench, family: Family) -> str:
    """Return the words that tell findings of a family from those of the other one."""
    return over_family(family) if len(bench.plan.families) > 1 else ""


def _flows_a_pair(bench: Bench) -> int:
    pairs = max(1, len(bench.hosts) * (len(bench.hosts) - 1))
    return max(1, math.ceil(_FLOWS_A_PATH * _widest(bench) * len(bench.switches) / pairs))


def _widest(bench: Bench) -> int:
    switches = [bench.intended.node(switch.name) for switch in bench.switches]
    return max((_lines(switch, route) for switch in switches for route in switch.routes), default=1)


def _lines(switch: Node, route: Route) -> int:
    """Return how many links a route's packets are spread over: those of a port channel count each."""
    return sum(len(member_ports(switch, interface)) for _, interface in route.next_hops)


def _judge(bench: Bench, results: Results) -> list[ValidationFinding]:
    flows = results.flows.select("class", "src", "dst", "status").collect()
    found = [*judge_routing(bench, results), *_judge_balance(bench, results)]
    for family in bench.plan.families:
        small, full = (flows.filter(pl.col("class").str.starts_with(_of(size, family))) for size in (_SMALL, _FULL))
        found += [*_judge_pairs(small, _over(bench, family)), *_judge_mtu(bench, results, full, family)]
    return found


def _judge_pairs(flows: pl.DataFrame, over: str) -> list[ValidationFinding]:
    pairs = flows.group_by("src", "dst", maintain_order=True).agg(
        pl.len().alias("flows"), (pl.col("status") == "complete").sum().alias("done")
    )
    wrong = [
        judged(
            "reach",
            f"{pair['src']} to {pair['dst']}{over}",
            f"{pair['flows']} of {pair['flows']} flows",
            f"{pair['done']}",
            holds=False,
        )
        for pair in pairs.sort("src", "dst").iter_rows(named=True)
        if pair["done"] < pair["flows"]
    ]
    text = f"{flows.height} of {flows.height} flows"
    where = f"{format_count(pairs.height, 'ordered pair')} of hosts{over}"
    return shortened(wrong) or [judged("reach", where, text, text, holds=pairs.height > 0)]


def _judge_mtu(bench: Bench, results: Results, flows: pl.DataFrame, family: Family) -> list[ValidationFinding]:
    """Return the pairs whose path is narrower than it should be; one line where none is."""
    done = {(flow["src"], flow["dst"]): flow["status"] == "complete" for flow in flows.iter_rows(named=True)}
    pairs = [(one, other) for one, other in done if one < other]
    if not pairs:
        return [unmeasured("mtu", "hosts", "full packets arrive", "the lab has only one host")]
    caches = {host.name: _path_mtus(collected(results, _mtu_name(family), host.name)) for host in bench.hosts}
    over = _over(bench, family)
    expected = {pair: _expected_mtu(bench, *pair) for pair in pairs}
    wrong = []
    for one, other in pairs:
        measured = _measured_mtu(bench, one, other, caches, family)
        if measured < expected[one, other]:
            where, wanted = f"{one} and {other}{over}", f"{expected[one, other]} B"
            wrong.append(judged("mtu", where, wanted, f"{measured} B", holds=False))
        elif not (done[one, other] and done[other, one]):
            wrong.append(
                judged(
                    "mtu",
                    f"{one} and {other}{over}",
                    f"{expected[one, other]} B",
                    "full packets do not arrive",
                    holds=False,
                )
            )
    text = " to ".join(f"{mtu} B" for mtu in sorted({min(expected.values()), max(expected.values())}))
    where = f"{format_count(len(pairs), 'pair')} of hosts{over}"
    return shortened(wrong) or [judged("mtu", where, text, text, holds=True)]


def _expected_mtu(bench: Bench, one: str, other: str) -> int:
    return bench.wanted.mtu if bench.wanted.mtu is not None else min(_own_mtu(bench, one), _own_mtu(bench, other))


def _measured_mtu(bench: Bench, one: str, other: str, caches: dict[str, dict[str, int]], family: Family) -> int:
    """Return what either end learnt: it offers the other no larger segments then, who learns nothing.

    Else what both ends may send.
    """
    learnt = [
        caches[near].get(first_address(bench.plan.node(far), family)) for near, far in ((one, other), (other, one))
    ]
    return min(_own_mtu(bench, one), _own_mtu(bench, other), *(mtu for mtu in learnt if mtu is not None))


def _own_mtu(bench: Bench, host: str) -> int:
    return bench.plan.node(host).ports[0].mtu


def _path_mtus(output: str | None) -> dict[str, int]:
    """Return the path MTUs that a host has learnt, by destination."""
    try:
        table = json.loads(output or "[]")
    except json.JSONDecodeError:
        return {}
    return {route["dst"]: mtu for route in table if (mtu := _route_mtu(route)) is not None}


def _route_mtu(route: dict[str, Any]) -> int | None:
    mtus = [int(metric["mtu"]) for metric in route.get("metrics", ()) if "mtu" in metric]
    return min(mtus, default=None)


def _judge_balance(bench: Bench, results: Results) -> Iterator[ValidationFinding]:
    """Yield, for each switch with equal paths or a port channel to another switch,
    whether all of them carry traffic."""
    carried = _sent_packets(results)
    for switch in bench.switches:
        intended = bench.intended.node(switch.name)
        for interfaces in _equals(bench, intended):
            expected = f"{', '.join(interfaces)} all carry"
            if carried is None:
                yield unmeasured("balance", switch.name, expected, "interfaces were not sampled")
                continue
            ports = [
                [f"{switch.name}:{port}" for port in member_ports(intended, interface)] for interface in interfaces
            ]
            sent = [sum(carried.get(port, 0) for port in of_interface) for of_interface in ports]
            pairs = zip(interfaces, sent, strict=True)
            shares = ", ".join(f"{interface} {100 * packets / max(1, sum(sent)):.0f} %" for interface, packets in pairs)
            if sum(sent) < len(interfaces) * _FLOWS_A_PATH:
                yield unmeasured("balance", switch.name, expected, "no traffic came here")
            else:
                least = _LEAST_SHARE * sum(sent) / len(interfaces)
                used = sum(packets >= least for packets in sent)
                told = shares if used == len(sent) else f"{used} of {len(sent)} paths used: {shares}"
                yield judged("balance", switch.name, expected, told, holds=used == len(sent))


def _equals(bench: Bench, switch: Node) -> list[tuple[str, ...]]:
    """Return the interfaces over which traffic is spread: next hops of one route, members of one port channel."""
    next_hops = {tuple(hop[1] for hop in route.next_hops) for route in switch.routes if len(route.next_hops) > 1}
    fabric = {interface.name for interface, _ in fabric_neighbours(switch, bench.intended.by_name())}
    channels = [
        channel.members for channel in switch.port_channels if channel.name in fabric and len(channel.members) > 1
    ]
    return [*sorted(next_hops), *channels]


def _sent_packets(results: Results) -> dict[str, int] | None:
    """Return the packets that each port sent since the epoch."""
    interfaces = results.measured.interfaces
    if interfaces is None:
        return None
    sent = (
        interfaces.group_by("port")
        .agg((pl.col("tx_packets").max() - pl.col("tx_packets").min()).alias("sent"))
        .collect()
    )
    return {port: packets or 0 for port, packets in sent.iter_rows()}
