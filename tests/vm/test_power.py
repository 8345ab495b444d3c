"""Nodes that go down lose their processes; those that come back boot: their daemons start again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_fabrics import link, star
from vm import Vm

from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

pytestmark = pytest.mark.vm

THREE_HOSTS = star(*(link(f"h{number}:eth1", f"s1:eth{number}") for number in (1, 2, 3)), hosts=("h1", "h2", "h3"))
HOSTS = """
title: A host dies
switches: {default: {buffer: 256 KB}}
hosts: {default: {rto_min: 10 ms}}
traffic:
  to: {kind: long, senders: [h1], receiver: h2, stop: 300 ms}
  from: {kind: long, senders: [h2], receiver: h3, stop: 300 ms}
  late: {kind: flows, senders: [h1], receiver: h2, size: 10 KB, start: 250 ms}
  other: {kind: iperf3, senders: [h2], receiver: h3, stop: 300 ms}
events:
  dies: {at: 100 ms, node: h2, action: down}
  boots: {at: 200 ms, node: h2, action: up}
"""


def plan_of(directory: Path, topology: str, experiment: str) -> Plan:
    (directory / "topology.clab.yml").write_text(topology, encoding="utf-8")
    (directory / "experiment.yml").write_text(experiment, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


def events(vm: Vm, kind: str) -> list[dict[str, Any]]:
    lines = (vm.directory / "run" / "events.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == kind]


def test_a_host_that_dies_loses_its_flows_and_does_not_send_them_when_it_is_back(vm: Vm) -> None:
    result = vm.run(plan_of(vm.directory, THREE_HOSTS, HOSTS))
    assert result.status == "complete", result.message
    ended = {event["name"]: event["t_ns"] for event in events(vm, "process")}
    assert 100_000_000 <= ended["replay@h2"] < 101_000_000 <= ended["replay@h1"]
    flows = {flow["class"]: flow for flow in vm.flows()}
    assert flows["from"]["status"] == flows["other"]["status"] == "failed: EHOSTDOWN"
    # When it is back it knows nothing of what it received; a new flow is refused, as nothing listens there.
    assert flows["to"]["status"] == "failed: ECONNRESET"
    assert flows["late"]["status"] == "failed: ECONNREFUSED"
    # What h2 had sent before, 100 ms of its line at most, and nothing after it is back. h3 hears nothing of its death.
    line_bytes = 1e9 / 8 * 0.1 * 1448 / 1538
    assert 0.95 * line_bytes < flows["from"]["bytes"] + flows["other"]["bytes"] <= line_bytes


def test_a_switch_that_boots_starts_its_daemons_and_has_its_routes_again(vm: Vm) -> None:
    topology = star(
        link("h1:eth1", "s1:eth1"), link("s1:eth2", "s2:eth1"), link("h2:eth1", "s2:eth2"), switches=("s1", "s2")
    )
    experiment = """
title: A switch dies
switches: {default: {buffer: 256 KB}}
hosts: {default: {rto_min: 10 ms}}
routing: {protocol: bgp-numbered}
traffic: {messages: {kind: flows, senders: [h1], receiver: h2, size: 1 KB, count: 82, interval: 100 ms}}
events:
  dies: {at: 1 s, node: s2, action: down}
  boots: {at: 2 s, node: s2, action: up}
"""
    result = vm.run(plan_of(vm.directory, topology, experiment))
    assert result.status == "complete", result.message
    ended = [
        (event["name"], event["status"], event["t_ns"]) for event in events(vm, "process") if event["t_ns"] < 8 * 10**9
    ]
    assert [(name, status) for name, status, _ in ended] == [("zebra@s2", "signal 9"), ("bgpd@s2", "signal 9")]
    assert all(10**9 <= at_ns < 10**9 + 1_000_000 for *_, at_ns in ended)
    (_, back) = events(vm, "reconverged")
    assert back["name"] == "boots" and back["reconvergence_ns"] > 0
    # The log of the second life follows that of the first.
    assert (vm.directory / "run" / "logs" / "bgpd@s2.log").read_text().count("starting: vty@0") == 2
