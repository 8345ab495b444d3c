"""The RoCE NIC in the machine: what its pairs send, receive and answer, to the nanosecond."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from machine import START_NS, Boot, Star, shown
from switch_port import Group, Pfc, Port, Queue, Roce, Wred

pytestmark = pytest.mark.vm
RATE_BPS, DELAY_NS = 10_000_000_000, 1_000
HEADERS, RETH, AETH, CRC, ETHERNET = 14 + 20 + 8 + 12, 16, 4, 4, 24
MTU = 1024
FULL_WIRE = HEADERS + MTU + CRC + ETHERNET
SENT, RECEIVED = 0, 1
DONE, RETRIES_EXCEEDED, FLUSHED = 0, 1, 2
NIC = Port(RATE_BPS, roce=Roce(ack_every=16))
WAIT_NS = 100_000_000
PAPER = "least 40000000 hyper 200000000"
"""DCQCN as in its paper, where the kernel's defaults are others."""


@dataclass(frozen=True)
class Completion:
    """Since the start; kind, status, pair, number, bytes; the first packet's time, and the pair's counters."""

    time_ns: int
    kind: int
    status: int
    pair: int
    number: int
    bytes: int
    first_ns: int
    sent_again: int = 0
    timeouts: int = 0
    notifications: int = 0
    marks: int = 0


def wire_bytes(payload: int, *, begins: bool = False) -> int:
    """What a data packet of a WRITE takes on the line; `begins`: it has an extended header."""
    return max(84, HEADERS + begins * RETH + payload + -payload % 4 + CRC + ETHERNET)


def ends(sizes: list[int], hops: int = 2, rate_bps: int = RATE_BPS, delay_ns: int = DELAY_NS) -> list[int]:
    """When frames that leave back to back have come to the end of a path of lines with one rate."""
    left = [0] * hops
    bits = [0] * hops
    arrived = []
    for size in sizes:
        time = 0
        for hop in range(hops):
            if time > left[hop]:
                bits[hop], left[hop] = 0, time
            start = left[hop] - bits[hop] * 10**9 // rate_bps if bits[hop] else left[hop]
            bits[hop] += size * 8
            left[hop] = start + bits[hop] * 10**9 // rate_bps
            time = left[hop] + delay_ns
        arrived.append(time)
    return arrived


def exchange(pair: int, peer: str, peer_pair: int, count: int, size: int, *, operation: str = "write") -> str:
    """Return the command that sends messages, or only waits for those of the peer, and writes down what is done."""
    words = f"{peer} {pair} {peer_pair} {operation} {count} {size} {START_NS} {WAIT_NS}"
    return f"/job/port-tool roce {words} > /job/PAIR &"


def completions(run: Path, name: str) -> list[Completion]:
    lines = (run / name).read_text().splitlines()
    found = [Completion(*map(int, line.split())) for line in lines]
    return [
        replace(one, time_ns=one.time_ns - START_NS, first_ns=one.first_ns - START_NS if one.first_ns else 0)
        for one in found
    ]


def sent_and_received(
    boot: Boot, count: int, size: int, *, nic: Port = NIC, switch: Port | None = None, operation: str = "write"
) -> tuple[list[Completion], list[Completion], Path]:
    """Messages from h1 to h2 by a switch: what each end was told."""
    to_h2 = switch or Port(RATE_BPS)
    star = Star([nic, replace(nic, loss=None)], [Port(RATE_BPS), to_h2], cable_ns=DELAY_NS)
    there = exchange(1, "10.2.0.2", 2, count, size, operation=operation).replace("PAIR", "one")
    back = exchange(2, "10.1.0.2", 1, 0, 0).replace("PAIR", "two")
    run = boot.run(star, [("h1", [there]), ("h2", [back])])
    return completions(run, "one"), completions(run, "two"), run


