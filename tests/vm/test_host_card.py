"""A host's NIC (`hosts.X.nic`) in the machine: exact times, bursts, merged segments, interrupts that wait."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest
from lone_flows import PAYLOAD_BYTES, lone_flows
from sample_plans import CUBIC, DCTCP, GBPS, changed, star
from vm import Job, Vm

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Nic, Queue
from fabriclab.formats.plan.traffic import LongTraffic, Traffic
from fabriclab.lab.hosts.nic import WrittenNic
from fabriclab.lab.reading.problems import Problems
from fabriclab.qdiscs.fq import Fq
from fabriclab.resolve.nic import port_of_nic, resolve_nic

pytestmark = pytest.mark.vm

DELAY_US = 20
READINGS_NS = 8_000
"""Readings of the clock by programs, 256 ns each."""
AT_ONCE = {"gro": False, "interrupt_delay_us": 0, "receive_queues": 1}
PLAIN = resolve_nic(WrittenNic(), Queue(limit_bytes=15_000_000)).model_copy(update=AT_ONCE)
"""Exact times, bursts of 64 KiB, nothing in front; TCP sees each frame at once."""
LONG = LongTraffic(name="long", senders=("h1",), receiver="h2", start_ns=1_000_000, stop_ns=101_000_000, stagger_ns=0)


def with_nics(plan: Plan, nic: Nic) -> Plan:
    """Return the plan with that NIC at every host."""
    switch_port = port_of_nic(nic, None, WrittenNic(), Problems())
    changes = {"queue": None, "switch_port": switch_port, "nic": nic}
    nodes = tuple(
        node.model_copy(update={"ports": tuple(port.model_copy(update=changes) for port in node.ports)})
        if node.role == "host"
        else node
        for node in plan.nodes
    )
    return plan.model_copy(update={"nodes": nodes})


def pair(*traffic: Traffic, rate_bps: int = GBPS, interfaces: bool = False) -> Plan:
    """Return two hosts at a switch."""
    plan = star(2, rate_bps=rate_bps, transport=CUBIC, traffic=traffic, queue=Queue(limit_bytes=10_000_000))
    if not interfaces:
        return plan
    probes = plan.probes.model_copy(update={"interface_interval_ns": 10_000_000})
    return plan.model_copy(update={"probes": probes})


def test_the_first_frame_takes_its_time_too(vm: Vm) -> None:
    """A NIC sends a lone frame bit by bit, on an idle link too, and the ideal knows."""
    traffic = (lone_flows("frame", PAYLOAD_BYTES, 10_000_000), lone_flows("window", 10 * PAYLOAD_BYTES, 30_000_000))
    assert vm.run(with_nics(pair(*traffic), PLAIN)).status == "complete"
    assert len(vm.flows()) == 4
    for flow in vm.flows():
        assert flow["ideal_ns"] <= flow["fct_ns"] <= flow["ideal_ns"] + READINGS_NS + 90 * 8
        # Three times two links of 25 us, and at 8 ns a byte SYN and SYN-ACK, 98 bytes each on the wire, and each frame.
        frames = 1 if flow["class"] == "frame" else 10
        assert flow["ideal_ns"] == 6 * 25_000 + (2 * 98 + frames * 1538) * 8


def with_clocks(plan: Plan, **ppm: int) -> Plan:
    """Return the plan with clocks of hosts' NICs that are off by so much."""
    nodes = []
    for node in plan.nodes:
        if node.name in ppm:
            (port,) = node.ports
            nic = (port.nic or PLAIN).model_copy(update={"clock_ppb": 1_000 * ppm[node.name]})
            node = node.model_copy(update={"ports": (port.model_copy(update={"nic": nic}),)})
        nodes.append(node)
    return plan.model_copy(update={"nodes": tuple(nodes)})


def test_a_nic_whose_clock_is_off_sends_so_much_more_or_less(vm: Vm) -> None:
    second = replace(LONG, stop_ns=LONG.start_ns + 10**9)
    sent = {}
    for off in (-100, 0, 100):
        plan = with_clocks(with_nics(pair(second, interfaces=True), PLAIN), h1=off)
        assert vm.run(plan, f"off{off}").status == "complete"
        interfaces = pl.read_parquet(vm.directory / f"off{off}" / "interfaces.parquet")
        sent[off] = interfaces.filter(port="h1:eth1", time_ns=10**9)["tx_packets"].item()
    frames = 10**9 / (1538 * 8)
    assert sent[100] - sent[0] == pytest.approx(100e-6 * frames, abs=1.5)
    assert sent[0] - sent[-100] == pytest.approx(100e-6 * frames, abs=1.5)


