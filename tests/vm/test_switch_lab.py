"""Labs with a switch whose ports share a buffer, the whole way: two files, plan, machine, tables, metrics."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest
from vm import Vm

from fabriclab.engine.events import Event
from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.topologies import star, topology_text

pytestmark = pytest.mark.vm

GBPS = 10**9
FRAME_BYTES, WIRE_BYTES = 1514, 1538
POOL_BYTES = 400_000
DRAINED_BYTES = GBPS * 10_000 // (8 * 10**9)
"""What a line at 1 Gbps sends in 10 us, the time from one sample to the next."""
MS = 1_000_000

SHARED = """
switches:
  default:
    pools: {shared: {size: 400 KB}}
    queues: {default: {pool: shared, alpha: 1, scheduler: strict}}
"""
LOSSLESS = """
switches:
  default:
    pools: {out: {size: 400 KB}, in: {size: 400 KB}}
    queues: {default: {pool: out, alpha: 1, scheduler: strict}, 3: {pool: out, limit: none}}
    priority_groups: {3: {pool: in, limit: 30 KB, lossless: true, xon: 20 KB}}
    pfc: {priorities: [3]}
"""


def probes(interval: str, *ports: str) -> str:
    """Return the probes of some ports of switches, or of all ports of switches and hosts."""
    only = f", ports: [{', '.join(ports)}]" if ports else ""
    return f"probes: {{switches: {{interval: {interval}{only}}}}}\n"


def in_cast(dscp: str) -> str:
    senders = ", ".join(f"h{number}" for number in range(1, 9))
    return (
        f"traffic: {{burst: {{kind: flows, senders: [{senders}], receiver: h9, size: 500 KB, count: 1, start: 5 ms, "
        f"dscp: {dscp}}}}}\n"
    )


def long_flow(dscp: str, stop: str) -> str:
    return f"traffic: {{long: {{kind: long, senders: [h1], receiver: h2, start: 5 ms, stop: {stop}, dscp: {dscp}}}}}\n"


def plan_of(directory: Path, *experiment: str, hosts: int = 9) -> Plan:
    """Return the plan of hosts around one switch, 1 Gbps and 25 us each."""
    directory.mkdir()
    topology = star("lab", hosts=hosts, rate_bps=GBPS, delay_ns=25_000, mtu_bytes=1500)
    (directory / "topology.clab.yml").write_text(topology_text(topology))
    (directory / "experiment.yml").write_text("".join(["title: T\nlimit: 5 s\n", *experiment]))
    return resolve_plan(parse_lab(directory), {}, None)


def queue_rows(vm: Vm, port: str, queue: int) -> pl.DataFrame:
    table = pl.read_parquet(vm.directory / "run" / "switch_queues.parquet")
    return table.filter((pl.col("port") == port) & (pl.col("queue") == queue)).sort("time_ns")


def test_an_in_cast_fills_what_the_dynamic_threshold_leaves(vm: Vm, tmp_path: Path) -> None:
    assert vm.run(plan_of(tmp_path / "lab", SHARED, probes("10 us", "s1:eth9"), in_cast("0"))).status == "complete"
    share = POOL_BYTES // 2
    watermark = queue_rows(vm, "s1:eth9", 0)["watermark_bytes"].max()
    # A frame comes in while the queue is below what is free, whole.
    assert isinstance(watermark, int) and share <= watermark < share + FRAME_BYTES
    assert vm.summary()["queue_drops[s1:eth9:0]"] > 0


def test_two_saturated_queues_share_the_pool(vm: Vm, tmp_path: Path) -> None:
    """N busy queues hold alpha B / (1 + alpha N) each: two of them a third, with alpha 1."""
    senders = {"h7": "[h1, h2, h3]", "h8": "[h4, h5, h6]"}
    flows = [
        f"  {to}-{n}: {{kind: long, senders: {who}, receiver: {to}, stop: 100 ms}}\n"
        for to, who in senders.items()
        for n in range(8)
    ]
    assert (
        vm.run(
            plan_of(tmp_path / "lab", SHARED, probes("10 us", "s1:eth7", "s1:eth8"), "traffic:\n", *flows, hosts=8)
        ).status
        == "complete"
    )
    rows = [
        queue_rows(vm, port, 0).select("time_ns", "bytes", "dropped_queue_limit") for port in ("s1:eth7", "s1:eth8")
    ]
    both = rows[0].join(rows[1], on="time_ns", how="full", coalesce=True).sort("time_ns").fill_null(strategy="forward")
    refusing = both.filter(
        (pl.col("dropped_queue_limit").diff() > 0) & (pl.col("dropped_queue_limit_right").diff() > 0)
    )
    assert refusing.height > 50
    for column in ("bytes", "bytes_right"):
        off = (refusing[column] - POOL_BYTES / 3).abs().max()
        assert isinstance(off, float) and off <= FRAME_BYTES + DRAINED_BYTES


def test_a_lossless_in_cast_loses_nothing_and_pauses_hosts(vm: Vm, tmp_path: Path) -> None:
    assert vm.run(plan_of(tmp_path / "lossless", LOSSLESS, probes("1 ms"), in_cast("cs3"))).status == "complete"
    lossless = vm.summary()
    assert (lossless["queue_drops"], lossless["ingress_discards"], lossless["retransmits"]) == (0, 0, 0)
    assert lossless["flows_complete"] == 8 and lossless["headroom_max_bytes[s1:in]"] > 0
    for number in range(1, 9):
        assert lossless[f"pauses_received[h{number}:eth1]"] == lossless[f"pauses_sent[s1:eth{number}]"] > 0
        assert lossless[f"paused_ns[h{number}:eth1:3]"] > 0 and lossless[f"paused_ns[h{number}:eth1:0]"] == 0
    assert vm.run(plan_of(tmp_path / "lossy", LOSSLESS, probes("1 ms"), in_cast("0")), "lossy").status == "complete"
    lossy = vm.summary("lossy")
    assert lossy["queue_drops"] > 0 and lossy["pauses_sent"] == 0


def test_the_same_run_twice(vm: Vm, tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "lab", LOSSLESS, probes("50 us"), in_cast("cs3"))
    tables = ("flows", "switch_queues", "switch_ports", "priority_groups", "pools")
    hashes = set()
    for name in ("first", "second"):
        assert vm.run(plan, name).status == "complete"
        hashes.add(
            tuple(hashlib.sha256((tmp_path / name / f"{table}.parquet").read_bytes()).hexdigest() for table in tables)
        )
    assert len(hashes) == 1


def test_events_change_a_line_and_what_is_queued_stays(vm: Vm, tmp_path: Path) -> None:
    events = """
