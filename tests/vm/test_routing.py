"""FRR in the machine: it converges before the traffic starts, follows failures, and events happen when they should."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fidelity import known
from pcapng_reading import Packet, read_packets
from typer.testing import CliRunner
from vm import Vm

from fabriclab.cli.app import app
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.node import Route
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

pytestmark = pytest.mark.vm

EXPERIMENT = """
title: Routing
routing: {protocol: bgp-unnumbered, convergence_limit: 20 s}
switches: {default: {buffer: 256 KB}}
hosts: {default: {rto_min: 10 ms}}
traffic:
  flows: {kind: flows, senders: all, receiver: h1, size: 20 KB, count: 20, interval: 10 ms}
"""
LEAVES = "--spines 2 --leaves 3 --hosts 1"
TWO_LEAVES = "--spines 2 --leaves 2 --hosts 1"
ACROSS = "  across: {kind: long, senders: [h2], receiver: h1, stop: STOP}\n"
LEAF_1 = "leaf1:eth2"
"""Leaf1's port to spine1; eth3 leads to spine2."""
BFD_PORT = (3784).to_bytes(2)
UDP_PORTS = 54
"""Where they begin in a packet of UDP over IPv6 and Ethernet."""
MULTIPLIER = 3
"""Intervals without a packet (RFC 5880, section 6.8.4)."""
CLEAR_MS, DECIDE_MS, INSTALL_MS = 10, 50, 10
"""FRR's waits: for more of a lost peer's routes (bgp_clear_node_queue_init, bgpd/bgp_route.c), for more routes to
decide on (bgp_process_queue_init), for more routes to install (ZEBRA_RIB_PROCESS_HOLD_TIME, zebra/zebra_router.h)."""


def plan_of(vm: Vm, experiment: str, arguments: str = LEAVES, seed: int = 1, /, **settings: str) -> Plan:
    written = ["generate", "leaf-spine", *arguments.split(), "--out", str(vm.directory), "--force"]
    assert CliRunner().invoke(app, written).exit_code == 0
    (vm.directory / "experiment.yml").write_text(experiment, encoding="utf-8")
    return resolve_plan(parse_lab(vm.directory), settings, seed)


