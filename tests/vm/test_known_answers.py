"""What physics and the algorithms' definitions demand of the emulation."""

from __future__ import annotations

import re
import statistics

import polars as pl
import pytest
from fidelity import known
from frame_sizes import PAYLOAD_BYTES, WIRE_BYTES, with_slow_receiver
from sample_plans import CUBIC, DCTCP, GBPS, star
from vm import Vm

from fabriclab.formats.plan.node import Queue, Transport
from fabriclab.formats.plan.traffic import FlowsTraffic, LongTraffic, Pairs

pytestmark = pytest.mark.vm

"""What is left of a 1500-byte packet without IP and TCP header and timestamps."""
PACKET_BYTES = 1514
"""A packet as queues count it."""

RENO = CUBIC.model_copy(update={"congestion_control": "reno"})


def one_long_flow(stop_ns: int = 10**9, sender: str = "h1") -> LongTraffic:
    return LongTraffic(name="long", senders=(sender,), receiver="h2", start_ns=0, stop_ns=stop_ns, stagger_ns=0)


def test_idle_round_trip_is_twice_the_paths_delay(vm: Vm) -> None:
    plan = star(2, delay_ns=12_500, traffic=())
    ping = {"name": "ping@h1", "node": "h1", "argv": ["ping", "-c", "20", "-i", "0.01", "10.0.2.1"]}
    assert vm.boot(plan, [ping]).status == "complete"
    times = [
        float(each) * 1000
        for each in re.findall(r"time=([0-9.]+) ms", (vm.directory / "run/logs/ping@h1.log").read_text())
    ]
    assert len(times) == 20
    # Not each one: ping's first finds the kernel not yet stamping arrivals, and PID 1 reads its clock every 100 ms.
    # Each way begins at a NIC, which sends the 98 bytes of a ping, and 24 around them, bit by bit.
    theory_us = 4 * 12.5 + 2 * (98 + 24) * 8 / 1_000
    known("Round trip on an idle path of 4 links of 12.5 us", theory_us, statistics.median(times), "us", within=0.04)
    assert sum(abs(time_us - theory_us) <= 2 for time_us in times) >= 18


@pytest.mark.parametrize("rate_bps", [GBPS, 10 * GBPS])
def test_goodput_of_one_flow_is_the_rate_without_headers(vm: Vm, rate_bps: int) -> None:
    plan = star(2, rate_bps=rate_bps, transport=RENO, traffic=(one_long_flow(),))
    assert vm.run(plan).status == "complete"
    (flow,) = vm.flows()
    goodput_bps = flow["bytes"] * 8e9 / (flow["end_ns"] - flow["first_byte_ns"])
    theory_bps = rate_bps * PAYLOAD_BYTES / WIRE_BYTES
    known(f"Goodput of one flow, {rate_bps // GBPS} Gbps", theory_bps / 1e6, goodput_bps / 1e6, "Mbps", within=0.005)


SYN_BYTES = 98
"""A SYN or SYN-ACK on the wire: 40 bytes of headers, 20 of options, 14 and 24 of Ethernet."""


def slow_start_ns(packets: int, window: int, rate_bps: int, round_trip_ns: int) -> float:
    """Completion time of a lone flow on an idle path: handshake, windows that double until they fill the
    path, the last byte's way."""
    packet_ns = WIRE_BYTES * 8e9 / rate_bps
    # A NIC sends the handshake's two frames, and the first of the data, bit by bit.
    elapsed = float(round_trip_ns) + (2 * SYN_BYTES + WIRE_BYTES) * 8e9 / rate_bps
    while packets > window and window * packet_ns < round_trip_ns:
        packets -= window
        window *= 2
        # An acknowledgement clocks out two packets: the next window starts a round trip after this one.
        elapsed += round_trip_ns
    return elapsed + (packets - 1) * packet_ns + round_trip_ns / 2


