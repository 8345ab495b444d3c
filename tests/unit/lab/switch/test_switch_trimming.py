"""Packet trimming of a lab's switches and NICs: from what is written to the plan, the machine's words, and warnings."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.compile import compile_node, compile_sampler, compiled_flows, shortfalls
from fabriclab.compile.switch_port import compile_buffer_change
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.switch import SwitchPort, SwitchQueue, Trimming
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.topologies import star, topology_text

POOLS = "pools: {all: {size: 1 MB}}"
QUEUES = "queues: {3: {limit: 30 KB, discard: trim}}"
FLOW = "traffic: {one: {kind: flows, senders: [h1], receiver: h2, size: 9 KB, transport: roce}}\n"


def plan_of(directory: Path, switches: str, roce: str = "{}") -> Plan:
    directory.mkdir(exist_ok=True)
    topology = star("lab", hosts=2, rate_bps=10**10, delay_ns=1_000, mtu_bytes=1500)
    (directory / "topology.clab.yml").write_text(topology_text(topology))
    hosts = f"hosts: {{default: {{nic: {{roce: {roce}}}}}}}\n"
    (directory / "experiment.yml").write_text(f"title: T\nswitches: {{default: {{{switches}}}}}\n{hosts}{FLOW}")
    return resolve_plan(parse_lab(directory), {})


def port_of(plan: Plan, number: int = 1) -> SwitchPort:
    found = plan.node("s1").ports[number - 1].switch_port
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("written", "trimming", "words"),
    [
        ("{dscp: 48}", Trimming(size_bytes=128, dscp=48), "trimming 128 48 dynamic"),
        ("{dscp: cs6, size: 256 B, queue: 6}", Trimming(size_bytes=256, dscp=48, queue=6), "trimming 256 48 6"),
        ("{dscp: 10, queue: dynamic}", Trimming(size_bytes=128, dscp=10), "trimming 128 10 dynamic"),
    ],
)
def test_what_is_written_comes_to_the_machine(tmp_path: Path, written: str, trimming: Trimming, words: str) -> None:
    plan = plan_of(tmp_path, f"{POOLS}, {QUEUES}, trimming: {written}")
    port = port_of(plan)
    assert port.trimming == trimming
    assert [queue.index for queue in port.queues if queue.trims] == [3]
    line = next(line for line in compile_node(plan.node("s1"), plan).tc.splitlines() if "dev eth2" in line)
    assert f" {words} " in line
    assert line.split(" queue 3 ")[1].split(" queue ")[0].split()[-1] == "trim"
    assert (
        plan.trims_packets
        and "trimming" in compile_sampler(plan, compiled_flows(plan, tmp_path))["switches"]["outputs"]
    )


def test_the_queue_of_trimmed_packets_has_a_limit_though_no_dscp_leads_to_it(tmp_path: Path) -> None:
    maps = "maps: {tc_to_queue: {0..7: 3}}"
    plan = plan_of(tmp_path, f"{POOLS}, {QUEUES}, {maps}, trimming: {{dscp: 48, queue: 6}}")
    queue = next(queue for queue in port_of(plan).queues if queue.index == 6)
    assert (queue.account.pool, queue.account.alpha_log) == ("all", 0)


def test_a_port_may_have_its_own_or_none(tmp_path: Path) -> None:
    ports = "ports: {eth1: {trimming: {dscp: 10}}, eth2: {trimming: none, queues: {3: {discard: drop}}}}"
    plan = plan_of(tmp_path, f"{POOLS}, {QUEUES}, trimming: {{dscp: 48, size: 256 B}}, {ports}")
    assert port_of(plan, 1).trimming == Trimming(size_bytes=256, dscp=10)
    assert port_of(plan, 2).trimming is None


def test_a_plan_without_it_is_what_it_was() -> None:
    queue = SwitchQueue(index=0)
    assert "trims" not in queue.model_dump() and "trimming" not in SwitchPort(queues=(queue,)).model_dump()
    assert SwitchQueue(index=0, trims=True).model_dump()["trims"] is True


def test_it_says_so_where_nothing_is_trimmed(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"{POOLS}, trimming: {{dscp: 48}}")
    switch = plan.node("s1").switch
    assert switch is not None
    assert "trimming: nothing is trimmed, because no queue has discard: trim" in switch.notes


def test_a_nic_that_would_drop_them_is_warned_of(tmp_path: Path) -> None:
    switches = f"{POOLS}, {QUEUES}, trimming: {{dscp: 48}}"
    said = "RoCE with DSCP 26 is trimmed at s1, but the NIC does not know trimmed packets and drops them"
    assert any(said in warning for warning in plan_of(tmp_path, switches).warnings)
    knowing = plan_of(tmp_path, switches, "{trimmed: nack}")
    assert not any("is trimmed" in warning for warning in knowing.warnings)
    nic = compile_node(knowing.node("h1"), knowing).tc
    assert " trimmed control dcqcn " in nic


def test_containers_drop_whole_packets(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"{POOLS}, {QUEUES}, trimming: {{dscp: 48}}")
    assert any(
        "discard trim; instead: packets that there is no room for are dropped whole" in one for one in shortfalls(plan)
    )


def test_it_can_be_taken_away_while_a_lab_runs(tmp_path: Path) -> None:
    before = plan_of(tmp_path / "before", f"{POOLS}, {QUEUES}, trimming: {{dscp: 48}}").node("s1")
    after = plan_of(tmp_path / "after", f"{POOLS}, queues: {{3: {{limit: 30 KB}}}}").node("s1")
    (line,) = compile_buffer_change((before, before.ports[0]), (after, after.ports[0]))
    assert " trimming none " in line and line.endswith("queue 3 pool 0 limit 30000 dwrr 1538")
