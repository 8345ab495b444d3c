"""Collective operations on an idle fabric take what theory says; and what a shared queue pair is to its flows."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from lab_runs import LabRun, run_lab

pytestmark = [pytest.mark.vm, pytest.mark.xdist_group("collectives")]

RANKS = 8
GBPS, DELAY_NS = 100, 500
MTU, AROUND, RETH = 4096, 82, 16
PACKETS = 64
"""Of a rank's share of an operation."""
SIZE = RANKS * PACKETS * MTU
HEAD = f"""
title: Collectives on an idle fabric
links: {{rate: {GBPS} Gbps, delay: {DELAY_NS} ns, mtu: 4200}}
switches: {{default: {{pools: {{all: {{size: 256 MB}}}}, queues: {{default: {{pool: all, alpha: 1}}}}}}}}
hosts: {{default: {{nic: {{clock_error: 0 ppm, roce: {{mtu: {MTU}, congestion_control: none}}}}}}}}
traffic:
"""
SAME = f"kind: collective, ranks: h1..h{RANKS}, size: {SIZE} B, transport: roce"
OPERATIONS = {
    "ring": "operation: all-reduce, iterations: 3",
    "halving": "operation: all-reduce, algorithm: halving-doubling",
    "gather": "operation: all-gather",
    "scatter": "operation: reduce-scatter, algorithm: halving-doubling",
    "exchange": "operation: all-to-all",
    "broadcast": "operation: broadcast",
    "spread": "operation: broadcast, buckets: 2, iterations: 2",
    "chain": "operation: reduce, iterations: 2",
    "rooted": "operation: reduce, algorithm: direct",
    "gathered": "operation: gather, iterations: 2",
    "scattered": "operation: scatter",
    "overlap": "operation: all-reduce, buckets: 4, compute: 2 ms",
    "servers": "operation: all-reduce, algorithm: hierarchical, server: {ranks: 2, rate: 800 Gbps, latency: 1 us}",
    "stages": "operation: pipeline, chunks: 4, compute: 1 ms",
}


def transfer_ns(packets: int) -> float:
    """Return what a WRITE of so many full packets takes from host to host through one switch."""
    frame = MTU + AROUND
    return 2 * DELAY_NS + 8 * (packets * frame + RETH + frame) / GBPS


def lab(directory: Path, operations: dict[str, str]) -> Path:
    directory.mkdir()
    hosts = [f"h{rank}" for rank in range(1, RANKS + 1)]
    lines = [
        "name: star",
        "topology:",
        "  nodes:",
        "    s1: {kind: linux, image: 'fabriclab/switch:latest', labels: {fabriclab.role: switch}}",
    ]
    lines += [
        f"    {host}: {{kind: linux, image: 'fabriclab/host:latest', labels: {{fabriclab.role: host}}}}"
        for host in hosts
    ]
    lines += [
        "  links:",
        *(f'    - endpoints: ["{host}:eth1", "s1:eth{at}"]' for at, host in enumerate(hosts, start=1)),
    ]
    (directory / "topology.clab.yml").write_text("\n".join(lines) + "\n")
    traffic = "".join(
        f"  {name}: {{{SAME}, {words}, start: {40 * place} ms}}\n"
        for place, (name, words) in enumerate(operations.items())
    )
    (directory / "experiment.yml").write_text(HEAD + traffic)
    return directory


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LabRun:
    directory = tmp_path_factory.mktemp("collectives")
    return run_lab(directory, str(lab(directory / "lab", OPERATIONS)))


def times(run: LabRun, name: str) -> list[int]:
    table = pl.read_parquet(run.directory / "collectives.parquet")
    return table.filter(pl.col("traffic") == name)["time_ns"].to_list()


def test_each_takes_what_its_formula_says(run: LabRun) -> None:
    """Steps times (latency + share / rate), to 0.1 %."""
    step_ns = transfer_ns(PACKETS)
    halves_ns = sum(transfer_ns(PACKETS * distance) for distance in (4, 2, 1))
    expected = {
        "ring": 2 * (RANKS - 1) * step_ns,
        "halving": 2 * halves_ns,
        "gather": (RANKS - 1) * step_ns,
        "scatter": halves_ns,
        "broadcast": (RANKS - 1) * transfer_ns(RANKS * PACKETS),
        "chain": (RANKS - 1) * transfer_ns(RANKS * PACKETS),
    }
    for name, time_ns in expected.items():
        assert times(run, name) == pytest.approx([time_ns] * len(times(run, name)), rel=1e-3), name
    assert len(times(run, "ring")) == 3


