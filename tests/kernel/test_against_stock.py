"""The port against tbf, netem and red or bfifo on the same scenario: eight flows from four hosts to one."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from machine import Boot, Device, Process, Star
from switch_port import Account, Port, Queue, Wred

from fabriclab.compile.sampler import mark_counters

pytestmark = pytest.mark.vm
RATE_BPS = 1_000_000_000
THRESHOLD, BUFFER = 30_000, 400_000
SWITCH_DELAY_NS = 25_000
HOST_DELAYS_NS = (21_100, 24_700, 27_300, 33_900, 25_000)
"""Cables differ: with equal ones the flows' frames come in step,
and who meets a full queue is decided by a nanosecond."""

FLOWS, STOP_NS = 8, 2_000_000_000
FIRST_NS = 500_000_000
"""Where the measurement of the queue begins: all flows have started and left slow start."""

DCTCP = {"net.ipv4.tcp_congestion_control": "dctcp", "net.ipv4.tcp_ecn": "1", "net.ipv4.tcp_no_metrics_save": "1"}
CUBIC = {"net.ipv4.tcp_congestion_control": "cubic", "net.ipv4.tcp_ecn": "0", "net.ipv4.tcp_no_metrics_save": "1"}
FULL_SEGMENTS = (1460, 1460, 1460, 1460)
SEGMENTS = (1460, 1340, 1220, 1100)
"""The hosts' MSS where a drop-tail buffer decides. With one size, frames come and go in step for as long as the line is
busy: the host whose frames come first behind a departure finds the free place each time and gets nine tenths of the
line, with any qdisc."""

TIMESTAMPS_BYTES, OVERHEAD_BYTES = 12, 52 + 14 + 24
"""The option in each segment; IP and TCP with it, Ethernet's header, check sequence with preamble and gap."""


def stock(delay_ns: int, queue: str) -> Device:
    return [
        f"qdisc add dev DEV root handle 1: tbf rate {RATE_BPS}bit burst 1514 limit 10000000 overhead 24 mpu 84",
        f"qdisc add dev DEV parent 1:1 handle 2: netem delay {delay_ns}ns limit 10000",
        f"qdisc add dev DEV parent 2:1 handle 3: {queue}",
    ]


class MixedStar(Star):
    """A star whose last host asks each of the others for segments of another size."""

    def write_nodes(self, run: Path) -> list[str]:
        names = super().write_nodes(run)
        receiver = len(self.host_devices)
        routes = [
            f"route add 10.{n}.0.0/24 via 10.{receiver}.0.1 advmss {size}\n" for n, size in enumerate(SEGMENTS, start=1)
        ]
        with (run / "nodes" / f"h{receiver}" / "ip.batch").open("a") as batch:
            batch.writelines(routes)
        return names


def stock_star() -> Star:
    red = (
        f"red limit {BUFFER} min {THRESHOLD} max {THRESHOLD + 1} avpkt 1500 burst 20 ecn bandwidth {RATE_BPS}bit "
        "probability 1"
    )
    return Star(
        [stock(delay, f"bfifo limit {10 * BUFFER}") for delay in HOST_DELAYS_NS],
        [stock(SWITCH_DELAY_NS, red)] * 5,
        DCTCP,
    )


def switch_port_star() -> Star:
    # red averages with W = 1/2, the least that tc can ask for.
    queue = Queue(0, Account(limit=BUFFER), wred=Wred(THRESHOLD, THRESHOLD + 1, weight_log=1))
    return Star(
        [Port(RATE_BPS, delay) for delay in HOST_DELAYS_NS],
        [Port(RATE_BPS, SWITCH_DELAY_NS, queues=[queue])] * 5,
        DCTCP,
    )


def stock_drop_tail_star() -> Star:
    fifos = [stock(delay, f"bfifo limit {10 * BUFFER}") for delay in HOST_DELAYS_NS]
    return MixedStar(fifos, [stock(SWITCH_DELAY_NS, f"bfifo limit {BUFFER}")] * 5, CUBIC)