@pytest.mark.parametrize("packets", [5, 10, 30, 100, 1000])
def test_completion_time_of_a_lone_flow_is_that_of_slow_start(vm: Vm, packets: int) -> None:
    single = FlowsTraffic(
        name="one",
        senders=("h1",),
        receiver="h2",
        size_bytes=packets * PAYLOAD_BYTES,
        count=1,
        start_ns=0,
        interval_ns=1,
        mode="push",
    )
    plan = star(2, delay_ns=250_000, transport=RENO, traffic=(single,), queue=Queue(limit_bytes=10_000_000))
    assert vm.run(plan).status == "complete"
    (flow,) = vm.flows()
    theory_ns = slow_start_ns(packets, 10, GBPS, 1_000_000)
    known(f"Slow start, {packets} packets, 1 ms", theory_ns / 1e3, flow["fct_ns"] / 1e3, "us", within=0.05)


@pytest.mark.parametrize("segments", [2, 20, 60])
def test_a_window_limit_bounds_what_is_in_flight(vm: Vm, segments: int) -> None:
    limited = CUBIC.model_copy(update={"window_limit_segments": segments})
    plan = star(2, rate_bps=10 * GBPS, delay_ns=250_000, transport=limited, traffic=(one_long_flow(500_000_000),))
    probes = plan.probes.model_copy(update={"tcp_interval_ns": 50_000})
    plan = plan.model_copy(update={"probes": probes})
    assert vm.run(plan).status == "complete"
    assert vm.tcp()["unacked"].max() == segments
    # Far below the path's bandwidth-delay product of 800 packets: one window each round trip, of which serialisation on
    # two links is part.
    round_trip_ns = 4 * 250_000 + 2 * WIRE_BYTES * 8 / 10
    theory, measured = segments * PAYLOAD_BYTES * 8e9 / round_trip_ns, vm.summary()["goodput_bps"]
    known(f"Goodput with a window of {segments} segments, 1 ms", theory / 1e6, measured / 1e6, "Mbps", within=0.03)


def test_window_limits_of_two_senders_are_their_own(vm: Vm) -> None:
    traffic = LongTraffic(
        name="long", senders=("h1", "h2"), receiver="h3", start_ns=0, stop_ns=300_000_000, stagger_ns=0
    )
    plan = star(3, rate_bps=10 * GBPS, delay_ns=250_000, traffic=(traffic,))
    nodes = tuple(
        node.model_copy(
            update={"transport": CUBIC.model_copy(update={"window_limit_segments": 8 if node.name == "h1" else 24})}
        )
        if node.role == "host"
        else node
        for node in plan.nodes
    )
    assert vm.run(plan.model_copy(update={"nodes": nodes})).status == "complete"
    in_flight = vm.tcp().group_by("node").agg(pl.col("unacked").max())
    assert dict(in_flight.iter_rows()) == {"h1": 8, "h2": 24}


def test_a_short_flow_behind_long_ones_of_its_host_sends_four_segments_a_passage(vm: Vm) -> None:
    """TCP small queues (tcp_small_queue_check(), net/ipv4/tcp_output.c) let a flow have two buffers in its host's
    queue; those of a flow that sends little in a millisecond have the least size, two segments (tcp_min_tso_segs). Its
    window does not grow, because the flow does not use it (tcp_is_cwnd_limited(), include/net/tcp.h)."""
    long = LongTraffic(
        name="long",
        senders=("h1",),
        pairs=Pairs(pattern="all-to-all", senders=("h1",), receivers=tuple(f"h{number}" for number in range(3, 16))),
        start_ns=0,
        stop_ns=3 * 10**9,
        stagger_ns=0,
    )
    short = FlowsTraffic(
        name="short",
        senders=("h1",),
        receiver="h2",
        size_bytes=500_000,
        count=1,
        start_ns=10**9,
        interval_ns=1,
        mode="push",
    )
    plan = star(15, queue=Queue(limit_bytes=10_000_000), traffic=(long, short))
    plan = plan.model_copy(update={"probes": plan.probes.model_copy(update={"queue_ports": ("h1:eth1",)})})
    assert vm.run(plan).status == "complete"
    (flow,) = (one for one in vm.flows() if one["class"] == "short")
    samples = pl.read_parquet(vm.directory / "run/queues.parquet")
    waiting = samples.filter(pl.col("time_ns").is_between(flow["start_ns"], flow["end_ns"]))["bytes"]
    passage_ns = statistics.mean(waiting) / PACKET_BYTES * WIRE_BYTES * 8e9 / GBPS
    theory_ns = 500_000 / PAYLOAD_BYTES / 4 * passage_ns
    known("500 KB behind 13 long flows of one host, 1 Gbps", theory_ns / 1e6, flow["fct_ns"] / 1e6, "ms", within=0.1)


