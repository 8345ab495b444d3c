"""The pacer in the machine: frames of a flow that had a mark go at times that are known to the nanosecond."""

from __future__ import annotations

from itertools import pairwise

import pytest
from exact_pacer import exact_run
from machine import FULL_WIRE, START_NS, Boot, Star, datagrams, shown
from switch_algorithms import PacerConfig
from switch_port import Pacer, Port

pytestmark = pytest.mark.vm
RATE_BPS, DELAY_NS = 1_000_000_000, 5_000
FRAME_NS, LEAST_NS = FULL_WIRE * 8, 84 * 8
PAYLOAD, PORT, PEER = 1460, 7000, 7001
ACK, ACK_ECE = "10", "50"
CONFIG = PacerConfig(3_000, 64_000, 10_000_000, 2**29, 16, 2**32 - 1)
MARK_NS = START_NS + LEAST_NS * 2
"""When the acknowledgement with ECE is at the NIC: over two lines."""


def segments(address: str, flags: str, count: int, start_ns: int, *, ports: tuple[int, int] = (PORT, PEER)) -> str:
    size = PAYLOAD if count > 1 else 0
    return f"/job/port-tool segments {address} {ports[0]} {ports[1]} {flags} {size} {count} {start_ns} &"


def arrivals(boot: Boot, name: str, pacer: Pacer | None, *, mark: str = ACK_ECE, port: int = PORT) -> list[int]:
    """Two bursts of twenty frames, 1 and 5 ms after an acknowledgement of the flow from port 7000: when they arrive."""
    star = Star([Port(RATE_BPS, DELAY_NS, pacer=pacer), Port()], [Port(), Port()])
    bursts = [segments("10.2.0.2", ACK, 20, START_NS + after, ports=(port, PEER)) for after in (10**6, 5 * 10**6)]
    marks = segments("10.1.0.2", mark, 1, START_NS, ports=(PEER, PORT))
    run = boot.run(
        star, [("h1", bursts), ("h2", [marks]), ("h2", [f"/job/port-tool capture {PEER} 60000000 &"])], name=name
    )
    if pacer is not None:
        stats = shown(run, "h1", "eth1").port["pacer"]
        assert stats["taken_in"] == (mark == ACK_ECE and pacer.probability > 0)
        assert stats["bytes"] == stats["packets"] == stats["flows"] == stats["rate_bps"] == 0
    return [one.time_ns for one in datagrams(boot, run, "h2-1") if one.size > PAYLOAD]


def on_the_line(starts: list[int]) -> list[int]:
    """When frames that come to a line of 1 Gbps at these times are at the end of the path."""
    free, ends = 0, []
    for start in starts:
        free = max(free, start) + FRAME_NS
        ends.append(free + DELAY_NS + FRAME_NS)
    return ends


def bursts() -> list[int]:
    return [START_NS + 10**6] * 20 + [START_NS + 5 * 10**6] * 20


def test_frames_of_a_marked_flow_leave_by_the_papers_equation_to_the_nanosecond(boot: Boot) -> None:
    starts, _ = exact_run(CONFIG, RATE_BPS, MARK_NS, bursts(), [FULL_WIRE] * 40, 0)
    paced = arrivals(boot, "paced", Pacer(probability=1))
    assert paced == on_the_line(starts)
    gaps = {later - earlier for earlier, later in pairwise(paced)}
    assert len(gaps) > 20, "the rate changes while a burst is on its way"


@pytest.mark.parametrize(
    ("name", "pacer", "mark", "port"),
    [
        ("without", None, ACK_ECE, PORT),
        ("no-mark", Pacer(probability=1), ACK, PORT),
        ("other-flow", Pacer(probability=1), ACK_ECE, 7002),
        ("not-drawn", Pacer(probability=0), ACK_ECE, PORT),
        ("let-go", Pacer(probability=1, idle_ns=900_000), ACK_ECE, PORT),
    ],
)
def test_what_is_not_paced_leaves_at_the_lines_rate(
    boot: Boot, name: str, pacer: Pacer | None, mark: str, port: int
) -> None:
    assert arrivals(boot, name, pacer, mark=mark, port=port) == on_the_line(bursts())
