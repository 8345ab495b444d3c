"""The port in the machine: exact times, schedulers, shapers, AQM, with real packets."""

from __future__ import annotations

import pytest
from fidelity import known
from machine import FULL_FRAME, FULL_WIRE, START_NS, Boot, Star, datagrams, receive, send, show_at, shown
from switch_port import DWRR, ECN, UNLIMITED, Account, Port, Queue, Wred, read_shown

pytestmark = pytest.mark.vm
GIGABIT = 1_000_000_000
FRAME_NS = FULL_WIRE * 8
"""A sleeper wakes up so much late, at least."""


def test_a_frame_takes_serialisation_and_propagation_of_each_hop(boot: Boot) -> None:
    star = Star([Port(delay_ns=5_001), Port()], [Port(), Port(delay_ns=7_003, rate_bps=3 * GIGABIT)])
    senders = [
        send("10.2.0.2", count=3, interval_ns=1_000_000),
        send("10.2.0.2", count=3, size=10, port=7001, start_ns=20_200_000),
    ]
    run = boot.run(star, [("h1", senders), ("h2", [receive(40_000_000)]), ("h2", [receive(40_000_000, 7001)])])
    full = [START_NS + number * 1_000_000 + FRAME_NS + 5_001 + FRAME_NS // 3 + 7_003 for number in range(3)]
    assert [datagram.time_ns for datagram in datagrams(boot, run, "h2-0")] == full
    # 84 bytes on the wire are the least: 672 ns and 224 ns. All three at once: the first hop spaces them.
    least = [20_200_000 + (number + 1) * 672 + 5_001 + 224 + 7_003 for number in range(3)]
    assert [datagram.time_ns for datagram in datagrams(boot, run, "h2-1")] == least


def test_a_busy_line_never_drifts(boot: Boot) -> None:
    # A frame takes 17,577 1/7 ns at 0.7 Gbps.
    star = Star([Port(), Port()], [Port(), Port(rate_bps=700_000_000, queues=[Queue(0)])])
    run = boot.run(star, [("h1", [send("10.2.0.2", count=2_000)]), ("h2", [receive(60_000_000)])])
    first = START_NS + FRAME_NS
    assert [datagram.time_ns for datagram in datagrams(boot, run, "h2-0")] == [
        first + (number + 1) * FULL_WIRE * 8 * 10 // 7 for number in range(2_000)
    ]


WARM_NS, MEASURED_NS = START_NS + 20_000_000, 160_000_000


def saturated(boot: Boot, queues: list[Queue], name: str = "run") -> dict[int, int]:
    """Each queue gets the line rate from a host of its own: bytes on the wire of each in MEASURED_NS of it."""
    receiver = len(queues) + 1
    star = Star([Port()] * receiver, [*[Port()] * len(queues), Port(queues=queues)])
    senders = [
        (f"h{n}", [send(f"10.{receiver}.0.2", count=15_000, tc=queue.index)]) for n, queue in enumerate(queues, start=1)
    ]
    look = [show_at(f"eth{receiver}", WARM_NS, "before"), show_at(f"eth{receiver}", WARM_NS + MEASURED_NS, "after")]
    run = boot.run(star, [*senders, ("s1", look)], name=name)
    before, after = (read_shown((run / moment).read_text()).queues for moment in ("before", "after"))
    return {index: (after[index]["sent_packets"] - before[index]["sent_packets"]) * FULL_WIRE for index in after}


@pytest.mark.parametrize("quanta", [(1_000, 1_000, 1_000), (15_000, 30_000, 75_000), (100, 700, 200)])
def test_dwrr_shares_the_line_by_quanta(boot: Boot, quanta: tuple[int, ...]) -> None:
    limit = Account(limit=200_000)
    queues = [Queue(index, limit, scheduling=DWRR, quantum=quantum) for index, quantum in enumerate(quanta)]
    sent = saturated(boot, queues)
    for index, quantum in enumerate(quanta):
        assert sent[index] / sum(sent.values()) == pytest.approx(quantum / sum(quanta), rel=0.01)


def test_strict_priority_starves_what_is_below(boot: Boot) -> None:
    limit = Account(limit=50_000)
    sent = saturated(boot, [Queue(1, limit), Queue(6, limit)])
    assert sent[1] == 0
    assert sent[6] == pytest.approx(MEASURED_NS / 8, abs=FULL_WIRE)


def test_pir_limits_and_cir_guarantees(boot: Boot) -> None:
    limit = Account(limit=50_000)
    queues = [Queue(0, limit, cir=(300_000_000, 3_000)), Queue(5, limit, pir=(100_000_000, 3_000)), Queue(6, limit)]
    sent = saturated(boot, queues)
    # Queue 0 has the lowest priority and gets its 300 Mbps; queue 6 has the highest and gets the rest.
    assert sent[0] == pytest.approx(0.3 * MEASURED_NS / 8, abs=3_000 + FULL_WIRE)
    assert sent[6] == pytest.approx(0.7 * MEASURED_NS / 8, abs=3_000 + 2 * FULL_WIRE)
    assert sent[5] == 0
    alone = saturated(boot, queues[:2], "alone")
    assert alone[5] == pytest.approx(0.1 * MEASURED_NS / 8, abs=3_000 + FULL_WIRE)
    assert alone[0] == pytest.approx(0.9 * MEASURED_NS / 8, abs=3_000 + 2 * FULL_WIRE)


def test_a_bucket_of_400_frames_is_exact_to_ten_nanoseconds(boot: Boot) -> None:
    """600 frames at 1 Gbps through a bucket of 100 Mbps, filled while it empties: 445 pass at once."""
    frames, burst, slower = 600, 400, 10
    shaped = Queue(0, Account(), pir=(GIGABIT // slower, burst * FULL_WIRE))
    star = Star([Port(), Port()], [Port(), Port(rate_bps=10 * GIGABIT, queues=[shaped])])
    run = boot.run(star, [("h1", [send("10.2.0.2", count=frames)]), ("h2", [receive(60_000_000)])])
    times_ns = [datagram.time_ns for datagram in datagrams(boot, run, "h2-0")]
    first_ns = START_NS + FRAME_NS + FRAME_NS / 10
    # A frame leaves when it has come and the bucket is not empty: the burst, and one frame (test_line.py).
    theory_ns = [first_ns + FRAME_NS * max(number, slower * (number - burst)) for number in range(frames)]
    assert max(abs(time - due) for time, due in zip(times_ns, theory_ns, strict=True)) <= 10
    theory_us, measured_us = ((times[-1] - START_NS) / 1e3 for times in (theory_ns, times_ns))
    known("Token bucket of 400 frames, the last of 600 frames", theory_us, measured_us, "us", within=1e-6)


@pytest.mark.parametrize(
    "wred", [Wred(30_000, 30_000), Wred(20_000, 200_000, probability=0.1), Wred(200_000, 200_000, flags=ECN | 4)]
)
def test_wred_marks_what_the_curve_says(boot: Boot, wred: Wred) -> None:
    """A queue that grows by one frame while another leaves: the mark of each frame is known from its place."""
    star = Star([Port(), Port()], [Port(), Port(rate_bps=500_000_000, queues=[Queue(0, Account(), wred=wred)])])
    run = boot.run(star, [("h1", [send("10.2.0.2", count=400)]), ("h2", [receive(100_000_000)])])
    marked = [datagram.ecn == 3 for datagram in datagrams(boot, run, "h2-0")]
    queue = shown(run, "s1", "eth2").queues[0]
    assert queue["marks"]["wred"] == sum(marked)
    assert sum(queue["drops"].values()) == 0
    if wred.flags & 4:  # by delay: a frame's time in the queue is half its place times the time of a frame
        assert marked == [number * FRAME_NS >= wred.min for number in range(400)]
    elif wred.min == wred.max:
        # Frame n finds n - 1 - n/2 frames waiting when it comes: n/2 have started to leave.
        waiting = [max(0, number - 1 - number // 2) * FULL_FRAME for number in range(400)]
        assert marked == [length >= wred.min for length in waiting]
    else:
        # From 20 KB, frame 28, to 200 KB, frame 267: of 236 frames one in twenty, 11.8. Others than 2 to 24 come once
        # in 1,500 seeds.
        assert not any(marked[:26])
        assert all(marked[270:])
        assert 1 < sum(marked[28:264]) < 25


def test_wred_drops_what_is_not_ect_and_a_phantom_queue_marks_before_a_queue_is_there(boot: Boot) -> None:
    phantom = Queue(0, Account(), phantom=(800_000_000, 6_000))
    star = Star([Port(), Port()], [Port(), Port(queues=[phantom])])
    run = boot.run(star, [("h1", [send("10.2.0.2", count=100)]), ("h2", [receive(100_000_000)])])
    stats = shown(run, "s1", "eth2").queues[0]
    # Each frame leaves a fifth of itself: 6,000 bytes are 1,538 and 14.5 fifths of it.
    assert [datagram.ecn == 3 for datagram in datagrams(boot, run, "h2-0")] == [number > 14 for number in range(100)]
    assert stats["marks"] == {"wred": 0, "phantom": 85}
    assert stats["watermark_bytes"] == FULL_FRAME


def test_a_limit_is_kept_and_every_frame_is_accounted_for(boot: Boot) -> None:
    star = Star([Port(), Port()], [Port(), Port(rate_bps=100_000_000, queues=[Queue(0, Account(limit=20_000))])])
    run = boot.run(star, [("h1", [send("10.2.0.2", count=500)]), ("h2", [receive(100_000_000)])])
    port = shown(run, "s1", "eth2")
    queue = port.queues[0]
    assert queue["watermark_bytes"] == 20_000 // FULL_FRAME * FULL_FRAME
    assert queue["drops"]["queue_limit"] == port.backlog["drops"] == port.port["drops"] > 400
    assert queue["sent_packets"] + queue["drops"]["queue_limit"] == 500
    assert len(datagrams(boot, run, "h2-0")) == queue["sent_packets"]


def test_what_cannot_be_is_refused_by_name(boot: Boot) -> None:
    bad = {
        "rate 7999 is not in 8 kbit/s to 1600 Gbit/s": Port(rate_bps=7_999),
        "pool 1 has no size": Port(queues=[Queue(0, Account(pool=1))]),
        "alpha 2^8 is not in 2^-8 to 2^7": Port(pools={0: (1000, 0)}, queues=[Queue(0, Account(pool=0, alpha_log=8))]),
        "pool 0: 1001 cells reserved of 1000": Port(
            pools={0: (1000, 0)}, queues=[Queue(0, Account(pool=0, reserved=1001))]
        ),
        "queue 3: quantum 63 is below 64 bytes": Port(queues=[Queue(3, scheduling=DWRR, quantum=63)]),
        "queue 2: WRED min 2, max 1: min <= max <= 2^48": Port(queues=[Queue(2, wred=Wred(2, 1))]),
        "entry 5 of a map is 8: 0 to 7": Port(maps={8: [0, 1, 2, 3, 4, 8, 6, 7]}),
        "queue 1: pir 5 below cir 6": Port(queues=[Queue(1, cir=(6, 0), pir=(5, 0))]),
        "3 slices of memory: 1, 2 or 4": Port(slices=3),
        "slice 0, 1: the switch's memory has 1": Port(slice=(0, 1)),
        "the switch's memory has 1 slices already": Port(slices=2),
        "a dynamic limit needs a pool": Port(queues=[Queue(0, Account(alpha_log=0, limit=UNLIMITED))]),
    }
    files = {f"bad-{number}": port.pack() for number, port in enumerate(bad.values())}
    commands = [f"/job/port-tool change eth1 /job/{name} && exit 1" for name in files]
    run = boot.run(Star([Port()], [Port()]), [("h1", commands)], files=files)
    words = [line for line in (run / "logs/h1-0.log").read_text().splitlines() if not line.startswith("port-tool")]
    assert words == list(bad)


def test_stock_tools_see_the_port_and_its_queues(boot: Boot) -> None:
    star = Star([Port(), Port()], [Port(), Port(queues=[Queue(0, Account(limit=30_000))])])
    tc = [
        ("s1", ["qdisc", "tc", "-s", "qdisc", "show", "dev", "eth2"]),
        ("s1", ["class", "tc", "-s", "class", "show", "dev", "eth2"]),
    ]
    run = boot.run(star, [("h1", [send("10.2.0.2", count=5)]), ("h2", [receive(50_000_000)])], collect=tc)
    assert "switch_port 1: root" in (run / "collect/qdisc").read_text()
    classes = (run / "collect/class").read_text()
    assert "class switch_port 1:1" in classes
    assert f"Sent {5 * FULL_FRAME} bytes 5 pkt" in classes
