"""READs of a RoCE NIC in the machine: what either end sends, when, and what a loss costs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from machine import Boot, Star, shown
from switch_port import Port, Queue, Roce, Wred
from test_roce_machine import (
    AETH,
    CRC,
    DELAY_NS,
    DONE,
    ETHERNET,
    FULL_WIRE,
    HEADERS,
    MTU,
    NIC,
    PAPER,
    RATE_BPS,
    RECEIVED,
    RETH,
    RETRIES_EXCEEDED,
    SENT,
    Completion,
    completions,
    ends,
    exchange,
)

pytestmark = pytest.mark.vm
ANSWERED = 2
REQUEST = HEADERS + RETH + CRC + ETHERNET


def responses(size: int) -> list[int]:
    """What the responses to a READ take on the line: the first and the last have an AETH."""
    payloads = [min(MTU, size - place) for place in range(0, size, MTU)] or [0]
    last = len(payloads) - 1
    around = HEADERS + CRC + ETHERNET
    return [
        max(84, payload + -payload % 4 + around + (AETH if place in (0, last) else 0))
        for place, payload in enumerate(payloads)
    ]


def read(
    boot: Boot,
    count: int,
    size: int,
    *,
    nics: tuple[Port, Port] = (NIC, NIC),
    switch: Port | None = None,
    operation: str = "read",
) -> tuple[list[Completion], list[Completion], Path]:
    """READs of h1 from h2 by a switch, whose port to h1 is `switch`: what each end was told."""
    star = Star(list(nics), [switch or Port(RATE_BPS), Port(RATE_BPS)], cable_ns=DELAY_NS)
    there = exchange(1, "10.2.0.2", 2, count, size, operation=operation).replace("PAIR", "one")
    back = exchange(2, "10.1.0.2", 1, 0, 0).replace("PAIR", "two")
    run = boot.run(star, [("h1", [there]), ("h2", [back])])
    return completions(run, "one"), completions(run, "two"), run


def counted(run: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    one, two = (shown(run, host, "eth1").port["roce"] for host in ("h1", "h2"))
    return one, two


def test_a_read_takes_the_arithmetic_of_its_headers(boot: Boot) -> None:
    """A request of 98 bytes, and three responses, the last of 100 bytes; nothing is acknowledged."""
    size = 2 * MTU + 100
    done, answered, run = read(boot, 1, size)
    asked = ends([REQUEST])[0]
    first, *_, last = ends(responses(size))
    assert done == [Completion(asked + last, SENT, DONE, 1, 0, size, asked + first)]
    leaves = asked + sum(responses(size)[:2]) * 8 * 10**9 // RATE_BPS
    assert answered == [Completion(leaves, ANSWERED, DONE, 2, 0, size, asked)]
    one, two = counted(run)
    assert (one["read_requests_sent"], one["received_packets"], one["received_bytes"]) == (1, 3, size)
    assert (two["read_requests_received"], two["sent_packets"], two["sent_bytes"]) == (1, 3, size)
    assert one["acks_received"] == one["acks_sent"] == two["acks_sent"] == one["sent_packets"] == 0


@pytest.mark.parametrize("size", [0, 1, MTU, MTU + 1, 1_000_000])
def test_reads_fill_the_line(boot: Boot, size: int) -> None:
    """Three READs are asked for at once: their responses leave back to back, if the requests are there in time."""
    done, answered, _ = read(boot, 3, size)
    requests = ends([REQUEST] * 3)
    packets = len(responses(size))
    if size >= MTU:
        arrived = [requests[0] + time for time in ends(responses(size) * 3)]
        assert [one.time_ns for one in done] == arrived[packets - 1 :: packets]
    else:
        assert [one.time_ns for one in done] == [request + ends(responses(size))[0] for request in requests]
    assert [(one.number, one.bytes) for one in done] == [(number, size) for number in range(3)]
    assert [(one.number, one.bytes, one.kind) for one in answered] == [(number, size, ANSWERED) for number in range(3)]


def test_a_long_read_goes_at_the_lines_rate(boot: Boot) -> None:
    packets = 20_000
    (done,), _, _ = read(boot, 1, packets * MTU)
    goodput = packets * MTU * 8 * 10**9 / (done.time_ns - done.first_ns)
    assert goodput == pytest.approx(RATE_BPS * MTU / FULL_WIRE, rel=1e-4)


@pytest.mark.parametrize("reads", [1, 2, 16])
def test_so_many_reads_are_on_their_way(boot: Boot, reads: int) -> None:
    """The next request goes when the oldest READ is answered in full."""
    size, count = 10 * MTU, 8
    nic = replace(NIC, roce=Roce(reads=reads))
    done, _, _ = read(boot, count, size, nics=(nic, nic))
    times = [one.time_ns for one in done]
    whole = sum(responses(size)) * 8 * 10**9 // RATE_BPS
    alone = ends([REQUEST])[0] + ends(responses(size))[-1]
    apart = {later - earlier for earlier, later in itertools.pairwise(times)}
    # Ten packets last longer than a round trip, so that two READs fill the line.
    expected = alone if reads == 1 else whole
    assert times[0] == alone
    assert apart == {expected} if reads == 1 else all(abs(gap - expected) <= 1 for gap in apart)


def test_a_lost_response_is_asked_for_again(boot: Boot) -> None:
    lossy = replace(NIC, loss=2**32 // 100)
    done, answered, run = read(boot, 20, 100 * MTU, nics=(NIC, lossy))
    one, two = counted(run)
    assert [message.number for message in done] == [message.number for message in answered] == list(range(20))
    assert {(message.status, message.bytes) for message in (*done, *answered)} == {(DONE, 100 * MTU)}
    assert one["received_bytes"] == 20 * 100 * MTU
    assert one["implied_naks"] > 10
    assert two["sent_packets"] - two["sent_again"] == one["received_packets"] == 2_000
    assert two["duplicates"] > 0 == two["acks_sent"] == two["naks_sent"]
    assert done[-1].sent_again >= one["implied_naks"], "each asks again, at least for the READ with the gap"


def test_go_back_n_sends_again_what_was_under_way(boot: Boot) -> None:
    """A loss costs all that leaves until the new request is there: one packet more, there and back."""
    part, packets = 1 / 1_000, 40_000
    lossy = replace(NIC, loss=round(2**32 * part), roce=Roce(timeout_ns=100_000))
    done, _, run = read(boot, 1, packets * MTU, nics=(replace(lossy, loss=None), lossy))
    one, two = counted(run)
    packet_ns = FULL_WIRE * 8 * 10**9 / RATE_BPS
    asks_ns = 2 * (REQUEST * 8 * 10**9 / RATE_BPS + DELAY_NS)
    under_way = math.ceil((3 * packet_ns + 2 * DELAY_NS + asks_ns) / packet_ns)
    losses = one["implied_naks"]
    assert losses == pytest.approx(part * two["sent_packets"], abs=3 * math.sqrt(part * two["sent_packets"]))
    assert two["sent_again"] == pytest.approx(under_way * losses, rel=0.06)
    idle_ns = done[0].timeouts * 100_000
    assert done[0].time_ns == pytest.approx(two["sent_packets"] * packet_ns + idle_ns, rel=0.002)
    assert packets / two["sent_packets"] == pytest.approx(1 / (1 + part * under_way / (1 - part)), rel=0.02)


def test_a_lost_request_is_found_by_the_next_or_by_the_timeout(boot: Boot) -> None:
    lossy = replace(NIC, loss=2**32 // 10, roce=Roce(timeout_ns=1_000_000))
    done, _, run = read(boot, 100, MTU, nics=(lossy, replace(lossy, loss=None)))
    one, two = counted(run)
    assert [(message.number, message.status) for message in done] == [(number, DONE) for number in range(100)]
    assert two["naks_sent"] > 2, "a later request shows the gap"
    assert one["read_requests_sent"] > 100


def test_a_peer_that_is_not_there_costs_the_retries(boot: Boot) -> None:
    nic = Port(RATE_BPS, roce=Roce(retries=2, timeout_ns=1_000_000))
    star = Star([nic, nic], [Port(RATE_BPS)] * 2, cable_ns=DELAY_NS)
    there = exchange(1, "10.2.0.2", 2, 1, MTU, operation="read").replace("PAIR", "one")
    run = boot.run(star, [("h1", [there]), ("h2", [])])
    assert [(one.status, one.time_ns) for one in completions(run, "one")] == [(RETRIES_EXCEEDED, 3_000_000)]


@pytest.mark.parametrize("part", [0, 0.002])
def test_reads_and_writes_of_one_pair_keep_their_order(boot: Boot, part: float) -> None:
    """The acknowledgement of a WRITE behind a READ waits for its responses: before them it would say they are lost."""
    nic = replace(NIC, loss=round(2**32 * part), roce=Roce(ack_every=16, timeout_ns=1_000_000))
    done, told, run = read(boot, 40, 50 * MTU, nics=(nic, nic), operation="mixed")
    assert [(one.number, one.status, one.bytes) for one in done] == [(number, DONE, 50 * MTU) for number in range(40)]
    for kind in (RECEIVED, ANSWERED):
        assert [(one.number, one.bytes) for one in told if one.kind == kind] == [(n, 50 * MTU) for n in range(20)]
    one, two = counted(run)
    assert (one["received_packets"], two["received_packets"]) == (1_000, 1_000)
    assert (one["implied_naks"] + one["naks_received"] + two["sent_again"] == 0) == (part == 0)


def test_both_ends_read_and_answer(boot: Boot) -> None:
    star = Star([NIC, NIC], [Port(RATE_BPS)] * 2, cable_ns=DELAY_NS)
    there = exchange(1, "10.2.0.2", 2, 3, 1_000 * MTU, operation="read").replace("PAIR", "one")
    back = exchange(2, "10.1.0.2", 1, 3, 1_000 * MTU, operation="read").replace("PAIR", "two")
    run = boot.run(star, [("h1", [there]), ("h2", [back])])
    for name in ("one", "two"):
        kinds = [one.kind for one in completions(run, name)]
        assert kinds.count(SENT) == kinds.count(ANSWERED) == 3
        last = max(one.time_ns for one in completions(run, name))
        assert last == pytest.approx(3_000 * FULL_WIRE * 8 * 10**9 / RATE_BPS, rel=0.01), "each way has its own line"


def test_notifications_come_to_the_end_that_answers(boot: Boot) -> None:
    """Every response is marked; with g = 0 and a least rate of the line's no rate is cut."""
    nic = Port(RATE_BPS, roce=Roce(control="dcqcn", options=f"gain 4 least {RATE_BPS}"))
    marks = Port(RATE_BPS, queues=[Queue(3, wred=Wred(0, 0))])
    _, _, run = read(boot, 1, 2_000 * MTU, nics=(nic, nic), switch=marks)
    one, two = counted(run)
    assert one["ce_received"] == 2_000
    expected, next_ns = 0, 0
    for time in ends(responses(2_000 * MTU)):
        if time >= next_ns:
            expected, next_ns = expected + 1, time + 50_000
    assert one["notifications_sent"] == two["notifications_received"] == expected
    assert one["notifications_received"] == two["notifications_sent"] == 0


