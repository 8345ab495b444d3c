"""IPv6 in the machine: what physics demands, ECMP, MPTCP, BGP over it and IPv4 over IPv6 next hops, failures."""

from __future__ import annotations

import json
import statistics
from typing import Any

import polars as pl
import pytest
from fidelity import known
from multipath_plans import BOTH_DUAL_HOMED, generated_plan, written_plan
from pcapng_reading import read_packets
from vm import Vm

from fabriclab.formats.plan import Plan
from fabriclab.resolve.interfaces import interfaces
from fabriclab.results.captures import EPOCH_NS

pytestmark = pytest.mark.vm

PAIRS = """
name: pairs
topology:
  nodes:
    s1: {kind: linux, labels: {fabriclab.role: switch}}
    h1: {kind: linux}
    h2: {kind: linux}
    h3: {kind: linux}
    h4: {kind: linux}
  links:
    - {endpoints: ['h1:eth1', 's1:eth1'], vars: {rate: 1 Gbps, delay: 10 us}, ipv6: ['fd00:1::1/64', 'fd00:1::2/64']}
    - {endpoints: ['h2:eth1', 's1:eth2'], vars: {rate: 1 Gbps, delay: 10 us}}
    - {endpoints: ['h3:eth1', 's1:eth3'], vars: {rate: 1 Gbps, delay: 10 us}}
    - {endpoints: ['h4:eth1', 's1:eth4'], vars: {rate: 1 Gbps, delay: 10 us}}
"""
LONG = """
title: Both families
addresses: dual
switches: {default: {buffer: 1 MB}}
hosts: {default: {congestion_control: reno}}
traffic:
  four: {kind: long, senders: [h1], receiver: h2, stop: 300 ms, ip: 4}
  six: {kind: long, senders: [h3], receiver: h4, stop: 300 ms, ip: 6}
probes: {pcap: ['s1:eth1', 's1:eth4'], tcp: {interval: 10 ms}}
"""
FABRIC = """
title: A fabric of IPv6
addresses: ipv6
routing: {protocol: bgp-unnumbered, convergence_limit: 20 s}
switches: {default: {buffer: 256 KB}}
hosts: {default: {rto_min: 10 ms}}
traffic:
  to1: {kind: flows, senders: all, receiver: h1, size: 20 KB, count: 5, interval: 10 ms}
  to2: {kind: flows, senders: all, receiver: h2, size: 20 KB, count: 5, interval: 10 ms}
  to3: {kind: flows, senders: all, receiver: h3, size: 20 KB, count: 5, interval: 10 ms}
"""
THREE_LEAVES = "leaf-spine --spines 2 --leaves 3 --hosts 1"
HOSTS = ("h1", "h2", "h3")
IPV6, HOP_BY_HOP, ICMPV6 = b"\x86\xdd", 0, 58


def goodput_bps(flow: dict[str, Any]) -> float:
    return float(flow["bytes"] * 8e9 / (flow["end_ns"] - flow["first_byte_ns"]))


def test_goodput_is_the_rate_without_the_headers_of_the_flows_own_family(vm: Vm) -> None:
    assert vm.run(written_plan(vm, PAIRS, LONG)).status == "complete"
    flows = {flow["class"]: flow for flow in vm.flows()}
    assert (flows["four"]["ip"], flows["six"]["ip"]) == (4, 6)
    assert goodput_bps(flows["four"]) / 1e9 == pytest.approx(1448 / 1538, rel=0.005)
    over_ipv6 = goodput_bps(flows["six"]) / 1e6
    known("Goodput of one flow over IPv6, 1 Gbps", 1e3 * 1428 / 1538, over_ipv6, "Mbps", within=0.005)
    assert vm.summary()["goodput_bps"] == pytest.approx(1e9 * (1448 + 1428) / 1538, rel=0.01)


@pytest.mark.slow("an idle minute of a fabric's virtual time, every frame of it captured")
def test_an_idle_network_of_ipv6_sends_nothing(vm: Vm) -> None:
    """Groups are told of before the epoch (MLD); neighbours and addresses are known, so nobody asks for them."""
    assert vm.run(written_plan(vm, PAIRS, LONG)).status == "complete"
    for port in ("s1-eth1", "s1-eth4"):
        seen = read_packets((vm.directory / "run/pcap" / f"{port}.pcapng").read_bytes())
        told = [one.time_ns for one in seen if one.data[12:14] == IPV6 and one.data[20] in (HOP_BY_HOP, ICMPV6)]
        assert len(seen) > 1000 and all(time_ns < EPOCH_NS for time_ns in told)


EXACT = "hosts: {default: {nic: {clock_error: 0 ppm, gro: off}}}\n"


