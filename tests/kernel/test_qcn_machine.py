"""QCN in the machine: one notification, and what the limiter that it makes lets through, to the nanosecond."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from machine import FULL_WIRE, START_NS, Boot, Star, datagrams, shown
from switch_port import Limiter, Port, Queue

pytestmark = pytest.mark.vm
RATE_BPS, DELAY_NS = 1_000_000_000, 5_000
FRAME_NS = FULL_WIRE * 8
PAYLOAD, PORT, PEER = 1460, 7000, 7001
NEVER = 10**9
CUT_BPS = RATE_BPS - RATE_BPS * 63 // 128
"""507,812,500: what the largest feedback leaves of 1 Gbps."""
POINT = Port(queues=[Queue(0, qcn=(100, NEVER, 0))])
"""The first frame of all is a sample, which finds 1,514 bytes, more than 100: the feedback is 63. No other follows."""
MS = 10**6
FIRST_CYCLE_NS, NEXT_CYCLE_NS = 17_250_000, 12_750_000
"""The latest end of the timer's first cycle, the shortest that a cycle takes: 15 ms, give or take 15 %."""


def arrivals(boot: Boot, name: str, starts_ms: list[int], limiter: Limiter | None, point: Port = POINT) -> list[int]:
    """One frame, then bursts of ten after so many ms: when they arrive at the other host."""
    star = Star([Port(RATE_BPS, DELAY_NS, limiter=limiter), Port()], [Port(), point])
    sent = [(1, START_NS), *((10, START_NS + after * MS) for after in starts_ms)]
    bursts = [f"/job/port-tool segments 10.2.0.2 {PORT} {PEER} 10 {PAYLOAD} {count} {start} &" for count, start in sent]
    run = boot.run(star, [("h1", bursts), ("h2", [f"/job/port-tool capture {PEER} 400000000 &"])], name=name)
    told = shown(run, "s1", "eth2").queues[0]
    heard = shown(run, "h1", "eth1").port["qcn"]
    assert told["samples"] == told["notifications"] == (point == POINT)
    assert heard["notifications"] == (point == POINT and limiter is not None)
    assert heard["bytes"] == heard["packets"] == heard["flows"] == 0, "300 ms later nothing is limited"
    return [one.time_ns - START_NS for one in datagrams(boot, run, "h2-0")]


def on_the_line(start_ms: int, rate_bps: int) -> list[int]:
    """When ten frames that a limiter lets go at a rate are at the end of the path; it may be the line's own."""
    wire_bits = FULL_WIRE * 8
    goes = [start_ms * MS + number * wire_bits * 10**9 // rate_bps for number in range(10)]
    return [went + FRAME_NS + DELAY_NS + FRAME_NS for went in goes]


def test_frames_behind_a_notification_leave_at_the_rate_that_it_leaves_them(boot: Boot) -> None:
    """A millisecond later at 128 - 63 of 128; after one cycle of recovery half the way back; and at last as before."""
    first, *rest = arrivals(boot, "limited", [1, 20, 290], Limiter())
    assert first == FRAME_NS + DELAY_NS + FRAME_NS
    assert FIRST_CYCLE_NS < 20 * MS < 2 * NEXT_CYCLE_NS
    assert rest[:10] == on_the_line(1, CUT_BPS)
    assert rest[10:20] == on_the_line(20, (CUT_BPS + RATE_BPS) // 2)
    assert rest[20:] == on_the_line(290, RATE_BPS)


def test_bytes_end_cycles_too(boot: Boot) -> None:
    """The counter's first cycle ends within the first burst: its last frames go by the rate after it."""
    arrived = arrivals(boot, "bytes", [1], Limiter(cycle_bytes=5_000, cycle_ns=20 * MS))[1:]
    gaps = [later - earlier for earlier, later in itertools.pairwise(arrived)]
    slow, fast = FULL_WIRE * 8 * 10**9 // CUT_BPS, FULL_WIRE * 8 * 10**9 // ((CUT_BPS + RATE_BPS) // 2)
    # Its first 5,000 bytes are no draw: three frames and a part of the fourth, which is the first of the next cycle.
    assert gaps[:3] == [pytest.approx(slow, abs=1)] * 3
    assert gaps[3] == pytest.approx(slow, abs=1) or gaps[3] == pytest.approx(fast, abs=1)
    assert gaps[4] == pytest.approx(fast, abs=1)


@pytest.mark.parametrize(
    ("name", "limiter", "point"),
    [
        ("no-limiter", None, POINT),
        ("no-point", Limiter(), Port(queues=[Queue(0)])),
        ("content", Limiter(), replace(POINT, queues=[Queue(0, qcn=(10**6, NEVER, 0))])),
    ],
)
def test_without_one_of_the_two_nothing_is_limited(boot: Boot, name: str, limiter: Limiter | None, point: Port) -> None:
    if name == "content":
        star = Star([Port(RATE_BPS, DELAY_NS, limiter=limiter), Port()], [Port(), point])
        burst = f"/job/port-tool segments 10.2.0.2 {PORT} {PEER} 10 {PAYLOAD} 10 {START_NS} &"
        run = boot.run(star, [("h1", [burst]), ("h2", [f"/job/port-tool capture {PEER} 100000000 &"])], name=name)
        queue = shown(run, "s1", "eth2").queues[0]
        assert (queue["samples"], queue["notifications"]) == (1, 0)
        assert shown(run, "h1", "eth1").port["qcn"]["notifications"] == 0
    else:
        assert arrivals(boot, name, [1], limiter, point)[1:] == on_the_line(1, RATE_BPS)
