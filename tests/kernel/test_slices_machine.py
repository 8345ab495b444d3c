"""A memory in slices, in the machine: a limit is one slice's, and a frame's slice follows from both of its ports."""

from __future__ import annotations

import pytest
from machine import FULL_FRAME, Boot, Star, send, shown
from switch_port import Account, Group, Pfc, Port, Queue

pytestmark = pytest.mark.vm
CELL = 208
CELLS = -(-FULL_FRAME // CELL)
SLICES = 4
POOL = 400 * SLICES * CELL
SHARE = 200
"""Cells of a slice that an account holds with alpha 1, alone."""
SLOW_BPS = 50_000_000
PRIORITY = 0


def port(into: int, out: int, rate_bps: int = 1_000_000_000, *, group: Group | None = None) -> Port:
    """Return a port of a switch of four slices, with a queue and a group of alpha 1 or the group that is given."""
    return Port(
        rate_bps=rate_bps,
        cell=CELL,
        slices=SLICES,
        slice=(into, out),
        pools={0: (POOL, 0)},
        groups=[] if group is None else [group],
        queues=[Queue(0, Account(pool=0, alpha_log=0))] if group is None else [],
        pfc=None if group is None or group.lossless is None else Pfc(1 << PRIORITY),
    )


def test_a_queue_has_a_limit_in_each_slice_that_its_frames_come_from(boot: Boot) -> None:
    """Ports 1 and 2 are of slices 0 and 2, 3 and 4 leave by 1 and 0. Port 3's queue is filled by port 1 alone, port 4's
    by both."""
    star = Star([Port()] * 4, [port(0, 0), port(2, 0), port(0, 1, SLOW_BPS), port(0, 0, SLOW_BPS)])
    senders = [
        ("h1", [send("10.3.0.2", count=500)]),
        ("h1", [send("10.4.0.2", count=500)]),
        ("h2", [send("10.4.0.2", count=500)]),
    ]
    run = boot.run(star, senders)
    alone, both = (shown(run, "s1", f"eth{number}").queues[0]["watermark_bytes"] for number in (3, 4))
    # An account below its limit takes a frame whole.
    assert alone == -(-SHARE // CELLS) * FULL_FRAME
    assert both == 2 * -(-SHARE // CELLS) * FULL_FRAME
    pool = shown(run, "s1", "eth1").port["pools"][0]
    assert (pool["size"], pool["used"]) == (POOL, 0)


def test_a_group_has_a_limit_in_each_slice_that_its_frames_go_to(boot: Boot) -> None:
    """Port 1's group fills one slice by what leaves by port 2; port 3's frames find room in another."""
    group = Group(PRIORITY, Account(pool=0, alpha_log=0))
    slow = Port(rate_bps=SLOW_BPS, slice=(0, 0))
    star = Star([Port()] * 3, [port(0, 0, group=group), slow, Port(rate_bps=SLOW_BPS, slice=(0, 1))])
    run = boot.run(star, [("h1", [send("10.2.0.2", count=300)]), ("h1", [send("10.3.0.2", count=5)])])
    stats = shown(run, "s1", "eth1").groups[0]
    assert stats["discards"] > 100
    assert shown(run, "s1", "eth3").queues[0]["drops"]["ingress"] == 0
    assert shown(run, "s1", "eth3").queues[0]["sent_packets"] == 5
    assert -(-SHARE // CELLS) < stats["watermark_bytes"] / (CELLS * CELL) <= -(-SHARE // CELLS) + 5


@pytest.mark.parametrize("pieces", [1, SLICES])
def test_a_group_pauses_when_one_slice_is_full(boot: Boot, pieces: int) -> None:
    """In a memory of one piece of that size four times as many frames come before the pause."""
    headroom = 100 * CELL
    lossless = Group(PRIORITY, Account(pool=0, alpha_log=0), (headroom, 10 * CELL, 0))
    whole = Port(cell=CELL, pools={0: (POOL, 0)}, groups=[lossless], pfc=Pfc(1 << PRIORITY))
    first = whole if pieces == 1 else port(2, 0, group=lossless)
    star = Star([Port(pfc=Pfc(1 << PRIORITY))] * 2, [first, Port(rate_bps=SLOW_BPS)])
    run = boot.run(star, [("h1", [send("10.2.0.2", count=500)])])
    stats = shown(run, "s1", "eth1").groups[0]
    assert stats["xoffs"] > 0
    assert stats["discards"] == 0
    limit = POOL // pieces // 2
    assert limit < stats["watermark_bytes"] <= limit + headroom