@pytest.mark.parametrize(("family", "headers"), [("ipv4", 52), ("ipv6", 72)])
def test_a_short_flow_takes_its_serialisation_and_the_delay(vm: Vm, family: str, headers: int) -> None:
    """What is added to the ideal is the acknowledgement of the handshake, ahead of the first data."""
    one = "traffic: {one: {kind: flows, senders: [h1], receiver: h2, size: 13 KB, count: 1, start: 10 ms}}\n"
    experiment = f"title: One\naddresses: {family}\nswitches: {{default: {{buffer: 64 KB}}}}\n{EXACT}{one}"
    assert vm.run(written_plan(vm, PAIRS, experiment)).status == "complete"
    (flow,) = vm.flows()
    assert flow["fct_ns"] == flow["ideal_ns"] + 8 * (headers + 38)


def test_every_equal_path_carries_ipv6(vm: Vm) -> None:
    """By the five-tuple: so many flows of one pair take all four ways, about as often."""
    experiment = """
title: ECMP
addresses: ipv6
switches: {default: {buffer: 256 KB}}
traffic: {many: {kind: flows, senders: [h1], receiver: h2, size: 14 KB, count: 200, interval: 1 ms}}
probes: {interfaces: {interval: 100 ms}}
"""
    assert vm.run(generated_plan(vm, "leaf-spine --spines 4 --leaves 2 --hosts 1", experiment)).status == "complete"
    assert {flow["status"] for flow in vm.flows()} == {"complete"}
    sent = pl.read_parquet(vm.directory / "run/interfaces.parquet").group_by("port").agg(pl.col("tx_packets").max())
    packets = dict(sent.iter_rows())
    uplinks = [packets[f"leaf1:eth{number}"] for number in (2, 3, 4, 5)]
    # Each flow's share is drawn: of 200 each way has 50, give or take 6.
    assert min(uplinks) > 0.5 * sum(uplinks) / 4


def test_subflows_over_ipv6_use_every_interface(vm: Vm) -> None:
    experiment = """
title: MPTCP
addresses: dual
switches: {default: {buffer: 256 KB}}
hosts:
  default: {rto_min: 10 ms, queue: 256 KB, mptcp: {subflows: 4}}
  h1: {mptcp: {path_manager: fullmesh, add_addr_accepted: 1}}
  h2: {mptcp: {path_manager: signal}}
traffic: {long: {kind: long, senders: [h1], receiver: h2, stop: 3 s, transport: mptcp, ip: 6}}
probes: {tcp: {interval: 100 ms}}
"""
    plan = written_plan(vm, BOTH_DUAL_HOMED, experiment)
    assert vm.run(plan).status == "complete"
    (flow,) = vm.flows()
    assert (flow["transport"], flow["subflows"], flow["ip"]) == ("mptcp", 4, 6)
    paths = vm.tcp().filter(pl.col("node") == "h1")["path"].drop_nulls().unique()
    addresses = {interface.ip for interface in interfaces(plan.node("h2"), 6)}
    assert {path.rpartition("-")[2].rpartition(":")[0].strip("[]") for path in paths} == addresses
    # Two lines of 100 Mbps.
    assert goodput_bps(flow) > 1.5 * 1e8 * 1404 / 1538


def test_a_window_limit_holds_over_ipv6(vm: Vm) -> None:
    """Two full segments a round trip, and none more: stock qdiscs add nothing to it on an idle line, NICs the times of
    a full frame and of an acknowledgement."""
    experiment = """
title: A window
addresses: ipv6
switches: {default: {buffer: 256 KB}}
hosts: {default: {window_limit: 2, delayed_ack: false}}
traffic: {long: {kind: long, senders: [h1], receiver: h2, stop: 100 ms}}
"""
    assert vm.run(written_plan(vm, PAIRS, experiment)).status == "complete"
    (flow,) = vm.flows()
    assert goodput_bps(flow) == pytest.approx(2 * 1428 * 8e9 / (40_000 + 8 * (1538 + 110)), rel=0.02)


def test_marks_of_dctcp_are_those_of_ipv6_packets(vm: Vm) -> None:
    experiment = """
title: DCTCP
addresses: ipv6
switches: {default: {buffer: 512 KB, ecn_threshold: 60 KB}}
hosts: {default: {congestion_control: dctcp, rto_min: 10 ms}}
traffic: {long: {kind: long, senders: h1..h3, receiver: h4, stop: 300 ms}}
probes: {queues: {interval: 100 us, ports: ['s1:eth4']}}
"""
    assert vm.run(written_plan(vm, PAIRS, experiment)).status == "complete"
    queue = pl.read_parquet(vm.directory / "run/queues.parquet").filter(pl.col("time_ns") > 100_000_000)
    assert 20_000 < statistics.mean(queue["bytes"].to_list()) < 80_000
    # The RST that ends a flow at the stop isn't ECT.
    assert max(queue["marks"].to_list()) > 0 and max(queue["drops"].to_list()) <= len(vm.flows())
    assert sum(flow["retransmits"] for flow in vm.flows()) == 0


