"""VLANs and port channels in the machine: who is bridged and who is routed, what members carry,
whom a switch pauses."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from layer2_labs import HEAD, TWO_SPINES, experiment, plan_of
from vm import Vm

from fabriclab.formats.plan import Plan

pytestmark = pytest.mark.vm

GBPS = 10**9
MS = 10**6
PAYLOAD_OF_WIRE = 1448 / 1538
BGP = "routing: {protocol: bgp-numbered}\n"
UNNUMBERED = "routing: {protocol: bgp-unnumbered}\n"
PROBES = "probes: {interfaces: {interval: 10 ms}}\n"
LOSSLESS = """default:
    pools: {out: {size: 400 KB}, in: {size: 400 KB}}
    queues: {default: {pool: out, alpha: 1, scheduler: strict}, 3: {pool: out, limit: none}}
    priority_groups: {3: {pool: in, limit: 30 KB, lossless: true, xon: 20 KB}}
    pfc: {priorities: [3]}"""
MANY = (
    "traffic:\n  many: {kind: arrivals, senders: [h1, h2], receivers: [far], size: 20 KB, load: 40 %, stop: 200 ms}\n"
)


def sent_packets(vm: Vm, port: str, since_ns: int, until_ns: int) -> int:
    """Return what a port sent from one time to another; a row is written where a counter changed."""
    table = pl.read_parquet(vm.directory / "run" / "interfaces.parquet").filter(pl.col("port") == port).sort("time_ns")
    before, at_end = (table.filter(pl.col("time_ns") <= time_ns)["tx_packets"][-1] for time_ns in (since_ns, until_ns))
    return int(at_end) - int(before)


def goodputs(vm: Vm) -> dict[str, float]:
    """Return the goodput of each flow in bits per second, by its traffic."""
    return {flow["class"]: 8e9 * flow["bytes"] / (flow["stop_ns"] - flow["start_ns"]) for flow in vm.flows()}


def ping(host: str, address: str) -> dict[str, Any]:
    return {"name": f"ping@{host}", "node": host, "argv": ["ping", "-n", "-c", "1", "-W", "1", address]}


def test_hosts_of_a_vlan_are_bridged_and_all_others_routed(vm: Vm) -> None:
    """The switch forwards a frame within a VLAN as it is; every router takes one from its time to live."""
    plan = plan_of(vm.directory)
    traffic = [
        ping("h1", "192.168.0.20"),
        ping("h2", "192.168.0.3"),
        ping("h3", "10.0.0.1"),
        ping("far", "192.168.0.2"),
    ]
    assert vm.boot(plan, traffic).status == "complete"
    answers = {
        host: (vm.directory / "run" / "logs" / f"ping@{host}.log").read_text() for host in ("h1", "h2", "h3", "far")
    }
    assert {host: text.partition("ttl=")[2].split()[0] for host, text in answers.items()} == {
        "h1": "64",
        "h2": "64",
        "h3": "62",
        "far": "62",
    }


def test_bridged_and_routed_flows_fill_their_lines(vm: Vm) -> None:
    bridged, routed = (
        f"{{kind: long, senders: [{one}], receiver: {other}, stop: 100 ms}}"
        for one, other in (("h1", "h2"), ("far", "h3"))
    )
    assert (
        vm.run(plan_of(vm.directory, experiment(traffic=f"traffic: {{bridged: {bridged}, routed: {routed}}}\n"))).status
        == "complete"
    )
    for goodput in goodputs(vm).values():
        assert 0.97 < goodput / (GBPS * PAYLOAD_OF_WIRE) <= 1
    assert vm.summary()["retransmits"] == 0


def test_a_lone_flow_takes_its_ideal_time(vm: Vm) -> None:
    """Bridged, or over a port channel: the path is that of one member's links."""
    flows = {"bridged": ("h3", 1), "routed": ("far", 5)}
    lines = [
        f"  {name}: {{kind: flows, senders: [h1], receiver: {to}, size: 5 KB, start: {ms} ms}}\n"
        for name, (to, ms) in flows.items()
    ]
    hosts = "hosts: {default: {nic: {gro: off}}}\n"
    text = experiment(traffic="".join([hosts, "traffic:\n", *lines]))
    assert vm.run(plan_of(vm.directory, text)).status == "complete"
    late_ns = {flow["class"]: flow["fct_ns"] - flow["ideal_ns"] for flow in vm.flows()}
    # Less than a microsecond of system calls (images/machine/README.md).
    assert {name: 0 <= late < 1000 for name, late in late_ns.items()} == {"bridged": True, "routed": True}


def test_marks_are_made_at_the_member_port(vm: Vm) -> None:
    """A bridged and a routed sender meet at a host of the VLAN."""
    flows = "traffic:\n  meet: {kind: long, senders: [h1, far], receiver: h2, stop: 100 ms}\n"
    more = (
        "hosts: {default: {congestion_control: dctcp}}\nprobes: {queues: {interval: 100 us, ports: ['leaf:eth1', "
        "'leaf:eth2']}}\n"
    )
    text = experiment(traffic=flows, buffer="default: {buffer: 100 KB, ecn_threshold: 30 KB}")
    assert vm.run(plan_of(vm.directory, text + more)).status == "complete"
    summary = vm.summary()
    assert summary["queue_marks[leaf:eth2]"] > 0 and summary["queue_marks[leaf:eth1]"] == 0
    assert 30_000 < summary["queue_max_bytes[leaf:eth2]"] <= 100_000


