"""TCP connections whose samples the kernel takes itself have the rows of a sampler that asks for each."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from small_fabrics import link, plan_of, star
from vm import Job, Vm

from fabriclab.compile import compile_job, compiled_flows

pytestmark = pytest.mark.vm
MS = 1_000_000
TOPOLOGY = star(link("h1:eth1", "s1:eth1"), link("h2:eth1", "s1:eth2"))
EXPERIMENT = """
title: Connections
links: {delay: 100 us}
switches: {default: {buffer: 64 KB}}
hosts: {default: {mptcp: {subflows: 2}}}
traffic:
  plain: {kind: long, senders: [h1], receiver: h2, start: 7.3 us, stop: 150 ms}
  split: {kind: long, senders: [h1], receiver: h2, start: 3.1 us, stop: 200 ms, transport: mptcp}
probes: {tcp: {interval: 1 ms}}
"""


def asking() -> Job:
    """Return a sampler in a node: its process has PIDs of its own, so it asks for each sample."""
    tcp = {"interval_ns": MS, "output": "/job/raw/asked.csv", "nodes": [{"name": "h1"}]}
    config = json.dumps({"format": "fabriclab-sampler-1", "tcp": tcp})
    lines = [
        f"echo '{config}' >/tmp/asks.json",
        "/tools/sampler --config /tmp/asks.json &",
        "sleep 0.3",
        "kill -TERM $!",
        "wait $!",
    ]
    return {"name": "asks", "node": "h1", "argv": ["/bin/sh", "-c", "\n".join(lines)]}


def rows(run: Path, name: str) -> list[dict[str, str]]:
    lines = (run / "raw" / name).read_text().splitlines()[1:]
    return [row for row in csv.DictReader(lines) if int(row["time_ns"]) < 300 * MS]


def test_recorded_connections_are_those_that_a_sampler_asks_for(vm: Vm, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TOPOLOGY, EXPERIMENT)
    traffic = compile_job(plan, compiled_flows(plan, vm.directory))["traffic"]
    assert vm.boot(plan, [*traffic, asking()], sampled=True).status == "complete"
    recorded, asked = (rows(vm.directory / "run", name) for name in ("tcp.csv", "asked.csv"))
    assert len(recorded) > 400
    assert {row["subflow"] for row in recorded} == {"", "0", "1"}
    assert [row for row in recorded if row["node"] == "h1"] == asked
