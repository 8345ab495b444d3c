"""The port as a host's NIC: real TCP above it, pauses that reach it in the middle of a burst."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path

import pytest
from machine import FULL_FRAME, FULL_WIRE, START_NS, Boot, Device, Star, datagrams, receive, send, shown
from switch_port import Account, Pfc, Port, Queue

from fabriclab.compile.sampler import mark_counters

pytestmark = pytest.mark.vm
RATE_BPS = 1_000_000_000
FRAME_NS = FULL_WIRE * 8
DELAY_NS = 25_000
OWN_QUEUE = 4_000_000
NIC = Port(RATE_BPS, DELAY_NS, queues=[Queue(0, Account(limit=OWN_QUEUE))])
CUBIC = {"net.ipv4.tcp_congestion_control": "cubic", "net.ipv4.tcp_no_metrics_save": "1"}
FIRST_NS, STOP_NS = 250_000_000, 1_000_000_000
"""When the measurement begins, and when the flow ends."""


def bulk_flow(boot: Boot, nic: Device, handle: str) -> Path:
    """One flow from h1 to h2 over lines of one rate, so that it waits in its own host; returns the run."""
    star = Star([nic] * 2, [Port(RATE_BPS, DELAY_NS)] * 2, CUBIC)
    flow = f"0,10000000,h1,h2,,{STOP_NS},push,,,,long\n"
    port = {"name": "h1:eth1", "netns": "/run/netns/h1", "interface": "eth1", "handle": handle}
    sampler = {"interval_ns": 20_000, "output": "/job/queues.csv", "ports": [port], "marks": mark_counters()}
    files = {
        "traffic/trace.csv": "# fabriclab-trace-1\n"
        f"flow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class\n{flow}",
        "traffic/hosts.csv": "# fabriclab-hosts-1\nhost,address\nh1,10.1.0.2\nh2,10.2.0.2\n",
        "machine/sampler.json": json.dumps({"format": "fabriclab-sampler-1", "queues": sampler}),
    }
    replay = "exec /tools/replay --trace /job/traffic/trace.csv --hosts /job/traffic/hosts.csv"
    # The sampler needs the qdisc, which the host's first script makes.
    sample = [
        "sleep 0.005",
        "/tools/sampler --config /job/machine/sampler.json & sampler=$!",
        f"sleep {STOP_NS / 1e9}",
        "kill $sampler",
    ]
    processes = [*((h, [f"{replay} --host {h} --log /job/{h}.csv"]) for h in ("h1", "h2")), ("s1", sample)]
    sysctl = "net.ipv4.tcp_allowed_congestion_control = reno cubic\n"
    return boot.run(star, processes, name=f"nic-{handle[0]}", files=files, sysctl=sysctl)


def mean_own_queue(run: Path) -> float:
    """Bytes that wait in the sender's port, weighted by how long."""
    with (run / "queues.csv").open() as stream:
        stream.readline()
        samples = [(int(row["time_ns"]), int(row["bytes"])) for row in csv.DictReader(stream) if row["bytes"]]
    steps = [(after - time, size) for (time, size), (after, _) in pairwise(samples) if FIRST_NS <= time < STOP_NS]
    return sum(duration * size for duration, size in steps) / sum(duration for duration, _ in steps)


def test_a_bulk_flow_leaves_its_host_frame_by_frame(boot: Boot) -> None:
    """TCP hands the port GSO frames of up to 64 KiB: the switch gets what the line carries,
    and at the line's rate no queue grows there."""
    run = bulk_flow(boot, NIC, "1:")
    received = shown(run, "s1", "eth1").groups[0]
    assert received["received_packets"] > 50_000
    assert received["watermark_bytes"] <= FULL_FRAME
    assert shown(run, "s1", "eth2").queues[0]["watermark_bytes"] <= FULL_FRAME


def test_tcp_keeps_as_little_in_its_own_host_as_with_the_stock_qdiscs(boot: Boot) -> None:
    """TCP small queues: a millisecond of the flow's rate.

    The stock qdiscs hold a few frames more that no backlog shows.
    """
    stock = [
        f"qdisc add dev DEV root handle 1: tbf rate {RATE_BPS}bit burst 1514 limit 10000000 overhead 24 mpu 84",
        f"qdisc add dev DEV parent 1:1 handle 2: netem delay {DELAY_NS}ns limit 10000",
        f"qdisc add dev DEV parent 2:1 handle 3: bfifo limit {OWN_QUEUE}",
    ]
    ours, theirs = (mean_own_queue(bulk_flow(boot, nic, handle)) for nic, handle in ((NIC, "1:"), (stock, "3:")))
    assert ours == pytest.approx(theirs, rel=0.05)


def test_a_pause_of_two_priorities_in_the_middle_of_a_burst(boot: Boot) -> None:
    """The frame in service when the pause takes effect, and what is on the cable, arrive on time; then nothing of both
    priorities for as long as the pause says, and the higher one goes first."""
    low, high = 3, 4
    reaction_ns, quanta = 5_000, 1_000
    star = Star(
        [Port(RATE_BPS, DELAY_NS, pfc=Pfc(1 << low | 1 << high, reaction_ns=reaction_ns)), Port()], [Port(), Port()]
    )
    pause_at = START_NS + 30_000
    run = boot.run(
        star,
        [
            ("h1", [send("10.2.0.2", count=10, tc=low)]),
            ("h1", [send("10.2.0.2", count=3, tc=high, port=7001, start_ns=START_NS + 100_000)]),
            ("s1", [f"/job/port-tool pause eth1 {1 << low | 1 << high} {quanta} 1 1 {pause_at}"]),
            ("h2", [receive(100_000_000)]),
            ("h2", [receive(100_000_000, 7001)]),
        ],
    )
    begin = START_NS
    stopped = pause_at + 84 * 8 + reaction_ns
    resumed = stopped + quanta * 512
    before = -(-(stopped - begin) // FRAME_NS)
    path = FRAME_NS + DELAY_NS + FRAME_NS
    first = [begin + number * FRAME_NS + path for number in range(before)]
    rest = [resumed + (3 + number) * FRAME_NS + path for number in range(10 - before)]
    assert before == 3
    assert [datagram.time_ns for datagram in datagrams(boot, run, "h2-0")] == first + rest
    assert [datagram.time_ns for datagram in datagrams(boot, run, "h2-1")] == [
        resumed + number * FRAME_NS + path for number in range(3)
    ]