def kernel_routes(vm: Vm, node: str, name: str) -> dict[str, set[str]]:
    routes = json.loads((vm.directory / "run/collect" / f"{name}@{node}").read_text())
    return {route["dst"]: {hop["dev"] for hop in route.get("nexthops", [route])} for route in routes}


def ask_for_every_route(vm: Vm, plan: Plan) -> None:
    assert vm.run(plan).status == "complete"
    assert {flow["status"] for flow in vm.flows()} == {"complete"}
    for switch in (node for node in plan.nodes if node.role == "switch"):
        found: dict[str, set[str]] = {}
        for family in plan.families:
            found |= kernel_routes(vm, switch.name, "routes" if family == 4 else "routes6")
        for route in switch.routes:
            prefix = route.destination.removesuffix("/32").removesuffix("/128")
            assert found[prefix] == {interface for _, interface in route.next_hops}, (switch.name, prefix)


@pytest.mark.parametrize("protocol", ["bgp-unnumbered", "bgp-numbered"])
def test_every_pair_talks_in_a_fabric_of_ipv6_only(vm: Vm, protocol: str) -> None:
    plan = generated_plan(vm, THREE_LEAVES, FABRIC, 1, **{"routing.protocol": protocol})
    ask_for_every_route(vm, plan)
    assert {route.destination for node in plan.nodes for route in node.routes if ":" not in route.destination} == set()
    assert {(flow["src"], flow["dst"]) for flow in vm.flows()} == {(a, b) for a in HOSTS for b in HOSTS if a != b}


def test_ipv4_goes_over_next_hops_of_ipv6(vm: Vm) -> None:
    """RFC 8950, which follows RFC 5549: sessions have link-local addresses only, and carry both families."""
    plan = generated_plan(vm, THREE_LEAVES, FABRIC, 1, addresses="dual", **{"traffic.to1.ip": "6"})
    ask_for_every_route(vm, plan)
    assert {flow["ip"] for flow in vm.flows()} == {4, 6}
    hops = [
        hop
        for route in json.loads((vm.directory / "run/collect/routes@leaf1").read_text())
        for hop in route.get("nexthops", [])
        if route.get("protocol") == "bgp"
    ]
    assert hops and {hop["via"]["family"] for hop in hops} == {"inet6"}


def test_both_families_follow_a_link_that_dies_and_comes_back(vm: Vm) -> None:
    events = """
events:
  cut: {link: 'leaf1:eth2', at: 20 ms, action: down}
  mended: {link: 'leaf1:eth2', at: 500 ms, action: up}
"""
    longer = FABRIC.replace("interval: 10 ms", "interval: 1 s") + events
    numbered = {"routing.protocol": "bgp-numbered", "addresses": "dual"}
    plan = generated_plan(vm, THREE_LEAVES, longer, 1, **numbered, **{"traffic.to1.ip": "6"})
    assert vm.run(plan).status == "complete"
    assert {flow["status"] for flow in vm.flows()} == {"complete"}
    told = [json.loads(line) for line in (vm.directory / "run/events.jsonl").read_text().splitlines()]
    reconverged = {event["name"]: event for event in told if event["event"] == "reconverged"}
    assert set(reconverged) == {"cut", "mended"}
    # The link and its connected networks are there again, addresses and all.
    found = kernel_routes(vm, "leaf1", "routes6")
    wanted = [route for route in plan.node("leaf1").routes if ":" in route.destination]
    assert wanted and {route.destination: {interface for _, interface in route.next_hops} for route in wanted} == {
        route.destination: found[route.destination.removesuffix("/128")] for route in wanted
    }


def test_static_routes_are_back_with_their_link(vm: Vm) -> None:
    """A host's only link: its address, its neighbour and its routes went with it (keep_addr_on_down)."""
    experiment = """
title: A link comes back
addresses: ipv6
switches: {default: {buffer: 256 KB}}
hosts: {default: {rto_min: 10 ms}}
traffic: {some: {kind: flows, senders: [h1], receiver: h2, size: 20 KB, count: 5, interval: 100 ms}}
events:
  cut: {link: 'h1:eth1', at: 150 ms, action: down}
  mended: {link: 'h1:eth1', at: 350 ms, action: up}
limit: 1 s
"""
    # What could not be begun keeps its receiver waiting.
    assert vm.run(written_plan(vm, PAIRS, experiment)).status == "limit"
    status = [flow["status"] for flow in sorted(vm.flows(), key=lambda flow: flow["start_ns"])]
    assert (status[0], status[1], status[4]) == ("complete", "complete", "complete")
    assert status[2].startswith("failed")