def test_one_cubic_flow_fills_the_buffer(vm: Vm) -> None:
    limit = 400_000
    plan = star(2, rate_bps=10 * GBPS, queue=Queue(limit_bytes=limit), traffic=(one_long_flow(),))
    assert vm.run(with_slow_receiver(plan, "h2", GBPS)).status == "complete"
    longest = vm.summary()["queue_max_bytes"]
    assert limit - 2 * PACKET_BYTES <= longest <= limit
    known("Longest queue of one CUBIC flow, 400 KB of buffer", limit / 1e3, longest / 1e3, "KB", within=0.008)


@pytest.mark.parametrize(("rate_bps", "threshold"), [(GBPS, 30_000), (10 * GBPS, 65 * PACKET_BYTES)])
def test_dctcp_keeps_the_queue_at_its_threshold_and_the_link_full(vm: Vm, rate_bps: int, threshold: int) -> None:
    traffic = LongTraffic(name="long", senders=("h1", "h2"), receiver="h3", start_ns=0, stop_ns=10**9, stagger_ns=0)
    queue = Queue(limit_bytes=700_000, ecn_threshold_bytes=threshold)
    transport: Transport = DCTCP.model_copy(update={"delayed_ack": True})
    assert vm.run(star(3, rate_bps=rate_bps, queue=queue, transport=transport, traffic=(traffic,))).status == "complete"
    summary = vm.summary()
    named = f"Mean queue of two DCTCP flows at the threshold, {rate_bps // GBPS} Gbps"
    known(named, threshold / 1e3, summary["queue_mean_bytes"] / 1e3, "KB", within=0.5)
    assert summary["goodput_bps"] >= 0.97 * rate_bps * PAYLOAD_BYTES / WIRE_BYTES
    # The RST that ends a flow at the stop isn't ECT, so above the threshold it is dropped.
    assert summary["retransmits"] == 0 and summary["drops"] <= len(traffic.senders)


def test_a_receiver_of_which_nothing_was_said_answers_dctcp_by_dctcp(vm: Vm) -> None:
    """Without that Linux refuses ECN to DCTCP's SYN: the same two flows lose packets, and none is marked."""
    traffic = LongTraffic(
        name="long", senders=("h1", "h2"), receiver="h3", start_ns=0, stop_ns=300_000_000, stagger_ns=0
    )
    plan = star(3, queue=Queue(limit_bytes=150_000, ecn_threshold_bytes=30_000), transport=DCTCP, traffic=(traffic,))
    for answers, name in ((False, "refused"), (True, "answered")):
        default = CUBIC.model_copy(update={"ecn": "accept", "answers_dctcp": answers})
        nodes = tuple(
            node.model_copy(update={"transport": default}) if node.name == "h3" else node for node in plan.nodes
        )
        assert vm.run(plan.model_copy(update={"nodes": nodes}), name).status == "complete"
    refused, answered = vm.summary("refused"), vm.summary("answered")
    assert refused["marks"] == 0 < refused["drops"]
    assert answered["marks"] > 100 and answered["drops"] == 0


def test_a_short_flow_does_not_wait_behind_the_window_of_another_in_its_own_host(vm: Vm) -> None:
    # Below a socket stands 1 ms of its rate at most (TCP small queues, sk_pacing_shift in net/core/sock.c), not its
    # window of megabytes.
    short = FlowsTraffic(
        name="short",
        senders=("h1",),
        receiver="h3",
        size_bytes=4_000,
        count=10,
        start_ns=200_000_000,
        interval_ns=50_000_000,
        mode="push",
    )
    plan = star(3, delay_ns=25_000, traffic=(one_long_flow(), short), queue=Queue(limit_bytes=10_000_000))
    assert vm.run(plan).status == "complete"
    waits_ns = [flow["first_byte_ns"] - flow["start_ns"] for flow in vm.flows() if flow["class"] == "short"]
    assert len(waits_ns) == 10
    # Twice through the host's queue, the handshake and the data; what was sent in slow start, at twice the rate, may
    # stand there too.
    assert max(waits_ns) < 2 * 2_000_000 + 8 * 25_000
