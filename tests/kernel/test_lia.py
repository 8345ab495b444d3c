"""The Linked Increases Algorithm's arithmetic (net/mptcp/lia.h, ours) against equations 1 and 2 of RFC 6356 in
exact numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from user_space import compiled

HEADER = Path(__file__).parents[2] / "images/machine/kernel/tree/net/mptcp/lia.h"
LINUX = """
#include <stdbool.h>
#include <stdint.h>
typedef uint32_t u32;
typedef uint64_t u64;
#define U32_MAX UINT32_MAX
#define div64_u64(a, b) ((u64)(a) / (u64)(b))
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define clamp_t(type, value, low, high) ((type)(value) < (type)(low) ? (type)(low) : min_t(type, value, high))
#define clamp(value, low, high) clamp_t(u64, value, low, high)
"""
CALL = """
u32 interval(int count, const u32 *windows, const u32 *rtts, int subflow)
{
	struct lia_path best = lia_path(windows[0], rtts[0]);
	u64 sum = 0;

	for (int i = 1; i < count; i++)
		if (lia_is_better(lia_path(windows[i], rtts[i]), best))
			best = lia_path(windows[i], rtts[i]);
	for (int i = 0; i < count; i++)
		sum += lia_term(lia_path(windows[i], rtts[i]), best);
	return lia_interval(sum, best, windows[subflow]);
}
"""
Interval = Callable[[Sequence[tuple[int, int]], int], int]
SUBFLOWS = st.lists(st.tuples(st.integers(1, 20_000), st.integers(1, 1_000_000)), min_size=1, max_size=8)
"""Subflows as (window in segments, round trip time in us)."""


@pytest.fixture(scope="module")
def interval(tmp_path_factory: pytest.TempPathFactory) -> Interval:
    """Segments that a subflow has acknowledged for each by which it grows."""
    directory = tmp_path_factory.mktemp("lia")
    lines = HEADER.read_text().splitlines()
    without_includes = "\n".join(line for line in lines if not line.startswith("#include"))
    (directory / "lia.c").write_text(LINUX + without_includes + CALL)
    library = compiled(directory / "lia.c", directory)
    library.interval.restype = ctypes.c_uint32

    def call(subflows: Sequence[tuple[int, int]], subflow: int) -> int:
        columns = [(ctypes.c_uint32 * len(subflows))(*column) for column in zip(*subflows, strict=True)]
        return int(library.interval(len(subflows), *columns, subflow))

    return call


def exact(subflows: Sequence[tuple[int, int]], subflow: int, missing: Fraction = Fraction(0)) -> Fraction:
    """Return 1 / min(alpha / sum(w), 1 / w_i); `missing` is taken off the sum in alpha's denominator,
    in windows of the best subflow."""
    best = max(Fraction(window, rtt * rtt) for window, rtt in subflows)
    rtt_best = max((rtt for window, rtt in subflows if Fraction(window, rtt * rtt) == best), default=1)
    rates = sum(Fraction(window, rtt) for window, rtt in subflows) - missing / rtt_best
    total = sum(window for window, _ in subflows)
    alpha = total * best / (rates * rates)
    return max(total / alpha, Fraction(subflows[subflow][0]))


@given(SUBFLOWS)
def test_a_subflow_grows_as_the_equations_say(interval: Interval, subflows: list[tuple[int, int]]) -> None:
    # Each term of the sum loses less than 1/1024 of a segment; the result is a whole number.
    missing = Fraction(len(subflows), 1024)
    for subflow in range(len(subflows)):
        found = interval(subflows, subflow)
        assert min(exact(subflows, subflow, missing), Fraction(2**32)) - 1 <= found <= exact(subflows, subflow)


@given(st.integers(1, 4_000_000), st.integers(1, 1_000_000))
def test_a_single_subflow_is_reno(interval: Interval, window: int, rtt_us: int) -> None:
    assert interval([(window, rtt_us)], 0) == window


@given(st.integers(1, 8), st.integers(1, 100_000), st.integers(1, 1_000_000))
def test_equal_subflows_grow_together_by_a_share_of_a_segment(
    interval: Interval, count: int, window: int, rtt_us: int
) -> None:
    """A window of each is acknowledged in a round trip time: all together grow by 1/n,
    and a loss takes half of one: as one TCP."""
    assert interval([(window, rtt_us)] * count, 0) == count * count * window


def test_extremes_do_not_overflow(interval: Interval) -> None:
    largest = 2**32 - 1
    assert interval([(largest, 1), (largest, largest)], 0) == largest
    assert interval([(1, largest)] * 8, 0) == 64
