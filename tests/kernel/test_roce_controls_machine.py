"""The congestion controls of a RoCE NIC in the machine: what one flow and two make of a port."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from machine import Boot, Star, shown
from switch_port import Port, Roce
from test_roce_machine import MTU, RATE_BPS, completions, exchange, wire_bytes

pytestmark = pytest.mark.vm
DELAY_NS = 1_000
TELEMETRY = 48
COUNT = 40_000
"""Packets of a flow: some 35 ms at 10 Gbps."""
HPCC = "base_rtt 10000 least 10000000 increase 5000000"
SWIFT = "base 20000 hop 0 range 0"


def shared(boot: Boot, nic: Port, senders: int, count: int = COUNT) -> tuple[list[int], dict[str, int], Path]:
    """Return how long each of several senders to one host takes, the queue's statistics, and the run."""
    telemetry = Port(RATE_BPS, telemetry=True)
    star = Star([nic] * (senders + 1), [telemetry] * (senders + 1), cable_ns=DELAY_NS)
    last = senders + 1
    there = [
        (f"h{n}", [exchange(n, f"10.{last}.0.2", 10 + n, 1, count * MTU).replace("PAIR", f"from-{n}")])
        for n in range(1, last)
    ]
    back = [exchange(10 + n, f"10.{n}.0.2", n, 0, 0).replace("PAIR", f"at-{n}") for n in range(1, last)]
    run = boot.run(star, [*there, (f"h{last}", back)])
    received = [completions(run, f"at-{n}")[0].time_ns for n in range(1, last)]
    return received, shown(run, "s1", f"eth{last}").queues[3], run


def nic(control: str, options: str, **others: Any) -> Port:
    return Port(RATE_BPS, roce=Roce(control=control, options=options, **others))


def seconds(count: int, behind: int = 0) -> float:
    """How long so many full packets take on the line, in ns."""
    return count * (wire_bytes(MTU) + behind) * 8 * 10**9 / RATE_BPS


def test_one_flow_of_hpcc_fills_what_eta_says(boot: Boot) -> None:
    (time,), queue, _ = shared(boot, nic("hpcc", HPCC), 1)
    # Five additive steps of 5 Mbps stand above 95 % of 10 Gbps before it is followed again.
    assert seconds(COUNT, TELEMETRY) / 0.9525 < time < seconds(COUNT, TELEMETRY) / 0.945
    assert queue["watermark_bytes"] <= 2 * (wire_bytes(MTU) + TELEMETRY)


def test_two_flows_of_hpcc_share_a_port_without_a_queue(boot: Boot) -> None:
    times, queue, _ = shared(boot, nic("hpcc", HPCC), 2)
    assert max(times) < 1.02 * 2 * seconds(COUNT, TELEMETRY) / 0.945
    assert min(times) > 0.9 * max(times)
    # Both begin at the line's rate, with windows of a round trip of 10 us, 12.5 KB each.
    assert 2_000 < queue["watermark_bytes"] < 25_000


def test_two_flows_of_swift_keep_the_queue_at_the_target(boot: Boot) -> None:
    times, queue, run = shared(boot, nic("swift", SWIFT), 2)
    assert max(times) < 1.02 * 2 * seconds(COUNT)
    assert min(times) > 0.9 * max(times)
    # Both begin with windows of 256 packets, which they halve at most once in a round trip.
    assert queue["watermark_bytes"] < 2 * 256 * wire_bytes(MTU)
    assert all(shown(run, f"h{n}", "eth1").port["roce"]["sent_again"] == 0 for n in (1, 2))


def test_two_flows_of_timely_use_most_of_a_port(boot: Boot) -> None:
    """How they share it is not said: any shares are a fixed point of TIMELY (Zhu et al., CoNEXT 2016, theorem 3)."""
    times, _, run = shared(boot, nic("timely", "increase 50000000", ack_every=16), 2)
    assert max(times) < 1.35 * 2 * seconds(COUNT)
    assert all(shown(run, f"h{n}", "eth1").port["roce"]["sent_again"] == 0 for n in (1, 2))


def test_every_packet_asks_where_the_control_has_a_window(boot: Boot) -> None:
    _, _, run = shared(boot, nic("hpcc", HPCC, ack_every=256), 1, 1_000)
    assert shown(run, "h2", "eth1").port["roce"]["acks_sent"] == 1_000


def test_a_switch_that_tells_nothing_leaves_hpcc_at_the_lines_rate(boot: Boot) -> None:
    star = Star([nic("hpcc", HPCC)] * 2, [Port(RATE_BPS)] * 2, cable_ns=DELAY_NS)
    there = exchange(1, "10.2.0.2", 2, 1, 1_000 * MTU).replace("PAIR", "one")
    back = exchange(2, "10.1.0.2", 1, 0, 0).replace("PAIR", "two")
    run = boot.run(star, [("h1", [there]), ("h2", [back])])
    (received,) = completions(run, "two")
    assert received.time_ns == pytest.approx(seconds(1_000, TELEMETRY), rel=0.01)


@pytest.mark.parametrize(
    ("control", "options", "reason"),
    [
        ("bbr", "", "no such congestion control of RoCE: bbr"),
        ("hpcc", "speed 5", "unknown option: speed"),
        ("hpcc", "eta 2000000", "hpcc's eta is 1 to 1000000, not 2000000"),
        ("swift", "most", "no value of most: nothing"),
    ],
)
def test_the_kernel_says_what_is_wrong_with_a_control(boot: Boot, control: str, options: str, reason: str) -> None:
    star = Star([nic(control, options)] * 2, [Port(RATE_BPS)] * 2, cable_ns=DELAY_NS)
    with pytest.raises(AssertionError) as told:
        boot.run(star, [("h1", []), ("h2", [])])
    assert reason in str(told.value)


def test_pairs_differ_by_nothing_but_their_turn(boot: Boot) -> None:
    """Four senders, and steps of a two-hundredth of the line: all rates come together."""
    times, _, _ = shared(boot, nic("hpcc", HPCC.replace("increase 5000000", "increase 50000000")), 4, COUNT // 2)
    assert all(later < 1.12 * earlier for earlier, later in itertools.pairwise(sorted(times)))
