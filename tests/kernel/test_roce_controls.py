"""The congestion controls of a RoCE NIC against their papers' words in exact fractions, and what switches write."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import HEADERS, HERE
from hypothesis import given
from hypothesis import strategies as st
from user_space import compiled

from fabriclab.resolve.roce import TELEMETRY_GBPS

GBPS = 10**9
LINE = 100 * GBPS
QUERY, REPLY = range(2)
HOPS = 5
USE_ONE = 2**30
PACKET = 2**20
"""A window of one packet in Swift's unit."""


@pytest.fixture(scope="module")
def controls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ctypes.CDLL]:
    library = compiled(HERE / "roce_controls.c", tmp_path_factory.mktemp("controls"), f"-I{HEADERS}")
    library.telemetry.restype = ctypes.c_uint32
    for name in ("hpcc_window", "swift_target", "swift_rate"):
        getattr(library, name).restype = ctypes.c_uint64
    yield library


def words(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * len(values))(*values)


def u64(value: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(value)


# Telemetry


def stamped(
    library: ctypes.CDLL, hops: Sequence[tuple[int, int, int, int]], what: int = QUERY
) -> list[tuple[int, ...]]:
    seen = (ctypes.c_uint64 * (4 * HOPS))()
    columns = [words([hop[column] for hop in hops]) for column in range(4)]
    count = library.telemetry(len(hops), *columns, what, seen)
    return [tuple(seen[4 * place : 4 * place + 4]) for place in range(count)]


@given(
    hops=st.lists(
        st.tuples(
            st.sampled_from([int(rate * GBPS) for rate in TELEMETRY_GBPS]),
            st.integers(0, 2**60),
            st.integers(0, 2**60),
            st.integers(0, 2**40),
        ),
        max_size=8,
    )
)
def test_a_packet_has_room_for_five_switches(controls: ctypes.CDLL, hops: list[tuple[int, int, int, int]]) -> None:
    expected = [
        (rate, time % 2**24, sent // 128 % 2**20, min(queue // 80, 2**16 - 1) * 80)
        for rate, time, sent, queue in hops[:HOPS]
    ]
    assert stamped(controls, hops) == expected


def test_nobody_writes_into_what_goes_back(controls: ctypes.CDLL) -> None:
    assert stamped(controls, [(LINE, 1, 1, 1)], REPLY) == []


def test_a_rate_without_a_code_is_zero(controls: ctypes.CDLL) -> None:
    assert stamped(controls, [(3 * GBPS, 1, 0, 0)])[0][0] == 0


# HPCC


class Hpcc(ctypes.Structure):
    """struct roce_hpcc_config."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("eta", "stages", "increase", "least", "base_rtt")]


HPCC = Hpcc(950_000, 5, 40_000_000, 100_000_000, 13_000)


class HpccPaper:
    """Algorithm 1 of the paper for one link, in exact fractions."""

    def __init__(self, config: Hpcc) -> None:
        self.config, self.period = config, int(config.base_rtt)
        self.rate = self.reference = Fraction(LINE)
        self.use = Fraction(0)
        self.stage, self.updated = 0, 0
        self.link: tuple[int, int, int] | None = None

    def acknowledged(self, packet: int, following: int, link: tuple[int, int, int]) -> None:
        whole = packet + 1 > self.updated
        if self.link is not None:
            self.measure(self.link, link)
            self.compute(whole=whole)
        if whole:
            self.updated = following
        self.link = link

    def measure(self, before: tuple[int, int, int], link: tuple[int, int, int]) -> None:
        gap = (link[1] - before[1]) % 2**24
        bits = (link[2] - before[2]) % 2**20 * 128 * 8
        queue = min(before[0], link[0]) * 8
        use = Fraction(0)
        if gap:
            use = Fraction(bits * 10**9, gap * LINE) + Fraction(queue * 10**9, self.period * LINE)
        tau = min(gap, self.period) if use else 0
        self.use = (1 - Fraction(tau, self.period)) * self.use + Fraction(tau, self.period) * use

    def compute(self, *, whole: bool) -> None:
        eta = Fraction(int(self.config.eta), 10**6)
        multiplies = self.use > 0 and (self.use >= eta or self.stage >= self.config.stages)
        rate = self.reference / (self.use / eta) if multiplies else self.reference
        self.rate = max(min(rate + int(self.config.increase), Fraction(LINE)), Fraction(int(self.config.least)))
        if whole:
            self.reference = self.rate
            self.stage = 0 if multiplies else self.stage + 1


@given(
    steps=st.lists(
        st.tuples(
            st.integers(0, 400).map(lambda units: 80 * units),
            st.integers(100, 20_000),
            st.integers(0, 2_000),
            st.integers(1, 3),
            st.integers(1, 60),
        ),
        min_size=1,
        max_size=60,
    )
)
def test_hpcc_follows_the_papers_words(controls: ctypes.CDLL, steps: list[tuple[int, int, int, int, int]]) -> None:
    times = list(itertools.accumulate(gap for _, gap, *_ in steps))
    sent = list(itertools.accumulate(units for _, _, units, *_ in steps))
    packets = list(itertools.accumulate(count for *_, count, _ in steps))
    nexts = [packet + ahead for packet, (*_, ahead) in zip(packets, steps, strict=True)]
    told = [
        number
        for (queue, *_), time, units in zip(steps, times, sent, strict=True)
        for number in (LINE, queue, time % 2**24, units % 2**20)
    ]
    seen = (ctypes.c_uint64 * (3 * len(steps)))()
    controls.hpcc_run(ctypes.byref(HPCC), u64(LINE), len(steps), 1, words(packets), words(nexts), words(told), seen)
    exact = HpccPaper(HPCC)
    for place, (queue, *_) in enumerate(steps):
        exact.acknowledged(packets[place], nexts[place], (queue, times[place], sent[place]))
        rate, reference, use = seen[3 * place : 3 * place + 3]
        assert rate == pytest.approx(float(exact.rate), rel=1e-5)
        assert reference == pytest.approx(float(exact.reference), rel=1e-5)
        assert use / USE_ONE == pytest.approx(float(exact.use), rel=1e-5, abs=1e-7)


def test_hpccs_window_is_what_its_rate_sends_in_a_round_trip(controls: ctypes.CDLL) -> None:
    assert controls.hpcc_window(ctypes.byref(HPCC), u64(LINE)) == LINE * 13_000 // (8 * GBPS)


def test_hpcc_halves_a_rate_where_twice_a_links_is_on_its_way(controls: ctypes.CDLL) -> None:
    """The link is full, and as much as fills it in a round trip stands in its queue: U = 2."""
    queue = LINE * 13_000 // (8 * GBPS) // 80 * 80
    gap = 1_300_000
    units = LINE * gap // (8 * GBPS) // 128
    told = [LINE, queue, 0, 0, LINE, queue, gap, units % 2**20]
    seen = (ctypes.c_uint64 * 6)()
    controls.hpcc_run(ctypes.byref(HPCC), u64(LINE), 2, 1, words([0, 100]), words([50, 200]), words(told), seen)
    assert seen[5] / USE_ONE == pytest.approx(2, rel=1e-3)
    assert seen[3] == pytest.approx(LINE * 0.95 / 2 + 40_000_000, rel=1e-3)


# TIMELY


class Timely(ctypes.Structure):
    """struct roce_timely_config."""

    _fields_ = [
        (name, ctypes.c_uint64) for name in ("low", "high", "least_rtt", "weight", "decrease", "increase", "least")
    ]


TIMELY = Timely(50_000, 500_000, 20_000, 875_000, 800_000, 10_000_000, 10_000_000)


class TimelyPaper:
    """Algorithm 1 of the paper, in exact fractions."""

    def __init__(self, config: Timely) -> None:
        self.config = config
        self.rate = Fraction(LINE)
        self.before: int | None = None
        self.difference = Fraction(0)
        self.rises = 0

    def completed(self, rtt: int) -> None:
        config = self.config
        if self.before is None:
            self.before = rtt
            return
        weight, beta = Fraction(int(config.weight), 10**6), Fraction(int(config.decrease), 10**6)
        self.difference = (1 - weight) * self.difference + weight * (rtt - self.before)
        self.before = rtt
        if rtt < config.low:
            self.rises = 0
            self.rate += int(config.increase)
        elif rtt > config.high:
            self.fall(beta * (1 - Fraction(int(config.high), rtt)))
        elif self.difference <= 0:
            self.rises += 1
            self.rate += int(config.increase) * (5 if self.rises >= 5 else 1)
        else:
            self.fall(min(beta * self.difference / int(config.least_rtt), Fraction(1)))
        self.rate = min(self.rate, Fraction(LINE))

    def fall(self, part: Fraction) -> None:
        self.rate = max(self.rate * (1 - part), Fraction(int(self.config.least)))
        self.rises = 0


@given(times=st.lists(st.integers(10_000, 1_000_000), min_size=1, max_size=60))
def test_timely_follows_the_papers_words(controls: ctypes.CDLL, times: list[int]) -> None:
    seen = (ctypes.c_uint64 * len(times))()
    controls.timely_run(ctypes.byref(TIMELY), u64(LINE), len(times), words(times), seen)
    exact = TimelyPaper(TIMELY)
    for rtt, rate in zip(times, seen, strict=True):
        exact.completed(rtt)
        # A gradient this near to 0 may be rounded to the other side of it.
        if 0 < abs(exact.difference) <= 1 / 1000:
            return
        # A part of a rate is of 2^-16: about 60 steps lose that much each.
        assert rate == pytest.approx(float(exact.rate), rel=2e-3)


def test_timely_is_fast_after_five_rises(controls: ctypes.CDLL) -> None:
    falls = [100_000, 400_000]
    seen = (ctypes.c_uint64 * 9)()
    controls.timely_run(ctypes.byref(TIMELY), u64(LINE), 9, words([*falls, *[100_000] * 7]), seen)
    steps = [later - earlier for earlier, later in itertools.pairwise(seen[1:])]
    assert steps == [10_000_000] * 4 + [50_000_000] * 3


# Swift


class Swift(ctypes.Structure):
    """struct roce_swift_config."""

    _fields_ = [
        (name, ctypes.c_uint64) for name in ("base", "hop", "range", "increase", "decrease", "most_decrease", "most")
    ]


SWIFT = Swift(25_000, 1_000, 100_000, 1_000_000, 800_000, 500_000, 256)


def exact_target(packets: float, routers: int) -> float:
    scaled = (packets**-0.5 - 100**-0.5) / (0.1**-0.5 - 100**-0.5)
    return float(25_000 + routers * 1_000 + 100_000 * min(max(scaled, 0), 1))


@given(window=st.integers(PACKET // 1000, 1000 * PACKET), routers=st.integers(0, 7))
def test_swifts_target_is_that_of_the_paper(controls: ctypes.CDLL, window: int, routers: int) -> None:
    target = controls.swift_target(ctypes.byref(SWIFT), u64(window), routers)
    assert target == pytest.approx(exact_target(window / PACKET, routers), abs=2)


@given(
    steps=st.lists(
        st.tuples(st.integers(1, 50_000), st.sampled_from([0, 1, 10_000, 40_000, 80_000, 200_000])),
        min_size=1,
        max_size=80,
    )
)
def test_swift_follows_the_papers_words(controls: ctypes.CDLL, steps: list[tuple[int, int]]) -> None:
    times = list(itertools.accumulate((gap for gap, _ in steps), initial=1_000_000))[1:]
    delays = [delay for _, delay in steps]
    seen = (ctypes.c_uint64 * len(steps))()
    controls.swift_run(ctypes.byref(SWIFT), len(steps), 2, words(times), words(delays), seen)
    window, rtt, decreased, timeouts = 256.0, 0, 0, 0
    for now, delay, got in zip(times, delays, seen, strict=True):
        before = window
        if delay > 1:
            timeouts, rtt = 0, delay
            target = exact_target(window, 2)
            if delay < target:
                window += 1 / window if window >= 1 else 1
            elif now - decreased >= rtt:
                window *= max(1 - 0.8 * (delay - target) / delay, 0.5)
        else:
            timeouts += delay
            if delay and timeouts >= 5:
                window = 0.001
            elif now - decreased >= rtt:
                window *= 0.5
        window = min(max(window, 0.001), 256)
        if window < before:
            decreased = now
        assert got / PACKET == pytest.approx(window, rel=1e-3, abs=2e-5)


def test_a_window_below_a_packet_is_a_rate(controls: ctypes.CDLL) -> None:
    half = controls.swift_rate(u64(PACKET // 2), u64(100_000), u64(LINE), 1024)
    assert half == 1024 * 8 * GBPS // 200_000
    assert controls.swift_rate(u64(PACKET), u64(100_000), u64(LINE), 1024) == LINE


def test_the_headers_need_nothing_of_the_kernel() -> None:
    for name in ("telemetry.h", "hpcc.h", "timely.h", "swift.h"):
        assert "#include <linux" not in Path(HEADERS, "roce", name).read_text(encoding="utf-8")
