"""Confidence intervals: against resampling in the plainest way, and against what theory says."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial

import polars as pl
import pytest

from fabriclab.results.bootstrap import (
    MOST_RESAMPLED,
    Estimate,
    Sample,
    binomial_tail,
    mean_estimate,
    order_statistic_interval,
    percentile_estimate,
    standard_deviation,
)
from fabriclab.results.statistics import nearest_rank, percentile


def heavy(count: int, seed: int = 1) -> list[int]:
    """Log-normal values, as completion times are: the mean is far above the median."""
    draw = random.Random(seed)
    return [round(math.exp(draw.gauss(13, 1))) for _ in range(count)]


def sample(values: list[int], runs: list[int] | None = None) -> Sample:
    return Sample.of(pl.Series(values), None if runs is None else pl.Series(runs))


def resampled(values: list[int], statistic: Callable[[list[int]], float], count: int = 1000) -> tuple[float, float]:
    """The percentile bootstrap by its definition."""
    draw = random.Random(2)
    found = sorted(statistic(draw.choices(values, k=len(values))) for _ in range(count))
    return found[nearest_rank(count, 2.5) - 1], found[nearest_rank(count, 97.5) - 1]


def resampled_runs(
    runs: list[list[int]], statistic: Callable[[list[int]], float], count: int = 1000
) -> tuple[float, float]:
    draw = random.Random(3)
    found = sorted(statistic([value for run in draw.choices(runs, k=len(runs)) for value in run]) for _ in range(count))
    return found[nearest_rank(count, 2.5) - 1], found[nearest_rank(count, 97.5) - 1]


def mean(values: list[int]) -> float:
    return sum(values) / len(values)


def assert_close(found: Estimate, low: float, high: float, share: float) -> None:
    """Both ends differ by no more than a share of the interval."""
    assert found.low is not None
    assert found.high is not None
    assert abs(found.low - low) <= share * (high - low)
    assert abs(found.high - high) <= share * (high - low)


@pytest.mark.parametrize(
    ("count", "successes", "least"), [(5, 2, 3), (40, 1, 1), (40, 39, 38), (300, 270, 285), (300, 300, 300), (7, 3, 8)]
)
def test_binomial_tail_is_the_sum_of_its_terms(count: int, successes: int, least: int) -> None:
    p = successes / count
    exact = math.fsum(math.comb(count, hits) * p**hits * (1 - p) ** (count - hits) for hits in range(least, count + 1))
    assert binomial_tail(count, successes, least) == pytest.approx(exact, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("count", [1, 2, 9, 57, 1000, 30_011])
def test_bounds_of_a_rank_are_the_first_that_reach_their_probability(count: int) -> None:
    """So says the definition; the search begins near them."""
    for rank in sorted({1, (count + 1) // 2, math.ceil(0.99 * count), count}):
        for bound, probability in zip(order_statistic_interval(count, rank), (0.025, 0.975), strict=True):
            assert binomial_tail(count, bound, rank) >= probability
            assert bound == 1 or binomial_tail(count, bound - 1, rank) < probability


def test_interval_of_a_median_is_that_of_the_textbook() -> None:
    low, high = order_statistic_interval(10_001, 5_001)
    assert (5_001 - low, high - 5_001) == pytest.approx((1.96 * 50, 1.96 * 50), abs=2)


@pytest.mark.parametrize("percent", [50, 95, 99])
def test_interval_of_a_percentile_is_that_of_resampling(percent: float) -> None:
    values = heavy(400)
    low, high = resampled(values, lambda drawn: percentile(pl.Series(drawn), percent) or 0)
    found = percentile_estimate(sample(values), percent)
    assert found.value == percentile(pl.Series(values), percent)
    assert_close(found, low, high, 0.1)


@pytest.mark.parametrize("count", [30, 500])
def test_interval_of_a_mean_is_that_of_resampling(count: int) -> None:
    values = heavy(count)
    found = mean_estimate(sample(values))
    assert found.value == mean(values)
    assert_close(found, *resampled(values, mean), 0.1)


def test_interval_of_a_mean_of_many_agrees_with_resampling_them() -> None:
    values = heavy(MOST_RESAMPLED)
    one_by_one, expanded = mean_estimate(sample(values)), mean_estimate(sample([*values, values[0]]))
    assert one_by_one.low is not None
    assert one_by_one.high is not None
    assert_close(expanded, one_by_one.low, one_by_one.high, 0.05)


def percentile_of(percent: float, drawn: list[float]) -> float:
    return percentile(pl.Series(drawn), percent) or 0


def test_intervals_of_pools_resample_runs() -> None:
    # Each run has its own level: flows of one run are alike, and the spread is that between runs.
    runs = [[value + 2_000_000 * (number % 5) for value in heavy(60 + number, number)] for number in range(12)]
    pool = sample(
        [value for run in runs for value in run], [100 + number for number, run in enumerate(runs) for _ in run]
    )
    assert pool.run_count == 12
    assert_close(mean_estimate(pool), *resampled_runs(runs, mean), 0.1)
    for percent in (50, 99):
        low, high = resampled_runs(runs, partial(percentile_of, percent))
        assert_close(percentile_estimate(pool, percent), low, high, 0.1)


def test_runs_that_are_copies_of_each_other_differ_in_nothing() -> None:
    values = heavy(50)
    pool = sample(values * 8, [number for number in range(8) for _ in values])
    assert mean_estimate(pool) == Estimate(mean(values), mean(values), mean(values))
    middle = percentile(pl.Series(values), 50)
    assert percentile_estimate(pool, 50) == Estimate(middle, middle, middle)


def test_a_pool_with_one_run_has_no_interval() -> None:
    alone = sample([1, 2, 4], [7, 7, 7])
    assert mean_estimate(alone) == Estimate(7 / 3)
    assert percentile_estimate(alone, 50) == Estimate(2.0)


def test_of_nothing_is_nothing() -> None:
    empty = Sample.of(pl.Series([], dtype=pl.Int64))
    assert mean_estimate(empty) == percentile_estimate(empty, 50) == Estimate(None)
    assert empty.run_count == 0


def test_standard_deviation_is_that_of_a_sample() -> None:
    assert standard_deviation(pl.Series([2, 4, 4, 4, 5, 5, 7, 9]).to_numpy()) == math.sqrt(32 / 7)
    assert standard_deviation(pl.Series([3]).to_numpy()) is None


def test_intervals_have_not_changed() -> None:
    """The draws are part of the results: these figures hold on every machine."""
    found = mean_estimate(sample(list(range(1, 101))))
    pool = sample(list(range(1, 101)), [number % 4 for number in range(100)])
    assert (found, mean_estimate(pool)) == (Estimate(50.5, 45.08, 56.2), Estimate(50.5, 49.5, 51.5))
    assert percentile_estimate(pool, 95) == Estimate(95.0, 93.0, 96.0)