def test_without_errors_of_clocks_one_flow_can_take_a_whole_buffer(vm: Vm) -> None:
    """The flow that fills its host's line at the very rate of the switch's port: each of its frames finds the place
    that one has just left. Where clocks differ, other flows find one too, sooner or later."""
    traffic = replace(LONG, senders=("h1", "h2"), receiver="h3", stop_ns=4 * 10**9)
    plan = with_nics(star(3, transport=CUBIC, traffic=(traffic,), queue=Queue(limit_bytes=700_000)), PLAIN)
    shares = {}
    for name, of in {"equal": plan, "off": with_clocks(plan, h1=20, h2=-20, h3=5)}.items():
        assert vm.run(of, name).status == "complete"
        received = sorted(flow["bytes"] for flow in vm.flows(name))
        shares[name] = received[0] / sum(received)
    assert shares["equal"] < 0.025 and shares["off"] > 2 * shares["equal"], shares


def test_an_interrupt_comes_so_long_after_the_frame(vm: Vm) -> None:
    nic = PLAIN.model_copy(update={"gro": True, "interrupt_delay_us": DELAY_US})
    assert vm.run(with_nics(pair(lone_flows("frame", PAYLOAD_BYTES, 10_000_000)), nic)).status == "complete"
    for flow in vm.flows():
        # SYN and SYN-ACK wait for one each. The data share one with the handshake's last acknowledgement, 90 bytes on
        # the wire right before their 1,538.
        waited_ns = 3 * DELAY_US * 1_000 - (1538 - 90) * 8
        assert waited_ns <= flow["fct_ns"] - flow["ideal_ns"] <= waited_ns + READINGS_NS


def acknowledgements(vm: Vm, nic: Nic, name: str) -> float:
    """Return how many frames the receiver of a long flow sends for each that it gets, at 10 Gbps."""
    plan = with_nics(pair(LONG, rate_bps=10 * GBPS, interfaces=True), nic)
    assert vm.run(plan, name).status == "complete"
    counted = pl.read_parquet(vm.directory / name / "interfaces.parquet").filter(pl.col("port") == "h2:eth1")
    last = counted.sort("time_ns").tail(1)
    return float(last["tx_packets"][0] / last["rx_packets"][0])


def test_merged_segments_are_acknowledged_once(vm: Vm) -> None:
    """Without offloads Linux acknowledges every second segment. At 10 Gbps an interrupt tells of 17 full frames, the
    first and those of the 20 us behind it: one merged segment, one acknowledgement. A burst's last frame (PSH) ends a
    segment too, at most every 45 frames of 1,448 bytes."""
    alone = acknowledgements(vm, PLAIN, "alone")
    merged = acknowledgements(vm, PLAIN.model_copy(update={"gro": True, "interrupt_delay_us": DELAY_US}), "merged")
    assert alone == pytest.approx(1 / 2, rel=0.05)
    frames = 1 + DELAY_US * 1_000 * 10 // (1538 * 8)
    assert frames == 17
    assert 1 / frames <= merged <= 1.02 * (1 / frames + PAYLOAD_BYTES / 65_536)


ADAPTIVE = {"gro": True, "interrupt_delay_us": "adaptive"}


def test_an_interrupt_that_adapts_makes_a_lone_frame_wait_for_nothing(vm: Vm) -> None:
    """The time runs from the interrupt before (struct ice_ring_container), which was long ago."""
    plan = with_nics(pair(lone_flows("frame", PAYLOAD_BYTES, 10_000_000)), PLAIN.model_copy(update=ADAPTIVE))
    assert vm.run(plan).status == "complete"
    for flow in vm.flows():
        # But the data come 11.6 us after the handshake's last acknowledgement, and DIM begins with 8 us.
        assert flow["ideal_ns"] <= flow["fct_ns"] <= flow["ideal_ns"] + READINGS_NS + 90 * 8


def test_interrupts_that_adapt_merge_frames_the_same_in_every_run(vm: Vm) -> None:
    """Even the shortest time of ice, 2 us, is longer than a frame takes at 10 Gbps, 1.23 us. Which time DIM stays with
    depends on how the flow began: while it grows, every step seems to make it better (lib/dim/net_dim.c)."""
    first = acknowledgements(vm, PLAIN.model_copy(update=ADAPTIVE), "first")
    assert 1 / 45 <= first < 0.4
    assert acknowledgements(vm, PLAIN.model_copy(update=ADAPTIVE), "second") == first


def test_each_receive_queue_has_interrupts_of_its_own(vm: Vm) -> None:
    """Two flows begin 300 us apart. In one queue the interrupt for the SYN of the first tells of the SYN of the second
    too; the hash of this seed puts them in two of 64."""
    senders = (("first", "h1", 10_000_000), ("second", "h2", 10_300_000))
    frames = tuple(
        replace(lone_flows(name, PAYLOAD_BYTES, start_ns), senders=(sender,), receiver="h3")
        for name, sender, start_ns in senders
    )
    plan = star(3, transport=CUBIC, traffic=frames, queue=Queue(limit_bytes=10_000_000))
    took = {}
    for receive_queues in (1, 64):
        changes = {"gro": True, "interrupt_delay_us": 1_000, "receive_queues": receive_queues}
        assert vm.run(with_nics(plan, PLAIN.model_copy(update=changes)), str(receive_queues)).status == "complete"
        took[receive_queues] = {flow["class"]: flow["fct_ns"] for flow in vm.flows(str(receive_queues))}
    assert took[1]["first"] - took[1]["second"] == pytest.approx(300_000, abs=READINGS_NS)
    assert took[64]["first"] == pytest.approx(took[64]["second"], abs=READINGS_NS)


