"""Differences of two experiments: how often intervals hold and equals are told apart, few seeds, whole counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fabriclab.results.differences import difference, holm

Draw = Callable[[np.random.Generator, int], np.ndarray]

DRAWS: dict[str, Draw] = {
    "normal": lambda random, count: random.normal(10, 1, count),
    "skewed": lambda random, count: random.lognormal(0, 1, count),
    "heavy": lambda random, count: random.pareto(2.5, count),
    # A goodput that each stall of 200 ms takes a fifth of.
    "stalls": lambda random, count: 900 - 200.0 * random.poisson(0.5, count) + random.normal(0, 1, count),
    "counts": lambda random, count: random.poisson(0.7, count).astype(float),
}
TRIALS = 600


def of(values: np.ndarray, first_seed: int = 0) -> dict[int, float]:
    return {first_seed + index: float(value) for index, value in enumerate(values)}


@pytest.mark.parametrize("seeds", [3, 5, 10, 50])
@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("paired", [True, False])
def test_intervals_hold_as_often_as_they_say(name: str, seeds: int, paired: bool) -> None:
    """95 % intervals hold the true difference, 0, in 95 % of the trials or more: less three standard deviations."""
    random, held = np.random.default_rng(7), 0
    for _ in range(TRIALS):
        base, other = (DRAWS[name](random, seeds) for _ in range(2))
        found = difference(of(base), of(other, 0 if paired else 1000), is_count=name == "counts")
        assert found is not None
        ends = found.interval()
        assert ends is not None
        held += ends[0] <= 0 <= ends[1]
    assert held / TRIALS > 0.95 - 3 * np.sqrt(0.95 * 0.05 / TRIALS)


def test_of_200_pairs_of_equal_sweeps_no_more_get_a_verdict_than_promised() -> None:
    """Each sweep has 10 points of 5 seeds and 6 metrics of all shapes: 60 tests a pair; 5 % of pairs may err."""
    random, erred = np.random.default_rng(11), 0
    for _ in range(200):
        p_values = []
        for name in (*DRAWS, "normal"):
            for _ in range(10):
                base, other = (DRAWS[name](random, 5) for _ in range(2))
                found = difference(of(base), of(other), is_count=name == "counts")
                assert found is not None
                if not found.is_same:
                    assert found.p_value is not None
                    p_values.append(found.p_value)
        erred += any(holm(p_values))
    assert erred <= 10


def test_what_seeds_do_to_both_drops_out() -> None:
    base = np.array([100.0, 220.0, 330.0, 400.0, 560.0])
    found = difference(of(base), of(base + np.array([9, 10, 11, 10, 10])))
    assert found is not None
    assert (found.pairs, found.change) == (5, 10)
    assert found.p_value is not None
    assert found.p_value < 1e-4
    apart = difference(of(base), of(base + 10, 100))
    assert apart is not None
    assert apart.pairs == 0
    assert apart.p_value is not None
    assert apart.p_value > 0.5


def test_equals_are_the_same_and_few_seeds_tell_nothing() -> None:
    same = difference({1: 5.0, 2: 7.0}, {1: 5.0, 2: 7.0})
    assert same is not None
    assert same.is_same
    for base, other in (({1: 5.0}, {1: 6.0}), ({1: 5.0, 2: 7.0}, {1: 6.0, 2: 8.0}), ({1: 5.0}, {2: 5.0, 3: 5.0})):
        found = difference(base, other)
        assert found is not None
        assert (found.p_value, found.interval(), found.is_same) == (None, None, False)
    assert difference({}, {1: 5.0}) is None


def test_a_few_equal_steps_of_a_count_are_no_certainty() -> None:
    """Three pairs may differ by one timeout each by chance; times that differ alike to the nanosecond don't."""
    base, other = of(np.array([0.0, 0.0, 0.0])), of(np.array([1.0, 1.0, 1.0]))
    count, exact = difference(base, other, is_count=True), difference(base, other)
    assert count is not None
    assert exact is not None
    assert count.p_value is not None
    assert count.p_value > 0.05
    assert exact.p_value == 0


def test_welch_agrees_with_a_worked_example() -> None:
    """Two samples whose t and degrees of freedom are known: Welch 1947 by hand."""
    found = difference(of(np.array([1.0, 2.0, 3.0, 4.0])), of(np.array([2.0, 6.0, 10.0]), 10))
    assert found is not None
    assert found.freedom is not None
    assert found.error == pytest.approx(np.sqrt((5 / 3) / 4 + 16 / 3))
    assert found.freedom == pytest.approx((5 / 12 + 16 / 3) ** 2 / ((5 / 12) ** 2 / 3 + (16 / 3) ** 2 / 2))


def test_holm_stops_at_the_first_that_stands() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == [True, False, False, True]
    assert holm([]) == []