def drop_tail_star() -> Star:
    port = Port(RATE_BPS, SWITCH_DELAY_NS, queues=[Queue(0, Account(limit=BUFFER))])
    return MixedStar([Port(RATE_BPS, delay) for delay in HOST_DELAYS_NS], [port] * 5, CUBIC)


def files(handle: str) -> dict[str, str]:
    flows = [f"{n},{10_000_000 * (n + 1)},h{n % 4 + 1},h5,,{STOP_NS},push,,,,long" for n in range(FLOWS)]
    port = {"name": "s1:eth5", "netns": "/run/netns/s1", "interface": "eth5", "handle": handle}
    sampler = {
        "format": "fabriclab-sampler-1",
        "queues": {"interval_ns": 100_000, "output": "/job/queues.csv", "ports": [port], "marks": mark_counters()},
    }
    header = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class\n"
    return {
        "traffic/trace.csv": header + "".join(f"{flow}\n" for flow in flows),
        "traffic/hosts.csv": "# fabriclab-hosts-1\nhost,address\n" + "".join(f"h{n},10.{n}.0.2\n" for n in range(1, 6)),
        "machine/sampler.json": json.dumps(sampler),
    }


def processes() -> Sequence[Process]:
    replay = "exec /tools/replay --trace /job/traffic/trace.csv --hosts /job/traffic/hosts.csv"
    # The sampler needs the qdisc, which the switch's first script makes.
    sampler = [
        "sleep 0.005",
        "/tools/sampler --config /job/machine/sampler.json & sampler=$!",
        f"sleep {STOP_NS / 1e9}",
        "kill $sampler",
    ]
    return [*((f"h{n}", [f"{replay} --host h{n} --log /job/h{n}.csv"]) for n in range(1, 6)), ("s1", sampler)]


def rows(path: Path) -> list[dict[str, str]]:
    """A CSV file's rows; its first line is a version."""
    with path.open() as stream:
        stream.readline()
        return list(csv.DictReader(stream))


def mean_queue(run: Path) -> float:
    """Bytes, weighted by how long they stood there."""
    samples = [(int(row["time_ns"]), int(row["bytes"])) for row in rows(run / "queues.csv") if row["bytes"]]
    steps = [(after - time, size) for (time, size), (after, _) in pairwise(samples) if FIRST_NS <= time < STOP_NS]
    return sum(duration * size for duration, size in steps) / sum(duration for duration, _ in steps)


def goodput_line_bytes(run: Path, segments: Sequence[int]) -> float:
    """What the bytes that arrived took of the line, with headers, preamble and gap; each host's MSS is given.

    Not their sum: of a full line it is 2 % more where the hosts of large frames get most of it, and who gets how much
    is chance.
    """
    arrived = [row for row in rows(run / "h5.csv") if row["side"] == "dst"]
    payloads = [segments[int(row["flow"]) % len(segments)] - TIMESTAMPS_BYTES for row in arrived]
    return sum(
        int(row["bytes"]) * (payload + OVERHEAD_BYTES) / payload for row, payload in zip(arrived, payloads, strict=True)
    )


@pytest.mark.parametrize(
    ("reference", "ours", "segments"),
    [(stock_star, switch_port_star, FULL_SEGMENTS), (stock_drop_tail_star, drop_tail_star, SEGMENTS)],
)
def test_goodput_and_mean_queue_are_those_of_the_stock_qdiscs(
    boot: Boot, reference: Callable[[], Star], ours: Callable[[], Star], segments: Sequence[int]
) -> None:
    sysctl = "net.ipv4.tcp_allowed_congestion_control = reno cubic dctcp\n"
    stock_run = boot.run(reference(), processes(), name="stock", files=files("3:"), sysctl=sysctl)
    our_run = boot.run(ours(), processes(), name="ours", files=files("1:"), sysctl=sysctl)
    assert goodput_line_bytes(our_run, segments) == pytest.approx(goodput_line_bytes(stock_run, segments), rel=0.001)
    assert mean_queue(our_run) == pytest.approx(mean_queue(stock_run), rel=0.05)