def peak_bytes(vm: Vm, nic: Nic, name: str) -> int:
    """Return what 40 segments of a host of 10 Gbps come to in front of a line of 1 Gbps."""
    transport = CUBIC.model_copy(update={"initial_window_segments": 40})
    first = changed(lone_flows("burst", 40 * PAYLOAD_BYTES, 10_000_000), count=1)
    plan = star(2, rate_bps=10 * GBPS, transport=transport, traffic=(first,), delay_ns=600_000)
    slow = with_nics(plan, nic)
    nodes = tuple(
        node.model_copy(
            update={
                "ports": tuple(
                    port.model_copy(update={"rate_bps": GBPS} if port.peer_node == "h2" else {}) for port in node.ports
                )
            }
        )
        for node in slow.nodes
    )
    probes = plan.probes.model_copy(update={"queue_ports": ("s1:eth2",), "queue_interval_ns": 10_000})
    assert vm.run(slow.model_copy(update={"nodes": nodes, "probes": probes}), name).status == "complete"
    stood: list[int] = pl.read_parquet(vm.directory / name / "queues.parquet")["bytes"].to_list()
    return max(stood)


def test_fq_in_front_of_the_card_takes_the_burst_out_of_a_window(vm: Vm) -> None:
    fq = resolve_nic(WrittenNic(), Queue(limit_bytes=15_000_000, aqm=Fq())).model_copy(update=AT_ONCE)
    unpaced, paced = peak_bytes(vm, PLAIN, "unpaced"), peak_bytes(vm, fq, "paced")
    # Back to back, ten times as fast as they leave: nine of ten stand there at the last one's arrival, one of them on
    # the line. A sample comes up to 10 us late, almost the time of a frame.
    assert unpaced == pytest.approx(35 * 1514, abs=1514)
    assert paced < unpaced / 4


def test_a_card_that_is_taken_away_takes_its_qdiscs_along(vm: Vm) -> None:
    """With frames in it, and in what stands in front of it."""
    fq = resolve_nic(WrittenNic(), Queue(limit_bytes=15_000_000, aqm=Fq())).model_copy(update=AT_ONCE)
    ping = "ping -q -c {} -l {} -W 1 -s 60000 {}"
    traffic: list[Job] = []
    for node, peer, change in (
        ("h1", "10.0.2.1", "tc qdisc del dev eth1 root"),
        ("h2", "10.0.1.1", "tc qdisc replace dev eth1 parent 1:21 bfifo"),
    ):
        text = f"{ping.format(8, 8, peer)} & sleep 0.001; {change}; wait; {ping.format(1, 1, peer)}"
        traffic.append({"name": node, "node": node, "argv": ["/bin/sh", "-c", text]})
    assert vm.boot(with_nics(pair(LONG), fq), traffic).status == "complete"
    logs = vm.directory / "run/logs"
    assert "BUG" not in (logs / "kernel.log").read_text()
    for node in ("h1", "h2"):
        during, after = re.findall(r"([0-9]+) received", (logs / f"{node}.log").read_text())
        assert 1 <= int(during) < 8, "what had left arrives, what was in the card is lost"
        assert after == "1"


def test_bursts_above_a_threshold_cost_dctcp_goodput(vm: Vm) -> None:
    """Two flows at a round trip of 1 ms and a threshold of 20 frames: half a burst of 62.5 KB passes it, a burst of
    16 KB does not (docs/language/switches.md)."""
    both = LongTraffic(name="long", senders=("h1", "h2"), receiver="h3", start_ns=0, stop_ns=10**9, stagger_ns=0)
    marking = Queue(limit_bytes=1_000_000, ecn_threshold_bytes=20 * 1514)
    transport = DCTCP.model_copy(update={"delayed_ack": True, "rto_min_us": 200_000})
    plan = star(3, delay_ns=250_000, queue=marking, transport=transport, traffic=(both,))
    goodput, queue = {}, {}
    for tso_bytes in (65_536, 16_000):
        nic = PLAIN.model_copy(update={"tso_bytes": tso_bytes})
        assert vm.run(with_nics(plan, nic), str(tso_bytes)).status == "complete"
        summary = vm.summary(str(tso_bytes))
        goodput[tso_bytes], queue[tso_bytes] = summary["goodput_bps"], summary["queue_mean_bytes"]
    assert goodput[65_536] < 0.99 * goodput[16_000]
    assert queue[65_536] < 0.8 * queue[16_000] < 0.8 * 20 * 1514