@pytest.mark.parametrize("routing", ["", UNNUMBERED], ids=["static", "unnumbered"])
def test_members_of_a_port_channel_share_the_flows(vm: Vm, routing: str) -> None:
    run_and_ask_for_shares(vm, plan_of(vm.directory, experiment(traffic=MANY) + routing + PROBES))


def run_and_ask_for_shares(vm: Vm, plan: Plan) -> None:
    assert vm.run(plan).status == "complete"
    assert {flow["status"] for flow in vm.flows()} == {"complete"}
    for members in (("leaf:eth5", "leaf:eth6"), ("spine:eth1", "spine:eth2")):
        sent = [sent_packets(vm, port, 0, 200 * MS) for port in members]
        assert 0.4 < sent[0] / sum(sent) < 0.6


def test_a_member_that_is_down_carries_nothing_and_comes_back(vm: Vm) -> None:
    events = (
        "events:\n  cut: {at: 60 ms, link: 'leaf:eth5', action: down}\n  mended: {at: 120 ms, link: 'leaf:eth5', "
        "action: up}\n"
    )
    plan = plan_of(
        vm.directory, experiment(traffic=MANY) + BGP + events + "hosts: {default: {rto_min: 5 ms}}\n" + PROBES
    )
    assert vm.run(plan).status == "complete"
    assert {flow["status"] for flow in vm.flows()} == {"complete"}
    periods = ((65 * MS, 115 * MS), (135 * MS, 195 * MS))
    down, again = ({port: sent_packets(vm, port, *period) for port in ("leaf:eth5", "leaf:eth6")} for period in periods)
    assert down["leaf:eth5"] == 0 and down["leaf:eth6"] > 1000
    assert again["leaf:eth5"] > 500 and again["leaf:eth6"] > 500


def test_static_routes_follow_the_last_member(vm: Vm) -> None:
    events = "events:\n  cut: {at: 20 ms, node: spine, action: down}\n  mended: {at: 40 ms, node: spine, action: up}\n"
    flow = "traffic:\n  one: {kind: long, senders: [h1], receiver: far, stop: 100 ms}\n"
    plan = plan_of(vm.directory, experiment(traffic=flow) + events + "hosts: {default: {rto_min: 5 ms}}\n")
    assert vm.run(plan).status == "complete"
    (goodput,) = goodputs(vm).values()
    # Of 100 ms 80 at most, less the time until the sender tries again.
    assert 0.5 < goodput / (GBPS * PAYLOAD_OF_WIRE) < 0.81


def test_bgp_follows_the_last_member_and_no_other(vm: Vm) -> None:
    """With one link of a port channel the session goes on; without any the other spine has all,
    until a link is back."""
    channels = "{PortChannel1: {members: eth2..eth3}, PortChannel2: {members: eth4..eth5}}"
    groups = f"leaf1: {{port_channels: {channels}, vlans: {{Vlan7: {{members: eth1}}}}}}"
    events = """events:
  one: {at: 50 ms, link: 'leaf1:eth2', action: down}
  both: {at: 100 ms, link: 'leaf1:eth3', action: down}
  back: {at: 500 ms, link: 'leaf1:eth2', action: up}
"""
    flows = "traffic: {many: {kind: flows, senders: [h1], receiver: h2, size: 2 KB, count: 150, interval: 20 ms}}\n"
    text = f"{HEAD}switches:\n  default: {{buffer: 100 KB}}\n  {groups}\n{flows}{events}{UNNUMBERED}"
    assert vm.run(plan_of(vm.directory, text, TWO_SPINES)).status == "complete"
    assert {flow["status"] for flow in vm.flows()} == {"complete"}
    lines = (vm.directory / "run" / "events.jsonl").read_text().splitlines()
    told = [
        (event["event"], event["name"])
        for event in map(json.loads, lines)
        if event["event"] in ("change", "reconverged")
    ]
    assert told == [
        ("change", "one"),
        ("change", "both"),
        ("reconverged", "both"),
        ("change", "back"),
        ("reconverged", "back"),
    ]


def test_a_switch_pauses_the_members_whose_frames_wait(vm: Vm) -> None:
    """What came in by a bridge's port or a bond's member counts in that port's priority group."""
    flows = (
        "traffic: {burst: {kind: flows, senders: [h1, h3, far], receiver: h2, size: 1 MB, start: 5 ms, dscp: cs3}}\n"
    )
    probes = "limit: 5 s\nprobes: {switches: {interval: 100 us}}\n"
    assert vm.run(plan_of(vm.directory, experiment(traffic=flows, buffer=LOSSLESS) + probes)).status == "complete"
    summary = vm.summary()
    assert (summary["queue_drops"], summary["ingress_discards"], summary["retransmits"]) == (0, 0, 0)
    assert summary["pauses_received[h1:eth1]"] == summary["pauses_sent[leaf:eth1]"] > 0
    assert summary["pauses_received[h2:eth1]"] == 0
    for members in (("leaf:eth3", "leaf:eth4"), ("leaf:eth5", "leaf:eth6")):
        # A flow takes one member.
        assert sorted(summary[f"pauses_sent[{port}]"] > 0 for port in members) == [False, True]


def test_members_share_the_flows_and_the_same_run_twice_alike(vm: Vm) -> None:
    plan = plan_of(vm.directory, experiment(traffic=MANY) + BGP + PROBES)
    run_and_ask_for_shares(vm, plan)
    assert vm.run(plan, "second").status == "complete"
    hashes = set()
    for name in ("run", "second"):
        tables: list[Path] = [vm.directory / name / f"{table}.parquet" for table in ("flows", "interfaces")]
        hashes.add(tuple(hashlib.sha256(table.read_bytes()).hexdigest() for table in tables))
    assert len(hashes) == 1
