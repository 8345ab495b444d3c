"""The shared buffer in the machine: dynamic thresholds, VOQ limits, congestion events, ports that come and go."""

from __future__ import annotations

from pathlib import Path

import pytest
from machine import FULL_FRAME, FULL_WIRE, START_NS, Boot, Star, datagrams, receive, send, shown
from switch_port import Account, Group, Port, Queue, read_event, read_shown

pytestmark = pytest.mark.vm
CELL = 208
CELLS = -(-FULL_FRAME // CELL)
POOL = 1_000_000


LEAKS = """
mkdir -p /tmp/debug; mount -t debugfs debugfs /tmp/debug 2> /dev/null || exit 0
cd /tmp/debug; test -e kmemleak || exit 0
echo scan > kmemleak; sleep 6; echo scan > kmemleak; cat kmemleak
"""
"""Prints memory that nobody points to any more, on a debug kernel (`make test-kernel`); nothing on others."""


def pool_is_empty(run: Path, interface: str) -> bool:
    pool = shown(run, "s1", interface).port["pools"][0]
    return bool(pool["used"] == 0 and pool["headroom"] == 0 and pool["watermark"] > 0)


LOOKS = 16
LOOK_INTERVAL_NS = 130_730
"""Between the looks at a queue: the time of a frame at 100 Mbps and a sixteenth,
so that they see all moments of its cycle."""


def look_often(interface: str, name: str) -> str:
    """Return the command that writes a port's statistics to the run directory LOOKS times,
    at the end of a time of load."""
    last = START_NS + 90_000_000
    moments = " ".join(str(last - look * LOOK_INTERVAL_NS) for look in reversed(range(LOOKS)))
    return f"for moment in {moments}; do /job/port-tool show {interface} $moment > /job/{name}-$moment; done &"


def mean_cells(run: Path, name: str) -> float:
    looks: list[int] = [read_shown(path.read_text()).queues[0]["cells"] for path in sorted(run.glob(f"{name}-*"))]
    assert len(looks) == LOOKS
    return sum(looks) / LOOKS


@pytest.mark.parametrize("alpha_log", [-3, -1, 0, 1, 2, 3])
@pytest.mark.parametrize("queues", [1, 2, 4])
def test_saturated_queues_hold_alpha_b_over_one_plus_alpha_n(boot: Boot, alpha_log: int, queues: int) -> None:
    """Choudhury and Hahne; the queues are on as many ports, so that only the memory ties them. A frame is taken whole
    by an account that is below the threshold: the mean may be a frame's cells off, and one of rounding."""
    queue = Queue(0, Account(pool=0, alpha_log=alpha_log))
    slow = Port(rate_bps=100_000_000, cell=CELL, pools={0: (POOL, 0)}, queues=[queue])
    star = Star([Port()] * (2 * queues), [*[Port(cell=CELL)] * queues, *[slow] * queues])
    senders = [(f"h{n}", [send(f"10.{queues + n}.0.2", count=8_000)]) for n in range(1, queues + 1)]
    looks = [("s1", [look_often(f"eth{queues + n}", f"port-{n}")]) for n in range(1, queues + 1)]
    run = boot.run(star, [*senders, *looks])
    alpha = 2.0**alpha_log
    share = alpha * (POOL // CELL) / (1 + alpha * queues)
    for n in range(1, queues + 1):
        assert mean_cells(run, f"port-{n}") == pytest.approx(share, abs=CELLS + 1)
    assert pool_is_empty(run, f"eth{queues + 1}")


def test_a_voq_limit_keeps_one_ingress_port_from_taking_it_all(boot: Boot) -> None:
    egress = Port(rate_bps=100_000_000, queues=[Queue(0, Account(limit=100_000), voq_limit=20_000)])
    star = Star([Port()] * 3, [Port(), Port(), egress])
    run = boot.run(
        star,
        [("h1", [send("10.3.0.2", count=200)]), ("h2", [send("10.3.0.2", count=5, start_ns=START_NS + 1_000_000)])],
    )
    queue = shown(run, "s1", "eth3").queues[0]
    assert queue["watermark_bytes"] == (20_000 // FULL_FRAME + 5) * FULL_FRAME
    assert queue["drops"]["voq"] == sum(queue["drops"].values()) > 100


def test_reserved_memory_and_ingress_limits(boot: Boot) -> None:
    """Port 1's priority group may hold 15,000 bytes, port 2's nothing but its 5 reserved frames,
    whatever the egress queue has."""
    pools = {0: (POOL, 0)}
    greedy = Port(pools=pools, groups=[Group(0, Account(pool=0, limit=15_000))])
    modest = Port(groups=[Group(0, Account(pool=0, reserved=5 * FULL_FRAME, limit=0))])
    star = Star([Port()] * 3, [greedy, modest, Port(rate_bps=100_000_000)])
    run = boot.run(star, [(f"h{n}", [send("10.3.0.2", count=200)]) for n in (1, 2)])
    first, second = (shown(run, "s1", f"eth{n}").groups[0] for n in (1, 2))
    assert first["watermark_bytes"] == 15_000 // FULL_FRAME * FULL_FRAME
    assert second["watermark_bytes"] == 5 * FULL_FRAME
    assert first["discards"] > 100
    assert second["discards"] > 100
    assert shown(run, "s1", "eth3").queues[0]["drops"]["ingress"] == first["discards"] + second["discards"]
    assert pool_is_empty(run, "eth1")


def test_a_congestion_event_tells_when_how_much_and_from_where(boot: Boot) -> None:
    egress = Port(rate_bps=500_000_000, queues=[Queue(0, event=30_000)])
    star = Star([Port()] * 3, [Port(), Port(), egress])
    run = boot.run(
        star,
        [
            ("h1", [send("10.3.0.2", count=100)]),
            ("h2", [send("10.3.0.2", count=1, start_ns=START_NS + 600_000)]),
            ("h3", [receive(100_000_000)]),
            ("s1", ["/job/port-tool events 50000000"]),
        ],
    )
    begins, ends = (read_event(line) for line in (run / "logs/s1-1.log").read_text().splitlines())
    epoch = next(message.t_ns for message in boot.messages if message.name == "epoch")
    # Frames come every 12,304 ns and leave every 24,608 ns: the queue reaches 30,000 bytes with the 20th that waits.
    assert begins[6] == begins[7] == 20 * FULL_FRAME
    assert ends[4] == begins[4]
    assert ends[6] == 15_000 // FULL_FRAME * FULL_FRAME
    # 101 frames; when the last 9 are left (and one is on the line), 91 and the start of the 92nd are gone.
    first_starts = START_NS + 8 * FULL_WIRE
    assert ends[5] == epoch + first_starts + 91 * 16 * FULL_WIRE
    # When it began 40 had come, of which 20 waited; 60 more came by port 1 and one by port 2.
    assert isinstance(ends[8], dict)
    assert list(ends[8].values()) == [80 * FULL_FRAME, FULL_FRAME]
    assert ends[7] == shown(run, "s1", "eth3").queues[0]["watermark_bytes"]
    assert len(datagrams(boot, run, "h3-0")) == 101


def test_ports_go_and_come_under_load_and_nothing_is_left(boot: Boot) -> None:
    pools = {0: (POOL, 0)}
    queue, group = Queue(0, Account(pool=0, alpha_log=0)), Group(0, Account(pool=0, reserved=3_000, limit=400_000))
    port = Port(pools=pools, queues=[queue], groups=[group])
    slow = Port(rate_bps=50_000_000, pools=pools, queues=[queue], groups=[group])
    star = Star([Port(rate_bps=200_000_000)] * 4, [port, port, port, slow])
    churn = [
        "sleep 0.03",
        "for i in 1 2 3 4 5 6 7 8 9 10; do",
        "/job/port-tool del eth1; sleep 0.001; /job/port-tool add eth1 /job/s1-eth1; sleep 0.001",
        "ip link set eth2 down; sleep 0.001; ip link set eth2 up; sleep 0.001",
        "/job/port-tool add eth4 /job/s1-eth4; sleep 0.001; /job/port-tool change eth3 /job/s1-eth4; sleep 0.001",
        "done; sleep 0.5",
    ]
    senders = [(f"h{n}", [send("10.4.0.2", count=3_000)]) for n in (1, 2, 3)]
    run = boot.run(
        star,
        [*senders, ("h4", [send("10.1.0.2", count=3_000)]), ("s1", churn)],
        collect=[("s1", ["leaks", "/bin/sh", "-c", LEAKS])],
    )
    stats = [shown(run, "s1", f"eth{n}") for n in (1, 2, 3, 4)]
    pool = stats[0].port["pools"][0]
    assert pool["used"] == 0
    assert pool["reserved"] == 4 * 3_000
    assert [(port.backlog["qlen"], port.backlog["backlog"]) for port in stats] == [(0, 0)] * 4
    assert stats[3].queues[0]["sent_packets"] > 100
    assert not (run / "collect/leaks").read_text()
