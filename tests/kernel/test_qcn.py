"""QCN's arithmetic: what a congestion point tells, and what a limiter makes of it, against exact fractions."""

from __future__ import annotations

import ctypes
import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from switch_algorithms import BYTE_CYCLE, TIMER_CYCLE, QcnLimiter, QcnPoint, qcn_limited, qcn_told

pytestmark = pytest.mark.usefixtures("algorithms")
GIGABIT = 10**9
MIDDLE = 2**31
"""What is drawn for the mean: 100 %."""
POINT = QcnPoint(26_000, 150_000, 2)
LIMITER = QcnLimiter(5_000_000, 5_000_000, 50_000_000, 150_000, 15_000_000)
"""The defaults of IEEE8021-CN-MIB: set point, sample base, weight 2^1; least rate, increases, byte and timer cycles."""
FULL = 1_514


def quantised(queue: int, before: int, point: QcnPoint = POINT) -> int:
    """-Fb in 64ths of (2 w + 1) Qeq, 0 where there is none, by the standard's formula."""
    feedback = (queue - point.set_point) + point.weight * (queue - before)
    most = (2 * int(point.weight) + 1) * int(point.set_point)
    return min(63, max(0, 63 * int(feedback) // most))


@given(
    queues=st.lists(st.integers(0, 400_000), min_size=2, max_size=30),
    set_point=st.integers(1_000, 1_000_000),
    weight=st.integers(0, 16),
)
def test_each_sample_tells_the_standards_feedback(
    algorithms: ctypes.CDLL, queues: list[int], set_point: int, weight: int
) -> None:
    point = QcnPoint(set_point, 150_000, weight)
    # So large that each is a sample.
    told = qcn_told(algorithms, point, queues, [200_000] * len(queues), [MIDDLE] * len(queues))
    befores = [0, *queues[:-1]]
    assert told == [quantised(queue, before, point) for queue, before in zip(queues, befores, strict=True)]


@pytest.mark.parametrize(
    ("feedback", "mean"),
    [
        (0, 150000),
        (7, 150000),
        (8, 75000),
        (16, 50000),
        (24, 37500),
        (32, 30000),
        (40, 25000),
        (48, 21500),
        (56, 18500),
        (63, 18500),
    ],
)
@pytest.mark.parametrize(("random", "percent"), [(0, 85), (MIDDLE, 100), (2**32 - 1, 115)])
def test_samples_come_the_sooner_the_larger_the_feedback(
    algorithms: ctypes.CDLL, feedback: int, mean: int, random: int, percent: int
) -> None:
    queue = next(length for length in range(26_000, 10**6) if quantised(length, length) == feedback)
    # Two samples at this length: the second has no change, and the next is a mean away.
    frames = 2 + mean * percent // 100 // 100 + 1
    sizes = [200_000, 200_000, *[100] * (frames - 2)]
    told = qcn_told(algorithms, POINT, [queue] * frames, sizes, [MIDDLE, random, MIDDLE])
    assert told[1] == feedback
    sampled = [number for number, one in enumerate(told) if one is not None]
    bytes_between = 100 * (sampled[2] - sampled[1]) if len(sampled) > 2 else None
    assert bytes_between == pytest.approx(mean * percent / 100, abs=101)


def test_a_cut_is_a_fraction_of_the_rate_and_at_most_a_half(algorithms: ctypes.CDLL) -> None:
    for feedback in range(64):
        ((rate, target, _, timer),) = qcn_limited(algorithms, LIMITER, GIGABIT, [feedback], [10**6], [MIDDLE])
        assert rate == GIGABIT - GIGABIT * feedback // 128 >= GIGABIT // 2
        assert (target, timer) == (GIGABIT, 10**6 + 15_000_000)


def test_recovery_halves_the_distance_five_times_then_the_target_grows(algorithms: ctypes.CDLL) -> None:
    """A cut to 507,812,500 bps, then cycles of bytes alone: fast recovery, active increase from the sixth on."""
    line = 10 * GIGABIT
    steps = [63, 63, *[BYTE_CYCLE] * 8]
    seen = qcn_limited(algorithms, LIMITER, line, steps, [0] * len(steps), [MIDDLE] * len(steps))
    # The second cut comes before a cycle has ended: the target stays.
    first = line - line * 63 // 128
    assert seen[1][:2] == (first - first * 63 // 128, line)
    rate, target = Fraction(seen[1][0]), Fraction(line)
    for cycle, (ours, ours_target, until, _) in enumerate(seen[2:], start=1):
        target = min(target + (5_000_000 if cycle > 5 else 0), Fraction(line))
        rate = (rate + target) / 2
        assert ours_target == target
        assert 0 <= rate - ours < 2
        assert until == (150_000 if cycle < 5 else 75_000)


def test_hyper_active_increase_needs_both_counters(algorithms: ctypes.CDLL) -> None:
    line = 10 * GIGABIT
    # A first cycle, so that the next cut takes the rate as its target; then both counters to their seventh cycle.
    steps = [63, BYTE_CYCLE, 63, *[BYTE_CYCLE] * 7, *[TIMER_CYCLE] * 7]
    seen = qcn_limited(algorithms, LIMITER, line, steps, [0] * len(steps), [MIDDLE] * len(steps))
    targets = [target for _, target, _, _ in seen[2:]]
    grown = [later - earlier for earlier, later in itertools.pairwise(targets)]
    active, hyper = 5_000_000, 50_000_000
    of_bytes = [0] * 5 + [active] * 2
    of_timer = [active] * 5 + [hyper, 2 * hyper]
    assert grown == of_bytes + of_timer
    assert seen[2][1] == seen[1][0], "the rate before is the target"


def test_a_far_target_is_cut_to_an_eighth_in_the_first_cycle(algorithms: ctypes.CDLL) -> None:
    line = 10 * GIGABIT
    steps = [*[63] * 5, BYTE_CYCLE]
    *_, before, after = qcn_limited(algorithms, LIMITER, line, steps, [0] * 6, [MIDDLE] * 6)
    assert before[1] == line > 10 * before[0]
    assert after[1] == line // 8
    assert after[0] == (before[0] + line // 8) // 2


def test_a_rate_is_never_below_the_least_nor_above_the_line(algorithms: ctypes.CDLL) -> None:
    steps = [*[63] * 30, *[BYTE_CYCLE, TIMER_CYCLE] * 40]
    seen = qcn_limited(algorithms, LIMITER, GIGABIT, steps, [0] * len(steps), [MIDDLE] * len(steps))
    assert min(rate for rate, *_ in seen) == LIMITER.least_bps
    assert max(max(rate, target) for rate, target, *_ in seen) <= GIGABIT
    assert seen[-1][0] == GIGABIT or algorithms.qcn_ends(ctypes.c_uint64(seen[-1][0]), ctypes.c_uint64(GIGABIT))
    assert not algorithms.qcn_ends(ctypes.c_uint64(GIGABIT * 99 // 100), ctypes.c_uint64(GIGABIT))
