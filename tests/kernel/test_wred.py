"""The WRED curve and its average."""

from __future__ import annotations

import ctypes
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from switch_algorithms import CERTAIN, wred_averages, wred_probability


@pytest.mark.parametrize(
    ("length", "probability"),
    [
        (0, 0),
        (99_999, 0),
        (100_000, 0),
        (150_000, CERTAIN // 8),
        (199_999, (CERTAIN // 4) * 99_999 // 100_000),
        (200_000, CERTAIN),
    ],
)
def test_the_curve(algorithms: ctypes.CDLL, length: int, probability: int) -> None:
    assert wred_probability(algorithms, 100_000, 200_000, CERTAIN // 4, length) == probability


@pytest.mark.parametrize(("length", "probability"), [(29_999, 0), (30_000, CERTAIN), (30_001, CERTAIN)])
def test_min_equal_to_max_is_a_step(algorithms: ctypes.CDLL, length: int, probability: int) -> None:
    assert wred_probability(algorithms, 30_000, 30_000, CERTAIN, length) == probability


@given(st.integers(0, 2**40), st.integers(1, 2**40), st.integers(0, CERTAIN), st.integers(0, 2**41))
def test_the_curve_is_the_straight_line(
    algorithms: ctypes.CDLL, minimum: int, span: int, probability: int, length: int
) -> None:
    got = wred_probability(algorithms, minimum, minimum + span, probability, length)
    if length < minimum:
        assert got == 0
    elif length >= minimum + span:
        assert got == CERTAIN
    else:
        # Ranges beyond 2^31 lose their last bits: at most 2^-29 of the probability.
        assert abs(got - Fraction(probability * (length - minimum), span)) <= 1 + 8


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=50))
def test_weight_one_is_the_newest_length(algorithms: ctypes.CDLL, lengths: list[int]) -> None:
    assert wred_averages(algorithms, 0, lengths) == lengths


@given(st.integers(1, 15), st.lists(st.integers(1, 2**40), min_size=1, max_size=50))
def test_the_average_is_the_exponentially_weighted_one(
    algorithms: ctypes.CDLL, weight_log: int, lengths: list[int]
) -> None:
    average = Fraction(0)
    for length, got in zip(lengths, wred_averages(algorithms, weight_log, lengths), strict=True):
        average += (length - average) / 2**weight_log
        assert average - 1 <= got <= average + 1


def test_a_frame_that_finds_the_queue_empty_starts_the_average_anew(algorithms: ctypes.CDLL) -> None:
    assert wred_averages(algorithms, 2, [400, 400, 0, 0, 400]) == [100, 175, 0, 0, 100]
