"""Trainings converted from Chakra traces run as their dependencies say, on a path that is idle otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from chakra_traces import RankWriter, data_parallel, pipeline, write_ranks
from vm import Vm

from fabriclab.api.conversion import convert
from fabriclab.formats.trace import awaited
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

pytestmark = pytest.mark.vm

RANKS = 4
ACCURACY = 1e-3
TOPOLOGY = """
name: star
topology:
  kinds: {linux: {image: 'fabriclab/host:latest'}}
  nodes:
    s1: {kind: linux, image: 'fabriclab/switch:latest', labels: {fabriclab.role: switch}}
    h1: {kind: linux, labels: {fabriclab.role: host}}
    h2: {kind: linux, labels: {fabriclab.role: host}}
    h3: {kind: linux, labels: {fabriclab.role: host}}
    h4: {kind: linux, labels: {fabriclab.role: host}}
  links:
"""
LINK = "    - {endpoints: ['h%d:eth1', 's1:eth%d'], vars: {rate: 10 Gbps, delay: 3 us}}\n"
EXPERIMENT = """
title: A training
switches: {default: {pools: {all: {size: 4 MB}}, queues: {default: {pool: all, alpha: 4}}}}
hosts: {default: {nic: {clock_error: 0 ppm, roce: {mtu: 1024}}}}
traffic:
  training: {kind: trace, file: trace.csv}
"""


def run_training(vm: Vm, ranks: Sequence[RankWriter]) -> pl.DataFrame:
    """Run a training over RoCE; return its flows."""
    lab = vm.directory
    trace = convert(write_ranks(vm.directory / "et", ranks), "chakra", transport="roce")
    (lab / "trace.csv").write_text("".join(trace.lines()))
    links = "".join(LINK % (host, host) for host in range(1, RANKS + 1))
    (lab / "topology.clab.yml").write_text(TOPOLOGY + links)
    (lab / "experiment.yml").write_text(EXPERIMENT)
    assert vm.run(resolve_plan(parse_lab(lab), {})).status == "complete"
    flows = pl.DataFrame(vm.flows())
    assert flows["status"].unique().to_list() == ["complete"]
    return flows


def check_waits(directory: Path, flows: pl.DataFrame) -> None:
    """Check that each flow starts, to the nanosecond, when all that it waits for is complete, and the delay over."""
    trace = pl.read_csv(directory / "trace.csv", skip_lines=1, infer_schema=False)
    rows = trace.select(pl.col("flow").cast(pl.Int64), "group", "after", written_ns=pl.col("start_ns").cast(pl.Int64))
    joined = rows.join(flows.select(pl.col("flow").cast(pl.Int64), "start_ns", "end_ns"), on="flow")
    ends: dict[str, int] = {"": 0}
    for group, end_ns in joined.select("group", "end_ns").iter_rows():
        for name in (group, group.rpartition("/")[0]):
            ends[name] = max(ends.get(name, 0), end_ns)
    for after, written_ns, start_ns in joined.select("after", "written_ns", "start_ns").iter_rows():
        waits = [ends[wait.group] + wait.delay_ns for wait in awaited(after or "")]
        assert start_ns == written_ns + max(waits, default=0), after


def test_overlapped_all_reduces_take_what_max_plus_algebra_says(vm: Vm) -> None:
    """A ring all-reduce of 4 MB among 4 ranks has 6 steps of 1 MB, which overlap with the backward pass."""
    layers, forward_ns, backward_ns, iterations = 3, 1_000_000, 2_000_000, 2
    ranks = data_parallel(
        RANKS, layers, iterations, forward=forward_ns // 1000, backward=backward_ns // 1000, bucket=4_000_000
    )
    flows = run_training(vm, ranks)
    check_waits(vm.directory, flows)
    step_ns = flows["ideal_ns"].unique().to_list()
    assert len(step_ns) == 1
    done = 0.0
    collective = pl.col("group").str.split("/").list.get(1)
    ended = dict(flows.group_by(collective).agg(pl.col("end_ns").max()).iter_rows())
    for iteration in range(iterations):
        computed = done + layers * forward_ns
        for layer in range(layers):
            computed += backward_ns
            done = max(computed, done) + 6 * step_ns[0]
            name = f"c{iteration * layers + layer}"
            assert ended[name] == pytest.approx(done, rel=ACCURACY), name


def test_a_pipeline_takes_what_max_plus_algebra_says(vm: Vm) -> None:
    """GPipe of 4 stages and 3 micro-batches: the last gradient arrives after 2 x (stages + batches - 1) passes."""
    batches, forward_ns, backward_ns = 3, 1_000_000, 2_000_000
    ranks = pipeline(RANKS, batches, forward=forward_ns // 1000, backward=backward_ns // 1000, size_bytes=500_000)
    flows = run_training(vm, ranks)
    check_waits(vm.directory, flows)
    sent_ns = flows["ideal_ns"][0]
    # A micro-batch takes less time on the way than any pass, so the first one sets the pace and others follow it.
    last_forward = (RANKS + batches - 1) * forward_ns + (RANKS - 1) * sent_ns
    last_arrives = last_forward + batches * backward_ns + (RANKS - 2) * backward_ns + (RANKS - 1) * sent_ns
    assert flows["end_ns"].max() == pytest.approx(last_arrives, rel=ACCURACY)