def events_of(vm: Vm, name: str, run: str = "run") -> list[dict[str, Any]]:
    lines = (vm.directory / run / "events.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == name]


def kernel_routes(run: Path, node: str) -> dict[str, set[str]]:
    """Return the interfaces of every route that a switch's kernel had at the end."""
    routes = json.loads((run / "collect" / f"routes@{node}").read_text())
    return {route["dst"]: {hop["dev"] for hop in route.get("nexthops", [route])} for route in routes}


@pytest.mark.parametrize(
    "settings", [{"routing.protocol": "bgp-numbered"}, {"routing.bfd": "50 ms"}], ids=["numbered", "bfd"]
)
def test_traffic_starts_when_every_switch_has_every_route(vm: Vm, settings: dict[str, str]) -> None:
    run_and_ask_for_every_route(vm, plan_of(vm, EXPERIMENT, **settings))


def run_and_ask_for_every_route(vm: Vm, plan: Plan) -> None:
    assert vm.run(plan).status == "complete"
    assert {flow["status"] for flow in vm.flows()} == {"complete"}
    (converged,) = events_of(vm, "converged")
    assert vm.summary()["convergence_ns"] == converged["convergence_ns"] > 0
    for switch in (node for node in plan.nodes if node.role == "switch"):
        found = kernel_routes(vm.directory / "run", switch.name)
        for route in switch.routes:
            prefix = route.destination.removesuffix("/32")
            assert found[prefix] == {interface for _, interface in route.next_hops}, (switch.name, prefix)


def test_routing_that_does_not_converge_is_named(vm: Vm) -> None:
    plan = plan_of(vm, EXPERIMENT, **{"routing.convergence_limit": "3 s"})
    impossible = Route(destination="10.99.0.0/24", next_hops=(("fe80::1", "eth2"),))
    nodes = tuple(
        node.model_copy(update={"routes": (*node.routes, impossible)}) if node.name == "leaf2" else node
        for node in plan.nodes
    )
    result = vm.run(plan.model_copy(update={"nodes": nodes}))
    assert result.status == "failed"
    assert "routing leaf2: the route to 10.99.0.0/24 has 0 next hops (none), expected 1 of eth2" in result.message
    assert "routing has not converged within 3000 virtual ms" in result.message
    assert events_of(vm, "epoch") == []


def test_unnumbered_sessions_find_every_route_and_a_second_run_repeats_to_the_byte(vm: Vm) -> None:
    plan = plan_of(vm, EXPERIMENT)
    run_and_ask_for_every_route(vm, plan)
    assert vm.run(plan, "second").status == "complete"
    files = [
        hashlib.sha256((vm.directory / name / "flows.parquet").read_bytes()).hexdigest() for name in ("run", "second")
    ]
    assert files[0] == files[1]
    assert events_of(vm, "converged") == events_of(vm, "converged", "second")


def failing(action: str, seconds: int) -> str:
    """Return the experiment with a link that fails, and with a message each 50 ms for so long:
    routing needs no more packets to be seen."""
    across = (
        f"  across: {{kind: flows, senders: [h2], receiver: h1, size: 1 KB, count: {20 * seconds}, interval: 50 ms}}\n"
    )
    return EXPERIMENT + across + f"events:\n  cut: {{at: 1 s, link: '{LEAF_1}', action: {action}}}\n"


def test_bgp_follows_a_lost_carrier_and_bfd_a_silent_link(vm: Vm) -> None:
    assert vm.run(plan_of(vm, failing("down", 2), TWO_LEAVES), "carrier").status == "complete"
    assert (
        vm.run(plan_of(vm, failing("blackhole", 3), TWO_LEAVES, **{"routing.bfd": "50 ms"}), "bfd").status == "complete"
    )
    assert vm.run(plan_of(vm, failing("blackhole", 12), TWO_LEAVES), "hold").status == "complete"
    took = {name: vm.summary(name)["reconvergence_ns"] for name in ("carrier", "bfd", "hold")}
    assert took["carrier"] < took["bfd"] < 10**9
    # The hold time of 9 s runs since the last keepalive, which comes every 3 s.
    assert 5.9e9 < took["hold"] < 9.5e9
    for name in took:
        assert kernel_routes(vm.directory / name, "leaf2")[_network_of(vm, "leaf1")] == {"eth3"}


def hellos(packets: list[Packet], direction: str) -> Iterator[float]:
    """Yield when packets of BFD came in or went out, in milliseconds since the link failed."""
    for packet in packets:
        is_udp = packet.data[12:14] == b"\x86\xdd" and packet.data[20] == 17
        if packet.direction == direction and is_udp and packet.data[UDP_PORTS + 2 : UDP_PORTS + 4] == BFD_PORT:
            yield packet.time_ns % 10**11 / 1e6 - 1000


@pytest.mark.parametrize("interval_ms", [20, 50, 100, 300])
def test_routes_follow_three_intervals_after_the_last_packet(vm: Vm, interval_ms: int) -> None:
    """Leaf1 stops using the link itself; the spine must tell leaf2, which decides once more."""
    settings = {"routing.bfd": f"{interval_ms} ms", "probes.pcap": LEAF_1}
    assert vm.run(plan_of(vm, failing("blackhole", 3), TWO_LEAVES, **settings)).status == "complete"
    packets = read_packets((vm.directory / "run" / "pcap" / f"{LEAF_1.replace(':', '-')}.pcapng").read_bytes())
    heard, sent = (max(time for time in hellos(packets, way) if time < 1) for way in ("in", "out"))
    at_leaf1 = heard + MULTIPLIER * interval_ms + CLEAR_MS + DECIDE_MS + INSTALL_MS
    at_leaf2 = sent + MULTIPLIER * interval_ms + CLEAR_MS + 2 * DECIDE_MS + INSTALL_MS
    known(
        f"Routes follow a silent link, BFD each {interval_ms} ms",
        theory=max(at_leaf1, at_leaf2),
        measured=vm.summary()["reconvergence_ns"] / 1e6,
        unit="ms",
        within=0.02,
    )


def _network_of(vm: Vm, leaf: str) -> str:
    """Return the network of a leaf's only host."""
    plan = resolve_plan(parse_lab(vm.directory), {})
    return next(
        route.destination
        for route in plan.node("spine1").routes
        if route.next_hops[0][0] == leaf_gateway(plan, leaf) and "/32" not in route.destination
    )


def leaf_gateway(plan: Plan, leaf: str) -> str:
    return next(
        route.next_hops[0][0]
        for route in plan.node("spine1").routes
        if route.destination == f"{plan.node(leaf).loopback}/32"
    )


def test_a_link_comes_back_with_static_routes(vm: Vm) -> None:
    events = (
        f"events:\n  cut: {{at: 500 ms, link: '{LEAF_1}', action: down}}\n  mended: {{at: 1 s, link: '{LEAF_1}', "
        f"action: up}}\n"
    )
    experiment = EXPERIMENT.replace("count: 20", "count: 100") + "probes: {interfaces: {interval: 10 ms}}\n" + events
    plan = plan_of(vm, experiment, **{"routing.protocol": "static"})
    assert vm.run(plan).status == "complete"
    assert {flow["status"] for flow in vm.flows()} == {"complete"}
    assert [(event["name"], round(event["t_ns"], -6)) for event in events_of(vm, "change")] == [
        ("cut", 500_000_000),
        ("mended", 10**9),
    ]
    sent = pl.read_parquet(vm.directory / "run" / "interfaces.parquet").filter(pl.col("port") == LEAF_1)
    at = {ms: sent.filter(pl.col("time_ns") <= ms * 10**6)["tx_bytes"][-1] for ms in (490, 520, 990, 1900)}
    assert at[490] > 0 and at[520] == at[990] < at[1900]


def test_rate_and_delay_change_when_they_should(vm: Vm) -> None:
    """A link becomes ten times slower under a long flow; when that is over it becomes 10 ms longer each way,
    which single messages see."""
    experiment = (
        EXPERIMENT.partition("traffic:")[0]
        + "traffic:\n"
        + ACROSS.replace("STOP", "2 s")
        + "  message: {kind: flows, senders: [h3], receiver: h1, size: 1 KB, count: 10, interval: 100 ms, start: "
        "2100 ms}\n"
        + "events:\n  slow: {at: 1 s, link: 'leaf1:eth1', rate: 100 Mbps}\n  far: {at: 2550 ms, link: 'leaf1:eth1', "
        "delay: 10 ms}\n" + "probes: {interfaces: {interval: 10 ms}}\n"
    )
    assert vm.run(plan_of(vm, experiment, **{"routing.protocol": "static"})).status == "complete"
    sent = pl.read_parquet(vm.directory / "run" / "interfaces.parquet").filter(pl.col("port") == "leaf1:eth1")
    at = {ms: sent.filter(pl.col("time_ns") <= ms * 10**6)["tx_bytes"][-1] for ms in (500, 900, 1500, 1900)}
    assert 8 * (at[900] - at[500]) / 0.4 == pytest.approx(1e9 * 1514 / 1538, rel=0.02)
    assert 8 * (at[1900] - at[1500]) / 0.4 == pytest.approx(1e8 * 1514 / 1538, rel=0.02)
    rtt_us = [flow["min_rtt_us"] for flow in vm.flows() if flow["class"] == "message"]
    # 2 x 10 ms instead of the generator's 2 x 25 us.
    assert [after - before for before, after in zip(rtt_us[:5], rtt_us[5:], strict=True)] == pytest.approx(
        [19_950] * 5, abs=20
    )


def test_the_same_seed_takes_the_same_paths(vm: Vm) -> None:
    experiment = EXPERIMENT + "probes: {interfaces: {interval: 100 ms}}\n"
    shares = []
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        assert (
            vm.run(plan_of(vm, experiment, LEAVES, seed, **{"routing.protocol": "static"}), name).status == "complete"
        )
        last = (
            pl.read_parquet(vm.directory / name / "interfaces.parquet")
            .group_by("port")
            .agg(pl.col("tx_bytes").max())
            .sort("port")
        )
        shares.append(dict(last.iter_rows()))
    assert shares[0] == shares[1]
    assert shares[0]["leaf2:eth2"] != shares[2]["leaf2:eth2"]
