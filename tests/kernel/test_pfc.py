"""Priority flow control in the machine: lossless classes, headroom to the frame, storms."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from machine import (
    FULL_FRAME,
    FULL_PAYLOAD,
    FULL_WIRE,
    START_NS,
    Boot,
    Process,
    Star,
    datagrams,
    receive,
    send,
    show_at,
    shown,
)
from switch_port import STORM_DROP, STORM_FORWARD, Account, Group, Pfc, Port, read_shown

pytestmark = pytest.mark.vm
TC = 3
RATE_BPS = 1_000_000_000
DELAY_NS = 5_000
PAUSE_NS = 84 * 8
FRAME_NS = FULL_WIRE * 8


def headroom_frames(wait_ns: int) -> int:
    """What a sender at the line's rate gets through from the frame on that does not fit: that frame, and those that it
    starts before the pause (which waits, is serialised and takes the cable) reaches it and that are still one cable
    away."""
    return 1 + -(-(wait_ns + PAUSE_NS + 2 * DELAY_NS) // FRAME_NS)


ROUND_TRIP_FRAMES = headroom_frames(0)
BUSY_ROUND_TRIP_FRAMES = headroom_frames(FRAME_NS)
"""With traffic against it, a pause waits for a frame in service, at most a whole one."""

PFC = Pfc(1 << TC)
LOSSLESS_HOST = Port(delay_ns=DELAY_NS, pfc=PFC)


def lossless(headroom: int, **port: Any) -> Port:
    group = Group(TC, Account(pool=0, limit=20 * FULL_FRAME), lossless=(headroom, 10 * FULL_FRAME, 0))
    return Port(delay_ns=DELAY_NS, pools={0: (1_000_000, 0)}, pfc=PFC, groups=[group], **port)


BURSTS, BURST_SPACING_NS = 300, 8_000_000
"""With a frame of headroom too few more than one frame a burst is lost: as many show it as surely as more would."""


def random_bursts(host: int) -> str:
    """The times and sizes of a host's bursts, within 20 us of the other hosts'."""
    random = Random(host)
    lines = [
        f"{START_NS + burst * BURST_SPACING_NS + random.randrange(20_000)} {random.randrange(1, 70)}"
        for burst in range(BURSTS)
    ]
    return "\n".join(lines) + "\n"


BEST_EFFORT = 1
"""The class of the traffic against the bursts: lossy, and below theirs."""


REVERSE_FRAMES = 100
"""How many frames each burst against the in-cast has: as long as its senders send."""


def reverse_bursts() -> str:
    return "".join(f"{START_NS + burst * BURST_SPACING_NS} {REVERSE_FRAMES}\n" for burst in range(BURSTS))


def bursts(host: int, to: int, tc: int, port: int = 7000) -> Process:
    return f"h{host}", [f"/job/port-tool bursts 10.{to}.0.2 {port} {8 * tc} {FULL_PAYLOAD} /job/bursts-{host} &"]


def in_cast(boot: Boot, headroom: int, *, reverse: bool = False) -> tuple[int, int, int]:
    """Bursts from three hosts to one at the same time: frames sent, arrived, discarded."""
    hosts = 7 if reverse else 4
    # What leaves while the pause is under way makes room: with a slow way out the headroom is needed to the last frame.
    out = lossless(headroom, rate_bps=RATE_BPS // 4 if reverse else RATE_BPS)
    star = Star([LOSSLESS_HOST] * hosts, [lossless(headroom)] * 3 + [out] + [lossless(headroom)] * (hosts - 4))
    in_bursts = {f"bursts-{n}": random_bursts(n) for n in (1, 2, 3)}
    # Hosts 5, 6 and 7 send to hosts 1, 2 and 3 at the line's rate.
    against = [bursts(4 + n, n, BEST_EFFORT, 9) for n in (1, 2, 3)] if reverse else []
    files = in_bursts | {f"bursts-{n}": reverse_bursts() for n in (5, 6, 7)}
    receiver = ("h4", [receive(BURSTS * BURST_SPACING_NS + 100_000_000)])
    run = boot.run(star, [*(bursts(n, 4, TC) for n in (1, 2, 3)), receiver, *against], files=files)
    if reverse:
        busy = [shown(run, "s1", f"eth{n}").queues[BEST_EFFORT]["sent_packets"] for n in (1, 2, 3)]
        assert busy == [BURSTS * REVERSE_FRAMES] * 3
    groups = [shown(run, "s1", f"eth{n}").groups[TC] for n in (1, 2, 3)]
    assert all(group["xoffs"] > BURSTS // 4 for group in groups)
    sent = sum(int(line.split()[1]) for lines in in_bursts.values() for line in lines.splitlines())
    return sent, len(datagrams(boot, run, "h4-0")), sum(group["discards"] for group in groups)


def test_a_lossless_class_loses_nothing_with_the_headroom_that_is_needed(boot: Boot) -> None:
    sent, arrived, discarded = in_cast(boot, ROUND_TRIP_FRAMES * FULL_FRAME)
    assert (arrived, discarded) == (sent, 0)


def test_it_loses_with_one_frame_less(boot: Boot) -> None:
    sent, arrived, discarded = in_cast(boot, (ROUND_TRIP_FRAMES - 1) * FULL_FRAME)
    assert discarded > 0
    assert arrived == sent - discarded


def test_with_traffic_against_it_a_lossless_class_needs_one_frame_more(boot: Boot) -> None:
    assert BUSY_ROUND_TRIP_FRAMES == ROUND_TRIP_FRAMES + 1
    sent, arrived, discarded = in_cast(boot, BUSY_ROUND_TRIP_FRAMES * FULL_FRAME, reverse=True)
    assert (arrived, discarded) == (sent, 0)


def test_with_traffic_against_it_a_lossless_class_loses_with_one_frame_less(boot: Boot) -> None:
    sent, arrived, discarded = in_cast(boot, ROUND_TRIP_FRAMES * FULL_FRAME, reverse=True)
    assert discarded > 0
    assert arrived == sent - discarded


def test_a_pause_stops_its_priority_only_and_for_its_time(boot: Boot) -> None:
    """A frame of the paused class waits until the pause is over, one of another class does not;
    the pause comes along the line."""
    star = Star([LOSSLESS_HOST, Port()], [Port(pfc=PFC), Port()])
    run = boot.run(
        star,
        [
            ("s1", [f"/job/port-tool pause eth1 {1 << TC | 1 << 4} 1000 1 1 {START_NS}"]),
            ("h1", [send("10.2.0.2", count=1, tc=tc, port=7000 + tc, start_ns=START_NS + 100_000) for tc in (TC, 4)]),
            *[("h2", [receive(100_000_000, 7000 + tc)]) for tc in (TC, 4)],
        ],
    )
    arrives = START_NS + PAUSE_NS
    path = 2 * FRAME_NS + DELAY_NS
    assert [d.time_ns for d in datagrams(boot, run, "h2-0")] == [arrives + 1000 * 512 + path]
    assert [d.time_ns for d in datagrams(boot, run, "h2-1")] == [START_NS + 100_000 + path]
    queue = shown(run, "h1", "eth1").queues[TC]
    assert (queue["pauses_received"], queue["paused_ns"]) == (1, 1000 * 512)


def test_the_reaction_time_lets_more_through(boot: Boot) -> None:
    slow_to_react = Port(delay_ns=DELAY_NS, pfc=Pfc(1 << TC, reaction_ns=3 * FRAME_NS))
    watermarks = []
    for name, host in (("prompt", LOSSLESS_HOST), ("slow", slow_to_react)):
        star = Star([host, LOSSLESS_HOST], [lossless(20 * FULL_FRAME), lossless(20 * FULL_FRAME, rate_bps=100_000_000)])
        run = boot.run(star, [("h1", [send("10.2.0.2", count=100, tc=TC)]), ("h2", [receive(100_000_000)])], name=name)
        watermarks.append(shown(run, "s1", "eth1").groups[TC]["watermark_bytes"])
    assert watermarks == [(20 + ROUND_TRIP_FRAMES) * FULL_FRAME, (20 + ROUND_TRIP_FRAMES + 3) * FULL_FRAME]


def storm(boot: Boot, action: int) -> tuple[dict[str, object], list[int]]:
    """h2 sends pauses for 30 ms; the switch's port to it detects after 5 ms and restores after 3:
    statistics, arrivals in ms."""
    watched = Port(
        delay_ns=DELAY_NS, pfc=Pfc(1 << TC, detection_ns=5_000_000, restoration_ns=3_000_000, storm_action=action)
    )
    star = Star([Port(), LOSSLESS_HOST], [Port(), watched])
    run = boot.run(
        star,
        [
            ("h2", [f"/job/port-tool pause eth1 {1 << TC} 65535 10 3000000 {START_NS}"]),
            ("h2", [receive(150_000_000)]),
            ("h1", [send("10.2.0.2", count=100, tc=TC, interval_ns=1_000_000, start_ns=START_NS + 500_000)]),
            ("s1", [show_at("eth2", START_NS + 20_000_000, "during")]),
        ],
    )
    assert read_shown((run / "during").read_text()).queues[TC]["storms"] == 1
    arrivals = [datagram.number for datagram in datagrams(boot, run, "h2-1")]
    return shown(run, "s1", "eth2").queues[TC], arrivals


def test_a_storm_is_dropped_until_it_is_over(boot: Boot) -> None:
    stats, arrivals = storm(boot, STORM_DROP)
    # The first frame comes at 0.5 ms and waits: 5 ms later the storm is on. The last pause is sent at 27 ms and lasts
    # 33.5 ms; 3 ms later the storm is over, at 64.1 ms.
    assert stats["storms"] == 1
    assert arrivals == list(range(64, 100))
    drops = stats["drops"]
    assert isinstance(drops, dict)
    assert drops["storm"] == 64


def test_a_storm_is_ignored_if_that_is_asked_for(boot: Boot) -> None:
    stats, arrivals = storm(boot, STORM_FORWARD)
    assert stats["storms"] == 1
    assert arrivals == list(range(100))
