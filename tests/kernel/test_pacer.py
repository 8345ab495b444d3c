"""The pacer's arithmetic: its rate and the times at which frames go, against exact fractions."""

from __future__ import annotations

import ctypes
from fractions import Fraction
from itertools import pairwise

import pytest
from exact_pacer import exact_run
from hypothesis import given
from hypothesis import strategies as st
from switch_algorithms import PacerConfig, paced

pytestmark = pytest.mark.usefixtures("algorithms")
GIGABIT = 10**9
PARTS = 2**32
INTERVAL_NS = 64_000
FULL = 1_538
PAPER = PacerConfig(3_000, INTERVAL_NS, 10_000_000, PARTS // 8, 16, PARTS // 8)
"""Bucket 24 kbit, T_r 64 us, T_i 10 ms, eta 1/8, beta 16, probability 1/8 (HULL, NSDI 2012, section 5)."""


def exact_rate(config: PacerConfig, rate: Fraction, bits: int, waiting: int, line_bps: int) -> Fraction:
    """The paper's equation, and its bounds."""
    eta = Fraction(config.eta, PARTS)
    measured = Fraction(bits * 10**9, config.interval_ns)
    beta = Fraction(config.beta)
    return min(max((1 - eta) * rate + eta * measured + beta * waiting, Fraction(line_bps, 100)), Fraction(10**12))


@given(
    rate=st.integers(10_000_000, 10 * GIGABIT),
    bits=st.integers(0, 10**9),
    waiting=st.integers(0, 10**9),
    eta=st.integers(0, PARTS - 1),
    interval_ns=st.integers(1_000, 10_000_000),
)
def test_the_rate_is_the_papers_within_two_bits_a_second(
    algorithms: ctypes.CDLL, rate: int, bits: int, waiting: int, eta: int, interval_ns: int
) -> None:
    config = PacerConfig(3_000, interval_ns, 0, eta, 16, 0)
    numbers = map(ctypes.c_uint64, (rate, bits, waiting, 10 * GIGABIT))
    ours = algorithms.pacer_rate(ctypes.byref(config), *numbers)
    exact = exact_rate(config, Fraction(rate), bits, waiting, 10 * GIGABIT)
    assert abs(ours - exact) < 2


@given(
    frames=st.lists(st.tuples(st.integers(0, 50_000), st.integers(84, 9_240)), min_size=1, max_size=40),
    line_bps=st.integers(100_000_000, 100 * GIGABIT),
    bucket=st.integers(1_538, 20_000),
)
def test_every_frame_goes_at_its_exact_time(
    algorithms: ctypes.CDLL, frames: list[tuple[int, int]], line_bps: int, bucket: int
) -> None:
    config = PacerConfig(bucket, INTERVAL_NS, 0, PARTS // 8, 16, 0)
    times, sizes, now = [], [], 1_000
    for gap, size in frames:
        now += gap
        times.append(now)
        sizes.append(size)
    assert paced(algorithms, config, line_bps, times, sizes, 20) == exact_run(
        *(config, line_bps, times[0], times, sizes, 20)
    )


def test_bursts_become_a_stream_of_their_mean_rate(algorithms: ctypes.CDLL) -> None:
    """Ten full frames each 246 us are 500 Mbps: without a pacer 123 us at the line's rate and 123 us of nothing. The
    rate swings by eta M_r / T_r, 240 Mbps, with each burst, about the mean; so do the gaps."""
    burst, period = 10, 10 * FULL * 8 * 2
    times = [number // burst * period for number in range(burst * 100)]
    starts, rates = paced(algorithms, PAPER, GIGABIT, times, [FULL] * len(times), 350)
    assert sum(rates[100:]) / len(rates[100:]) == pytest.approx(500_000_000, rel=0.05)
    assert all(300_000_000 < rate < 700_000_000 for rate in rates[100:])
    gaps = [later - earlier for earlier, later in pairwise(starts[400:])]
    assert sum(gaps) / len(gaps) == pytest.approx(FULL * 8 * 2, rel=0.01)
    assert max(gaps) < 70_000
    assert sum(gap <= FULL * 8 for gap in gaps) / len(gaps) < 0.25


def test_a_rate_without_traffic_falls_to_a_hundredth_of_the_line(algorithms: ctypes.CDLL) -> None:
    _, rates = paced(algorithms, PAPER, GIGABIT, [0], [FULL], 100)
    assert rates[0] == GIGABIT - GIGABIT // 8 + FULL * 8 * 10**9 // INTERVAL_NS // 8
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == GIGABIT // 100


def test_a_frame_that_is_larger_than_the_bucket_goes_when_that_is_full(algorithms: ctypes.CDLL) -> None:
    # At the line's 1 Gbps: 9,000 bytes leave 6,000 of debt, and 3,000 more are 72 us.
    config = PacerConfig(3_000, 10_000_000, 0, 0, 0, 0)
    starts, _ = paced(algorithms, config, GIGABIT, [0, 0], [9_000, 9_000], 0)
    assert starts == [0, 72_000]


def test_marks_take_flows_in_and_idle_ones_are_let_go(algorithms: ctypes.CDLL) -> None:
    assert [algorithms.pacer_takes_in(PARTS // 8, random) for random in (0, PARTS // 8 - 1, PARTS // 8)] == [
        *(True, True, False)
    ]
    assert algorithms.pacer_takes_in(PARTS - 1, PARTS - 1)
    assert not algorithms.pacer_takes_in(0, 0)
    last, idle = ctypes.c_uint64(5_000), ctypes.c_uint64(10_000)
    assert not algorithms.pacer_lets_go(idle, last, ctypes.c_uint64(14_999))
    assert algorithms.pacer_lets_go(idle, last, ctypes.c_uint64(15_000))