def test_dcqcn_shares_a_port_among_ends_that_answer(boot: Boot) -> None:
    """Two hosts are read from by one: the notifications slow them down, and no queue grows long."""
    nic = Port(RATE_BPS, roce=Roce(control="dcqcn", options=PAPER, ack_every=16))
    curve = Wred(5_000, 50_000, 0.01)
    to_reader = Port(RATE_BPS, queues=[Queue(3, wred=curve)])
    star = Star([nic, nic, nic], [Port(RATE_BPS), Port(RATE_BPS), to_reader], cable_ns=1_000)
    reads = [
        exchange(2 + n, f"10.{n}.0.2", n, 1, 40_000_000, operation="read").replace("PAIR", f"at-{n}") for n in (1, 2)
    ]
    answers = [(f"h{n}", [exchange(n, "10.3.0.2", 2 + n, 0, 0).replace("PAIR", f"from-{n}")]) for n in (1, 2)]
    run = boot.run(star, [*answers, ("h3", reads)])
    ((first,), (second,)) = completions(run, "at-1"), completions(run, "at-2")
    whole = 2 * 40_000_000 // MTU * FULL_WIRE * 8 * 10**9 // RATE_BPS
    assert max(first.time_ns, second.time_ns) < 1.15 * whole, "the port is busy nearly all the time"
    assert min(first.time_ns, second.time_ns) > 0.75 * whole, "neither takes much more than the other"
    queue = shown(run, "s1", "eth3").queues[3]
    assert sum(queue["drops"].values()) == 0
    assert queue["watermark_bytes"] < 400_000
    one, two, three = (shown(run, f"h{n}", "eth1").port["roce"] for n in (1, 2, 3))
    assert min(one["notifications_received"], two["notifications_received"]) > 20
    assert three["notifications_received"] == 0


def test_a_read_with_selective_repeat_is_refused(boot: Boot) -> None:
    nic = replace(NIC, roce=Roce(selective=True))
    star = Star([nic, nic], [Port(RATE_BPS)] * 2, cable_ns=DELAY_NS)
    there = exchange(1, "10.2.0.2", 2, 1, MTU, operation="read").replace("PAIR", "one")
    run = boot.run(star, [("h1", [there]), ("h2", [])])
    assert (run / "one").read_text() == "post: Operation not supported\n"