events:
  slower: {at: 100 ms, link: 's1:eth2', rate: 100 Mbps}
  farther: {at: 200 ms, link: 's1:eth2', delay: 500 us}
  hole: {at: 300 ms, link: 's1:eth2', action: blackhole}
"""
    assert (
        vm.run(
            plan_of(tmp_path / "lab", SHARED, probes("10 us", "s1:eth2"), long_flow("0", "400 ms"), events, hosts=2)
        ).status
        == "complete"
    )
    rows = queue_rows(vm, "s1:eth2", 0)

    def sent(start_ms: int, stop_ms: int) -> int:
        before, after = (rows.filter(pl.col("time_ns") <= end * MS)["sent_packets"][-1] for end in (start_ms, stop_ms))
        return int(after - before)

    # The line has a backlog of full frames all the time.
    assert sent(110, 200) == pytest.approx(90 * MS * 0.1 / (8 * WIRE_BYTES), abs=2)
    assert sent(210, 300) == pytest.approx(90 * MS * 0.1 / (8 * WIRE_BYTES), abs=2)
    ports = (
        pl.read_parquet(vm.directory / "run" / "switch_ports.parquet")
        .filter(pl.col("port") == "s1:eth2")
        .sort("time_ns")
    )
    assert ports.filter(pl.col("time_ns") < 300 * MS)["lost"][-1] == 0 < ports["lost"][-1]
    assert vm.flows()[0]["status"] == "stopped"


def test_a_run_ends_with_its_traffic_and_a_storm_with_the_run(vm: Vm, tmp_path: Path) -> None:
    storm = "events: {storm: {at: 100 ms, node: h2, action: pause-storm, priorities: [3], until: 4 s}}\n"
    # Class 0 is not paused: its flow ends when it has to.
    events: list[Event] = []
    plan = plan_of(tmp_path / "lab", LOSSLESS, probes("1 ms"), long_flow("cs0", "300 ms"), storm, hosts=2)
    result = vm.run(plan, on_event=events.append)
    # A lab ends up to two milliseconds after its traffic.
    assert (result.status, result.virtual_ns // MS) == ("complete", 301)
    # It was under way until then, and let go when it was told to.
    assert vm.summary()["paused_ns[s1:eth2:3]"] == pytest.approx(200 * MS, abs=MS)
    ends = [event.fields["status"] for event in events if event.fields.get("name") == "pause-storm-storm@h2"]
    assert ends == ["exit 0"]


def test_a_pause_storm_stops_its_priority_for_as_long_as_it_lasts(vm: Vm, tmp_path: Path) -> None:
    storm = "events: {storm: {at: 100 ms, node: h2, action: pause-storm, priorities: [3], until: 200 ms}}\n"
    assert (
        vm.run(
            plan_of(tmp_path / "lab", LOSSLESS, probes("10 us", "s1:eth2"), long_flow("cs3", "300 ms"), storm, hosts=2)
        ).status
        == "complete"
    )
    assert vm.summary()["paused_ns[s1:eth2:3]"] == 100 * MS
    rows = queue_rows(vm, "s1:eth2", 3)
    # A frame that has started is finished.
    during = rows.filter(pl.col("time_ns").is_between(100 * MS + 20_000, 200 * MS, closed="left"))
    assert during["sent_packets"].n_unique() == 1
    assert rows["sent_packets"][-1] > during["sent_packets"][-1]
