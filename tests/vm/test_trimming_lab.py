"""Labs with packet trimming, the whole way: two files, plan, machine, counters, audit, capture."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from pcapng_reading import read_packets
from vm import Vm

from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.topologies import star, topology_text

pytestmark = pytest.mark.vm

GBPS = 10**9
SIZE = 128
"""Bytes that remain of a trimmed frame."""
TRIMS = """
switches:
  default:
    pools: {shared: {size: 1 MB}}
    trimming: {size: 128 B, dscp: cs6, queue: 6}
    queues: {default: {limit: 30 KB, weight: 9, discard: trim}, 6: {limit: 300 KB, weight: 1, discard: drop}}
"""
DROPS = TRIMS.replace("discard: trim", "discard: drop")
SENDERS, MESSAGE = 8, 64 * 1024
FRAME = 14 + 20 + 8 + 12 + 1024 + 4
PROBES = 'probes: {switches: {interval: 10 us}, pcap: {ports: ["s1:eth9"]}}\n'


def plan_of(directory: Path, *experiment: str, rate_bps: int = 10 * GBPS) -> Plan:
    """Return the plan of eight hosts that send to a ninth at one instant."""
    directory.mkdir()
    topology = star("lab", hosts=SENDERS + 1, rate_bps=rate_bps, delay_ns=1_000, mtu_bytes=1500)
    (directory / "topology.clab.yml").write_text(topology_text(topology))
    (directory / "experiment.yml").write_text("".join(["title: T\nlimit: 5 s\n", *experiment]))
    return resolve_plan(parse_lab(directory), {}, None)


def in_cast(**others: str) -> str:
    senders = ", ".join(f"h{number}" for number in range(1, SENDERS + 1))
    words = "".join(f", {key}: {value}" for key, value in others.items())
    return (
        f"traffic: {{burst: {{kind: flows, senders: [{senders}], receiver: h9, size: {MESSAGE} B, start: 5 ms, "
        f"jitter: 0 s{words}}}}}\n"
    )


def roce(trimmed: str) -> str:
    nic = (
        f"{{loss_recovery: selective-repeat, trimmed: {trimmed}, timeout: 4 ms, congestion_control: none, window: 16}}"
    )
    return f"hosts: {{default: {{nic: {{clock_error: 0 ppm, roce: {nic}}}}}}}\n"


def audit(vm: Vm, name: str = "run") -> dict[str, dict[str, int]]:
    manifest = json.loads((vm.directory / name / "manifest.json").read_text())
    assert manifest["audit"]["balanced"] is True
    lost: dict[str, dict[str, int]] = manifest["audit"]["lost"]
    return lost


def longest_ns(vm: Vm, name: str = "run") -> int:
    return max(int(flow["fct_ns"]) for flow in vm.flows(name))


def test_every_trimmed_packet_of_roce_is_sent_again_and_nobody_times_out(vm: Vm, tmp_path: Path) -> None:
    assert (
        vm.run(plan_of(tmp_path / "lab", TRIMS, roce("nack"), PROBES, in_cast(transport="roce"))).status == "complete"
    )
    summary, lost = vm.summary(), audit(vm)
    trimmed = summary["trimmed_packets"]
    assert trimmed == summary["trimmed_packets[s1:eth9:3]"] > 100
    assert summary["trimmed_drops"] == summary["queue_drops"] == 0
    assert summary["retransmits"] == trimmed
    assert summary["timeouts"] == 0
    assert lost.get("h9:eth1", {}) == {}, "the NIC knows them"
    # What the line to h9 sends: all data once, and the headers; all that time it is busy.
    data = SENDERS * MESSAGE // 1024 * (FRAME + 24)
    expected = (data + trimmed * (SIZE + 24)) * 8 / 10
    assert longest_ns(vm) == pytest.approx(expected, rel=0.03)
    packets = [
        packet
        for packet in read_packets((vm.directory / "run" / "pcap/s1-eth9.pcapng").read_bytes())
        if packet.data[15] >> 2 == 48
    ]
    assert len(packets) == trimmed
    assert {len(packet.data) for packet in packets} == {SIZE}


def test_a_nic_that_does_not_know_them_waits_for_its_timeout(vm: Vm, tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "lab", TRIMS, roce("drop"), PROBES, in_cast(transport="roce"))
    assert any("does not know trimmed packets" in warning for warning in plan.warnings)
    assert vm.run(plan).status == "complete"
    assert sum(audit(vm)["h9:eth1"].values()) == vm.summary()["trimmed_packets"]
    assert longest_ns(vm) > 4_000_000


def test_trimmed_packets_of_tcp_are_lost_in_the_host_that_receives_them(vm: Vm, tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "lab", TRIMS, "probes: {switches: {interval: 1 ms}}\n", in_cast(), rate_bps=GBPS)
    assert vm.run(plan).status == "complete"
    summary, lost = vm.summary(), audit(vm)
    assert summary["trimmed_packets"] > 0 == summary["trimmed_drops"]
    assert lost["h9"]["TCP_CSUM"] == summary["trimmed_packets"]
    assert summary["flows_complete"] == SENDERS
    table = pl.read_parquet(vm.directory / "run" / "trimming.parquet")
    assert table["trimmed_packets"].max() == summary["trimmed_packets"]


def test_a_run_that_trims_nothing_has_no_table_of_it(vm: Vm, tmp_path: Path) -> None:
    text = DROPS.replace("    trimming: {size: 128 B, dscp: cs6, queue: 6}\n", "")
    assert (
        vm.run(plan_of(tmp_path / "lab", text, "probes: {switches: {interval: 1 ms}}\n", in_cast())).status
        == "complete"
    )
    assert not (vm.directory / "run" / "trimming.parquet").exists()
    assert vm.summary()["trimmed_packets"] is None
    assert not any(
        "trimming" in note for note in json.loads((vm.directory / "run" / "summary.json").read_text())["notes"]
    )


def test_with_credit_an_in_cast_takes_what_its_data_take(vm: Vm, tmp_path: Path) -> None:
    """Eight senders begin with 8 packets each; from then on packets come as fast as the line takes them."""
    hosts = roce("nack").replace(
        "congestion_control: none, window: 16", "congestion_control: credit, credit: {first: 8 KB}"
    )
    assert vm.run(plan_of(tmp_path / "lab", TRIMS, hosts, PROBES, in_cast(transport="roce"))).status == "complete"
    summary = vm.summary()
    assert summary["retransmits"] == summary["trimmed_packets"] < SENDERS * 8
    assert summary["timeouts"] == 0
    data = SENDERS * MESSAGE // 1024 * (FRAME + 24) * 8 / 10
    assert longest_ns(vm) == pytest.approx(data, rel=0.05)