def test_an_exchange_keeps_every_line_busy(run: LabRun) -> None:
    """All of a rank's transfers leave its line one after the other: seven shares and the latency of one packet."""
    line_ns = 8 * (RANKS - 1) * (PACKETS * (MTU + AROUND) + RETH) / GBPS
    assert times(run, "exchange") == pytest.approx([line_ns + transfer_ns(0)], rel=1e-3)


def test_a_root_sends_or_receives_one_part_after_another(run: LabRun) -> None:
    """Its line is busy all the time: with the parts of all others, whole or divided, and the latency of one packet."""
    for name, packets in (("rooted", RANKS * PACKETS), ("gathered", PACKETS), ("scattered", PACKETS)):
        line_ns = 8 * (RANKS - 1) * (packets * (MTU + AROUND) + RETH) / GBPS
        found = times(run, name)
        assert found == pytest.approx([line_ns + transfer_ns(0)] * len(found), rel=1e-3), name
    assert len(times(run, "gathered")) == len(times(run, "chain")) == 2


def test_the_root_of_a_broadcast_sends_bucket_after_bucket(run: LabRun) -> None:
    """The second half begins when the second rank has the first; the chain hands both on."""
    half_ns = transfer_ns(RANKS * PACKETS // 2)
    assert times(run, "spread") == pytest.approx([RANKS * half_ns] * 2, rel=1e-3)


def test_buckets_overlap_the_computation(run: LabRun) -> None:
    """Three of four buckets are reduced while the last is computed; the job is the computation and one bucket."""
    bucket_ns = 2 * (RANKS - 1) * transfer_ns(PACKETS // 4)
    assert run.metrics()["job_ns[overlap]"] == pytest.approx(1.5e6 + bucket_ns, rel=1e-3)


def test_servers_reduce_within_before_and_after(run: LabRun) -> None:
    """A ring of four servers for each of two places, of half of the data; within servers by 800 Gbps."""
    inside_ns = 8 * SIZE // 2 / 800 + 1000
    between_ns = 2 * 3 * transfer_ns(SIZE // 2 // 4 // MTU)
    assert times(run, "servers") == pytest.approx([2 * inside_ns + between_ns], rel=1e-3)


def test_a_pipeline_fills_and_drains(run: LabRun) -> None:
    """Micro-batches move on each millisecond; the first forwards through seven stages, the last back likewise."""
    hand_ns = transfer_ns(RANKS * PACKETS)
    forwards_ns = 7 * hand_ns + 6 * 1e6 + 3 * 1e6
    backwards_ns = 7 * hand_ns + 6 * 1e6 + 3 * 1e6
    turn_ns = 2e6
    assert times(run, "stages") == pytest.approx([forwards_ns + turn_ns + backwards_ns], rel=1e-3)


def test_ratios_and_bandwidths_follow(run: LabRun) -> None:
    metrics = run.metrics()
    assert metrics["flows_complete"] == metrics["flows"]
    for name in (
        "ring",
        "halving",
        "gather",
        "scatter",
        "exchange",
        "broadcast",
        "spread",
        "chain",
        "rooted",
        "gathered",
        "scattered",
        "servers",
        "stages",
    ):
        assert metrics[f"collective_ratio[{name}]"] == pytest.approx(1, abs=1e-3), name
    (time_ns,) = times(run, "exchange")
    assert metrics["algorithm_bps[exchange]"] == pytest.approx(8e9 * SIZE / time_ns)
    assert metrics["bus_bps[exchange]"] == pytest.approx(7 / 8 * 8e9 * SIZE / time_ns)
    assert "bus_bps[stages]" not in metrics or metrics["bus_bps[stages]"] is None


def test_two_runs_are_the_same_and_tcp_carries_it_too(tmp_path: Path) -> None:
    words = {"ring": "operation: all-reduce, channels: 2, chunks: 3, jitter: 100 us, iterations: 2"}
    place = lab(tmp_path / "lab", words)
    first, second = (run_lab(tmp_path, str(place), out=name) for name in ("one", "two"))
    for name in ("flows.parquet", "collectives.parquet"):
        assert (first.directory / name).read_bytes() == (second.directory / name).read_bytes()
    tcp = run_lab(tmp_path, str(place), "traffic.ring.transport=tcp", out="tcp").metrics()
    assert tcp["flows_complete"] == tcp["flows"] == 2 * 14 * RANKS * 6
    assert tcp["collective_ratio[ring]"] > 1
