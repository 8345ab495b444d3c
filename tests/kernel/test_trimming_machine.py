"""Packet trimming in the machine: what a queue has no room for goes on without its payload, and is asked for again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from machine import Boot, Star, datagrams, receive, send, shown
from switch_port import Account, Port, Queue, Roce, Shown, Trimming
from test_roce_machine import DELAY_NS, FULL_WIRE, RATE_BPS, completions, exchange

pytestmark = pytest.mark.vm
MTU = 1024
LIMIT = 30_000
"""Bytes that the queue of data may have."""
HEADER = 64
"""Bytes that remain of a trimmed frame."""
HEADER_WIRE = HEADER + 24
DATA, TRIMMED = 3, 6
"""Queues: of DSCP 26, and of DSCP 48."""
NIC = Roce(ack_every=256, timeout_ns=4_000_000)
TO_ONE = Port(RATE_BPS, queues=[Queue(DATA, Account(limit=LIMIT))])
TRIMS = replace(
    TO_ONE,
    trimming=Trimming(HEADER, 48),
    queues=[Queue(DATA, Account(limit=LIMIT), trims=True), Queue(TRIMMED, Account(limit=100_000))],
)


def in_cast(boot: Boot, port: Port, roce: Roce, senders: int, packets: int) -> tuple[Path, Shown, int]:
    """Messages of all senders to the last host at one instant: the run, its port, and when the last has come."""
    last = senders + 1
    nic = Port(RATE_BPS, roce=roce)
    star = Star([nic] * last, [*[Port(RATE_BPS)] * senders, port], cable_ns=DELAY_NS)
    there = [
        (f"h{n}", [exchange(n, f"10.{last}.0.2", 100 + n, 1, packets * MTU).replace("PAIR", f"from{n}")])
        for n in range(1, last)
    ]
    back = [exchange(100 + n, f"10.{n}.0.2", n, 0, 0).replace("PAIR", f"to{n}") for n in range(1, last)]
    run = boot.run(star, [*there, (f"h{last}", back)])
    ends = [completions(run, f"to{n}") for n in range(1, last)]
    assert [len(one) for one in ends] == [1] * senders, "each message came in whole, and once"
    return run, shown(run, "s1", f"eth{last}"), max(one[0].time_ns for one in ends)


def all_of(run: Path, senders: int, counter: str) -> int:
    return sum(shown(run, f"h{n}", "eth1").port["roce"][counter] for n in range(1, senders + 1))


SENDERS, PACKETS = 4, 100
IDEAL_NS = SENDERS * PACKETS * FULL_WIRE * 8 * 10**9 // RATE_BPS
FIRST_NS = 2 * DELAY_NS + FULL_WIRE * 8 * 10**9 // RATE_BPS


def test_each_trimmed_packet_is_sent_again_once_and_no_other_one(boot: Boot) -> None:
    run, port, end_ns = in_cast(boot, TRIMS, replace(NIC, selective=True, trimmed=True), SENDERS, PACKETS)
    data, headers = port.queues[DATA], port.queues[TRIMMED]
    trimmed = data["trimmed_packets"]
    assert trimmed > SENDERS * PACKETS / 4
    assert data["trimmed_drops"] == 0 == sum(data["drops"].values())
    assert data["trimmed_bytes"] == trimmed * (FULL_WIRE - 24 - HEADER)
    assert (headers["sent_packets"], headers["sent_bytes"]) == (trimmed, trimmed * HEADER)
    assert all_of(run, SENDERS, "sent_again") == trimmed
    assert all_of(run, SENDERS, "timeouts") == 0
    assert shown(run, f"h{SENDERS + 1}", "eth1").port["roce"]["trimmed_received"] == trimmed
    # The line is never idle: it takes all data once, and the headers.
    expected = FIRST_NS + IDEAL_NS + trimmed * HEADER_WIRE * 8 * 10**9 // RATE_BPS
    assert end_ns == pytest.approx(expected, rel=0.02)


def test_without_trimming_the_same_in_cast_waits_for_timeouts(boot: Boot) -> None:
    run, port, end_ns = in_cast(boot, TO_ONE, replace(NIC, selective=True), SENDERS, PACKETS)
    assert port.queues[DATA]["drops"]["queue_limit"] > 0 == port.queues[DATA]["trimmed_packets"]
    assert all_of(run, SENDERS, "timeouts") >= 1
    assert end_ns > NIC.timeout_ns + IDEAL_NS


def test_go_back_n_is_told_at_once(boot: Boot) -> None:
    run, port, end_ns = in_cast(boot, TRIMS, replace(NIC, trimmed=True), SENDERS, PACKETS)
    before, dropping, late_ns = in_cast(boot_again(boot), TO_ONE, NIC, SENDERS, PACKETS)
    assert all_of(run, SENDERS, "timeouts") == 0 < all_of(before, SENDERS, "timeouts")
    assert end_ns < late_ns
    assert dropping.queues[DATA]["trimmed_packets"] == 0 < port.queues[DATA]["trimmed_packets"]


def boot_again(boot: Boot) -> Boot:
    return replace(boot, directory=boot.directory / "again")


def test_a_nic_that_does_not_know_trimming_drops(boot: Boot) -> None:
    run, port, _ = in_cast(boot, TRIMS, replace(NIC, selective=True), SENDERS, PACKETS)
    assert port.queues[DATA]["trimmed_packets"] > 0
    assert shown(run, f"h{SENDERS + 1}", "eth1").port["roce"]["trimmed_received"] == 0
    assert all_of(run, SENDERS, "timeouts") >= 1


def test_datagrams_that_are_trimmed_are_lost_and_short_ones_go_whole(boot: Boot) -> None:
    """UDP's length is that of the whole, so the receiver's Linux takes no trimmed datagram."""
    count, size = 60, 256
    trims = replace(
        TO_ONE,
        rate_bps=100_000_000,
        trimming=Trimming(size, 48),
        queues=[Queue(DATA, Account(limit=LIMIT), trims=True), Queue(TRIMMED)],
    )
    sends = [send("10.3.0.2", count=count, port=7000, tc=3), send("10.3.0.2", count=count, port=7001, tc=3, size=100)]
    star = Star([Port(RATE_BPS)] * 3, [Port(RATE_BPS)] * 2 + [trims])
    there = [("h1", sends[:1]), ("h2", sends[1:])]
    run = boot.run(star, [*there, ("h3", [receive(100_000_000, 7000)]), ("h3", [receive(100_000_000, 7001)])])
    data = shown(run, "s1", "eth3").queues[DATA]
    whole, short = (datagrams(boot, run, f"h3-{number}") for number in range(2))
    assert len(short) == count, "what is not longer than a trimmed packet goes on whole"
    cut = count - len(whole)
    assert cut > 0
    assert data["trimmed_bytes"] == cut * (1514 - size)
    assert data["trimmed_packets"] >= cut


def test_wrong_values_are_refused(boot: Boot) -> None:
    for trimming, message in (
        (Trimming(63), "a trimmed frame has 64 to 65535 bytes, not 63"),
        (Trimming(64, 64), "the DSCP of trimmed frames is 0 to 63, not 64"),
        (Trimming(64, 0, 8), "the queue of trimmed frames is 0 to 7, not 8"),
    ):
        with pytest.raises(AssertionError) as told:
            boot_to_fail(boot, trimming)
        assert message in str(told.value)


def boot_to_fail(boot: Boot, trimming: Trimming) -> None:
    star = Star([Port(RATE_BPS)], [Port(RATE_BPS, trimming=trimming)])
    place = replace(boot, directory=boot.directory / f"{trimming.size}-{trimming.dscp}-{trimming.queue}")
    place.run(star, [])


@pytest.mark.parametrize("senders", [8, 16])
def test_credit_of_the_receiver_fills_the_line_and_keeps_the_queue_short(boot: Boot, senders: int) -> None:
    """After the first windows, packets come as fast as the line takes them: few are trimmed, and the line is busy."""
    packets, window = 200, 8
    roce = replace(NIC, selective=True, trimmed=True, control="credit", options=f"first {window * MTU}")
    run, port, end_ns = in_cast(boot, TRIMS, roce, senders, packets)
    data = port.queues[DATA]
    trimmed = data["trimmed_packets"]
    sent = senders * packets + trimmed
    ideal = FIRST_NS + senders * packets * FULL_WIRE * 8 * 10**9 // RATE_BPS
    assert all_of(run, senders, "timeouts") == 0
    assert all_of(run, senders, "sent_again") == trimmed
    assert trimmed < senders * window
    receiver = shown(run, f"h{senders + 1}", "eth1").port["roce"]
    assert receiver["credits_sent"] <= sent
    assert end_ns == pytest.approx(ideal, rel=0.01)
