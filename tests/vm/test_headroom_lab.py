"""Computed headroom against real TCP in both directions, with cells that a small frame does not fill."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from vm import Vm

from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.resolve.switch.findings import checked_ports
from fabriclab.resolve.switch.headroom import cells, full_frames_headroom, headroom_bytes
from fabriclab.topologies import star, topology_text

pytestmark = pytest.mark.vm

CELL_BYTES = 256
EXPERIMENT = """title: T
limit: 5 s
switches:
  default:
    cell: 256 B
    pools: {shared: {size: 60 KB}}
    priority_groups: {3: {lossless: true, alpha: 1/4}}
    pfc: {priorities: [3]}
traffic:
  one: {kind: rounds, senders: [h1, h2, h3], receiver: h4, size: 400 KB, rounds: 3, jitter: 10 us, dscp: cs3}
  two: {kind: rounds, senders: [h2, h3, h4], receiver: h1, size: 400 KB, rounds: 3, jitter: 10 us, dscp: cs3}
  three: {kind: rounds, senders: [h3, h4, h1], receiver: h2, size: 400 KB, rounds: 3, jitter: 10 us, dscp: cs3}
probes: {switches: {interval: 10 us}}
"""


def plan_with(directory: Path, headroom: str, **settings: str) -> Plan:
    directory.mkdir()
    topology = star("lab", hosts=4, rate_bps=10**9, delay_ns=5_000, mtu_bytes=1500)
    (directory / "topology.clab.yml").write_text(topology_text(topology))
    (directory / "experiment.yml").write_text(EXPERIMENT)
    headrooms = {"switches.default.priority_groups.3.headroom": headroom}
    return resolve_plan(parse_lab(directory), {**headrooms, **settings})


def most_headroom(vm: Vm) -> int:
    found = pl.read_parquet(vm.directory / "run" / "priority_groups.parquet")["headroom_bytes"].max()
    assert isinstance(found, int)
    return found


def test_a_pause_waits_for_no_interrupt(vm: Vm, tmp_path: Path) -> None:
    """In 10 ms a host sends a thousand frames, and the headroom has room for about five."""
    plan = plan_with(tmp_path / "lab", "auto", **{"hosts.default.nic.interrupt_delay": "10 ms"})
    assert vm.run(plan).status == "complete"
    assert vm.summary()["ingress_discards"] == 0 < most_headroom(vm)


def test_with_computed_headroom_nothing_is_lost(vm: Vm, tmp_path: Path) -> None:
    """Acknowledgements among the data take a cell each: more than full frames alone would,
    less than the worst mix that is provided for."""
    plan = plan_with(tmp_path / "lab", "auto")
    line = checked_ports(plan.node("s1"), plan)[0].line
    assert vm.run(plan).status == "complete"
    assert vm.summary()["ingress_discards"] == 0
    assert full_frames_headroom(line, CELL_BYTES) < most_headroom(vm) <= headroom_bytes(line, CELL_BYTES, 1)


def test_headroom_for_full_frames_and_one_sent_against_them_is_not_enough_for_tcp(vm: Vm, tmp_path: Path) -> None:
    frame_bytes = cells(1514, CELL_BYTES) * CELL_BYTES
    plan = plan_with(tmp_path / "lab", f"{3 * frame_bytes} B")
    assert (
        full_frames_headroom(checked_ports(plan.node("s1"), plan)[0].line, CELL_BYTES) + frame_bytes == 3 * frame_bytes
    )
    assert any("the class can lose frames" in warning for warning in plan.warnings)
    assert vm.run(plan).status == "complete"
    assert vm.summary()["ingress_discards"] > 0