def test_one_message_arrives_by_the_arithmetic_of_its_headers(boot: Boot) -> None:
    """Three packets, the last of 100 bytes; the acknowledgement goes back the same way."""
    sent, received, run = sent_and_received(boot, 1, 2 * MTU + 100)
    sizes = [wire_bytes(MTU, begins=True), wire_bytes(MTU), wire_bytes(100)]
    first, *_, last = ends(sizes)
    assert received == [Completion(last, RECEIVED, DONE, 2, 0, 2 * MTU + 100, first)]
    back = ends([max(84, HEADERS + AETH + CRC + ETHERNET)])[0]
    assert sent == [Completion(last + back, SENT, DONE, 1, 0, 2148, 0)]
    one, two = (shown(run, host, "eth1").port["roce"] for host in ("h1", "h2"))
    assert (one["sent_packets"], one["sent_bytes"], one["acks_received"]) == (3, 2148, 1)
    assert (two["received_packets"], two["received_bytes"], two["acks_sent"]) == (3, 2148, 1)
    assert one["pairs"] == two["pairs"] == 0, "a program that ends takes its pairs along"


@pytest.mark.parametrize("size", [0, 1, MTU, MTU + 1, 1_000_000])
def test_a_pair_fills_the_line(boot: Boot, size: int) -> None:
    _, received, _ = sent_and_received(boot, 3, size, operation="send")
    packets = max(1, -(-size // MTU))
    sizes = [min(MTU, size - place * MTU) for place in range(packets)]
    arrived = ends([wire_bytes(payload) for _ in range(3) for payload in sizes])
    assert [one.time_ns for one in received] == arrived[packets - 1 :: packets]
    assert [(one.number, one.bytes) for one in received] == [(0, size), (1, size), (2, size)]


def test_lost_packets_are_sent_again_from_the_gap_on(boot: Boot) -> None:
    nic = replace(NIC, loss=2**32 // 100, roce=Roce())
    sent, received, run = sent_and_received(boot, 20, 100 * MTU, nic=nic)
    one, two = (shown(run, host, "eth1").port["roce"] for host in ("h1", "h2"))
    assert [message.number for message in sent] == [message.number for message in received] == list(range(20))
    assert two["received_bytes"] == 20 * 100 * MTU
    assert one["sent_again"] > one["naks_received"] > 10
    assert sent[-1].sent_again == one["sent_again"]
    assert [message.sent_again for message in sent] == sorted(message.sent_again for message in sent)
    assert two["received_packets"] == one["sent_packets"] - one["sent_again"]


def test_go_back_n_sends_again_what_was_under_way(boot: Boot) -> None:
    """A loss costs all that leaves until its NAK is back: one packet more, there and back, on lines of one rate."""
    part, packets = 1 / 1_000, 40_000
    nic = replace(NIC, loss=round(2**32 * part), roce=Roce(ack_every=256))
    sent, received, run = sent_and_received(boot, 1, packets * MTU, nic=nic)
    one, two = (shown(run, host, "eth1").port["roce"] for host in ("h1", "h2"))
    packet_ns = FULL_WIRE * 8 * 10**9 / RATE_BPS
    answer_ns = 2 * (max(84, HEADERS + AETH + CRC + ETHERNET) * 8 * 10**9 / RATE_BPS + DELAY_NS)
    under_way = math.ceil((3 * packet_ns + 2 * DELAY_NS + answer_ns) / packet_ns)
    losses = two["naks_sent"]
    assert one["timeouts"] == 0 == sent[0].timeouts
    assert losses == pytest.approx(part * one["sent_packets"], abs=3 * math.sqrt(part * one["sent_packets"]))
    # A packet that is lost among those that are sent again has its own NAK later.
    assert one["sent_again"] == pytest.approx(under_way * losses, rel=0.04)
    assert received[0].time_ns == pytest.approx(one["sent_packets"] * packet_ns, rel=0.001), "the line is never idle"
    goodput = packets / one["sent_packets"]
    assert goodput == pytest.approx(1 / (1 + part * under_way / (1 - part)), rel=0.02)


def test_a_peer_that_is_not_there_costs_the_retries(boot: Boot) -> None:
    nic = Port(RATE_BPS, roce=Roce(retries=2, timeout_ns=1_000_000))
    star = Star([nic, nic], [Port(RATE_BPS)] * 2, cable_ns=DELAY_NS)
    there = exchange(1, "10.2.0.2", 2, 2, MTU).replace("PAIR", "one")
    run = boot.run(star, [("h1", [there]), ("h2", [])])
    failed = completions(run, "one")
    assert [(one.number, one.status) for one in failed] == [(0, RETRIES_EXCEEDED), (1, FLUSHED)]
    assert {(one.time_ns, one.timeouts) for one in failed} == {(3_000_000, 3)}
    assert shown(run, "h1", "eth1").port["roce"]["timeouts"] == 3
    assert shown(run, "h2", "eth1").port["roce"]["strays"] == 6


@pytest.mark.parametrize(
    ("nic", "peer", "reason"),
    [
        (Port(RATE_BPS), "10.2.0.2", "No such device"),
        (Port(RATE_BPS, roce=Roce(mtu=2048)), "10.2.0.2", "Message too long"),
        (NIC, "10.1.0.9", "No route to host"),
    ],
)
def test_who_cannot_be_connected_is_told_why(boot: Boot, nic: Port, peer: str, reason: str) -> None:
    star = Star([nic, NIC], [Port(RATE_BPS)] * 2, cable_ns=DELAY_NS)
    run = boot.run(star, [("h1", [exchange(1, peer, 2, 1, MTU).replace("PAIR", "one")]), ("h2", [])])
    assert (run / "one").read_text() == f"connect: {reason}\n"


def test_marks_are_told_once_in_the_interval(boot: Boot) -> None:
    """Every packet is marked; with g = 0 alpha stays 1, and with a least rate of the line's no rate is cut."""
    nic = Port(RATE_BPS, roce=Roce(control="dcqcn", options=f"gain 4 least {RATE_BPS}"))
    marks = Port(RATE_BPS, queues=[Queue(3, wred=Wred(0, 0))])
    _, received, run = sent_and_received(boot, 1, 2_000 * MTU, nic=nic, switch=marks)
    one, two = (shown(run, host, "eth1").port["roce"] for host in ("h1", "h2"))
    assert two["ce_received"] == received[0].marks == 2_000
    first = ends([wire_bytes(MTU, begins=True)])[0]
    # A notification goes with the first packet that comes 50 us or more after the one before.
    expected, next_ns = 0, 0
    for time in ends([wire_bytes(MTU, begins=True), *[wire_bytes(MTU)] * 1_999]):
        if time >= next_ns:
            expected, next_ns = expected + 1, time + 50_000
    assert first < received[0].time_ns
    assert two["notifications_sent"] == one["notifications_received"] == expected


def test_a_pause_stops_the_pairs_and_nothing_is_lost(boot: Boot) -> None:
    """A tenth of the rate behind a lossless class: the sender is held back by pauses alone."""
    pfc = Pfc(priorities=1 << 3)
    nic = replace(NIC, pfc=pfc)
    lossless = Group(3, lossless=(20_000, 30_000, 0))
    lossless = replace(lossless, account=replace(lossless.account, limit=40_000))
    into = Port(RATE_BPS, pfc=pfc, groups=[lossless])
    slow = Port(RATE_BPS // 10)
    star = Star([nic, nic], [into, slow], cable_ns=DELAY_NS)
    there = exchange(1, "10.2.0.2", 2, 1, 5_000 * MTU).replace("PAIR", "one")
    back = exchange(2, "10.1.0.2", 1, 0, 0).replace("PAIR", "two")
    run = boot.run(star, [("h1", [there]), ("h2", [back])])
    (received,) = completions(run, "two")
    one = shown(run, "h1", "eth1")
    assert one.port["roce"]["sent_again"] == shown(run, "h2", "eth1").port["roce"]["out_of_sequence"] == 0
    assert one.queues[3]["pauses_received"] > 10
    whole = wire_bytes(MTU, begins=True) * 8 * 10**9 // RATE_BPS + 2 * DELAY_NS
    whole += (5_000 * wire_bytes(MTU) + RETH) * 8 * 10**10 // RATE_BPS
    assert received.time_ns == pytest.approx(whole, abs=1), "the slow line never waits"


def test_pairs_take_turns(boot: Boot) -> None:
    star = Star([NIC, NIC, NIC], [Port(RATE_BPS)] * 3, cable_ns=DELAY_NS)
    there = [exchange(n, f"10.{n + 1}.0.2", 9, 1, 1_000 * MTU).replace("PAIR", f"from-{n}") for n in (1, 2)]
    back = [(f"h{n}", [exchange(9, "10.1.0.2", n - 1, 0, 0).replace("PAIR", f"at-{n}")]) for n in (2, 3)]
    run = boot.run(star, [("h1", there), *back])
    (first,), (second,) = completions(run, "at-2"), completions(run, "at-3")
    apart = abs(first.time_ns - second.time_ns)
    assert apart <= FULL_WIRE * 8 * 10**9 // RATE_BPS + 20_000, "one packet, and how far apart the programs posted"


def test_the_rate_after_a_notification(boot: Boot) -> None:
    """One mark: the rate is half, then halves its distance to the line's each 55 us."""
    nic = Port(RATE_BPS, roce=Roce(control="dcqcn", options=PAPER, notify_ns=10**9))
    marks = Port(RATE_BPS, queues=[Queue(3, wred=Wred(0, 0))])
    _, received, run = sent_and_received(boot, 1_000, MTU, nic=nic, switch=marks, operation="send")
    assert shown(run, "h1", "eth1").port["roce"]["notifications_received"] == 1
    arrived = [one.time_ns for one in received]
    told_ns = arrived[0] + ends([wire_bytes(16) - CRC])[0]
    gaps: dict[int, list[int]] = {}
    for earlier, later in itertools.pairwise(arrived):
        # Packets leave as far apart as they arrive; the first left at once.
        gaps.setdefault((earlier - arrived[0] - told_ns) // 55_000, []).append(later - earlier)
    full = FULL_WIRE * 8 * 10**9 / RATE_BPS
    assert all(gap == pytest.approx(full, abs=1) for gap in gaps[-1][:-1])
    for cycle, part in ((0, 0.5), (1, 0.75), (2, 0.875), (3, 0.9375)):
        between = gaps[cycle][2:-2]
        assert len(between) > 20
        assert all(gap == pytest.approx(full / part, abs=1) for gap in between), cycle


def test_two_senders_share_a_port_by_dcqcn_without_a_pause(boot: Boot) -> None:
    """The thresholds of the paper's deployment, 5 KB to 200 KB with 1 %, at a quarter of its rate."""
    nic = Port(RATE_BPS, roce=Roce(control="dcqcn", options=PAPER, ack_every=16))
    curve = Wred(5_000, 50_000, 0.01)
    star = Star(
        [nic, nic, nic], [Port(RATE_BPS), Port(RATE_BPS), Port(RATE_BPS, queues=[Queue(3, wred=curve)])], cable_ns=1_000
    )
    there = [(f"h{n}", [exchange(n, "10.3.0.2", 2 + n, 1, 40_000_000).replace("PAIR", f"from-{n}")]) for n in (1, 2)]
    back = [exchange(2 + n, f"10.{n}.0.2", n, 0, 0).replace("PAIR", f"at-{n}") for n in (1, 2)]
    run = boot.run(star, [*there, ("h3", back)])
    ((first,), (second,)) = completions(run, "at-1"), completions(run, "at-2")
    whole = 2 * 40_000_000 // MTU * FULL_WIRE * 8 * 10**9 // RATE_BPS
    assert max(first.time_ns, second.time_ns) < 1.15 * whole, "the port is busy nearly all the time"
    assert min(first.time_ns, second.time_ns) > 0.75 * whole, "neither takes much more than the other"
    queue = shown(run, "s1", "eth3").queues[3]
    assert sum(queue["drops"].values()) == 0
    assert queue["watermark_bytes"] < 400_000
    assert shown(run, "h1", "eth1").port["roce"]["notifications_received"] > 20
