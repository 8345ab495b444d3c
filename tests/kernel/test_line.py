"""Serialisation, token bucket, phantom queue: against exact arithmetic."""

from __future__ import annotations

import ctypes
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from switch_algorithms import bucket_starts, line_ends, phantom_marks

pytestmark = pytest.mark.usefixtures("algorithms")
RATES = st.integers(8_000, 800_000_000_000)
FRAMES = st.lists(st.tuples(st.integers(0, 100_000), st.integers(64, 9_240)), min_size=1, max_size=60)
"""Frames as (gap before it is ready in ns, bytes)."""


def ready_times(frames: list[tuple[int, int]]) -> list[int]:
    times, now = [], 0
    for gap, _ in frames:
        now += gap
        times.append(now)
    return times


def exact_ends(rate_bps: int, ready: list[int], sizes: list[int]) -> list[int]:
    """Whole ns of exact ends; a frame that finds the line idle starts on a whole ns."""
    ends, end = [], Fraction(0)
    for time, size in zip(ready, sizes, strict=True):
        start = Fraction(time) if time > int(end) else end
        end = start + Fraction(size * 8 * 10**9, rate_bps)
        ends.append(int(end))
    return ends


@given(rate_bps=RATES, frames=FRAMES)
def test_every_frame_leaves_at_its_exact_time(
    algorithms: ctypes.CDLL, rate_bps: int, frames: list[tuple[int, int]]
) -> None:
    sizes = [size for _, size in frames]
    ready = ready_times(frames)
    assert line_ends(algorithms, rate_bps, ready, sizes) == exact_ends(rate_bps, ready, sizes)


def test_a_rate_that_is_no_divisor_does_not_drift(algorithms: ctypes.CDLL) -> None:
    # 1538 bytes at 3 Gbps are 4101 1/3 ns.
    ends = line_ends(algorithms, 3_000_000_000, [0] * 30_000, [1538] * 30_000)
    assert ends[:3] == [4101, 8202, 12304]
    assert ends[-1] == 30_000 * 1538 * 8 // 3


@pytest.mark.parametrize(
    ("rate_bps", "size", "time"), [(10**9, 125, 1000), (400 * 10**9, 2_000_000_000, 40_000_000), (7, 1, 1_142_857_142)]
)
def test_how_long_bytes_take(algorithms: ctypes.CDLL, rate_bps: int, size: int, time: int) -> None:
    assert algorithms.line_time(ctypes.c_uint64(rate_bps), ctypes.c_uint64(size)) == time


@pytest.mark.parametrize(("frame", "wire"), [(60, 84), (59, 84), (61, 85), (1514, 1538)])
def test_what_a_frame_takes_on_the_wire(algorithms: ctypes.CDLL, frame: int, wire: int) -> None:
    assert algorithms.wire_bytes(frame, 24, 84) == wire


@given(rate_bps=st.integers(1_000_000, 100_000_000_000), burst=st.integers(0, 200_000), frames=FRAMES)
def test_a_bucket_lets_through_burst_and_rate_and_one_frame(
    algorithms: ctypes.CDLL, rate_bps: int, burst: int, frames: list[tuple[int, int]]
) -> None:
    sizes = [size for _, size in frames]
    starts = bucket_starts(algorithms, rate_bps, burst, ready_times(frames), sizes)
    for first in range(len(starts)):
        passed = 0
        for last in range(first, len(starts)):
            allowed = burst + Fraction((starts[last] - starts[first] + 1) * rate_bps, 8 * 10**9)
            assert passed <= allowed
            passed += sizes[last]


def test_a_bucket_that_is_never_idle_keeps_its_rate(algorithms: ctypes.CDLL) -> None:
    starts = bucket_starts(algorithms, 300_000_000, 3_000, [0] * 10_000, [1_500] * 10_000)
    assert starts[:3] == [0, 0, 0]  # two frames of burst, and the one that leaves the bucket in debt
    assert starts[-1] == (9_999 * 1_500 - 3_000) * 8 * 10 // 3


def reference_phantom(rate_bps: int, threshold: int, times: list[int], sizes: list[int]) -> list[bool]:
    """HULL's counter, as the paper writes it, in exact arithmetic."""
    marks, level, last = [], Fraction(0), 0
    for time, size in zip(times, sizes, strict=True):
        level = max(Fraction(0), level - Fraction((time - last) * rate_bps, 8 * 10**9)) + size
        last = time
        marks.append(level > threshold)
    return marks


def test_a_phantom_queue_is_the_papers_counter(algorithms: ctypes.CDLL) -> None:
    # At 0.8 Gbps a byte drains in 10 ns: no rounding. A burst at the line's rate of 1 Gbps, a pause, another burst.
    times = [1_000 * number for number in range(40)] + [90_000 + 1_000 * number for number in range(40)]
    sizes = [125] * 80
    marks = phantom_marks(algorithms, 800_000_000, 1_000, times, sizes)
    assert marks == reference_phantom(800_000_000, 1_000, times, sizes)
    assert marks[:40].index(True) == 36  # 125 bytes, and 25 more with each frame
    assert not any(marks[40:70])


@given(rate_bps=RATES, frames=FRAMES)
def test_a_phantom_queue_with_room_for_all_marks_nothing(
    algorithms: ctypes.CDLL, rate_bps: int, frames: list[tuple[int, int]]
) -> None:
    sizes = [size for _, size in frames]
    assert not any(phantom_marks(algorithms, rate_bps, sum(sizes) + 1, ready_times(frames), sizes))
