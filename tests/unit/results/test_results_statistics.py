"""Statistics against values worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest

from fabriclab.results.statistics import (
    hold_until_next,
    jain_index,
    nearest_rank,
    percentile,
    time_weighted_distribution,
    time_weighted_mean,
    time_weighted_percentile,
)


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 50), (99, 99), (99.5, 100), (100, 100)])
def test_percentile_is_nearest_rank(percent: float, expected: float) -> None:
    assert percentile(pl.Series(range(100, 0, -1)), percent) == expected


def test_percentile_ignores_nulls_and_of_nothing_is_none() -> None:
    assert percentile(pl.Series([None, 3, None, 1]), 50) == 1
    assert percentile(pl.Series([], dtype=pl.Int64), 50) is None


@pytest.mark.parametrize(
    ("count", "percent", "rank"), [(1000, 99.9, 999), (1001, 99.9, 1000), (1, 99.9, 1), (40, 2.5, 1), (41, 2.5, 2)]
)
def test_nearest_rank_is_exact(count: int, percent: float, rank: int) -> None:
    assert nearest_rank(count, percent) == rank


def steps() -> pl.LazyFrame:
    return pl.LazyFrame({"time_ns": [0, 10, 40], "bytes": [0, 100, 20]})


def test_a_row_holds_until_the_next_and_the_last_until_the_end() -> None:
    held = hold_until_next(steps(), "bytes", 0, 100).collect()
    assert held.rows() == [(0, 10), (100, 30), (20, 60)]


def test_interval_cuts_the_first_and_last_row() -> None:
    held = hold_until_next(steps(), "bytes", 20, 50).collect()
    assert held.rows() == [(100, 20), (20, 10)]


def test_with_groups_the_last_row_of_each_holds_no_time() -> None:
    rows = pl.LazyFrame({"time_ns": [0, 0, 10, 30], "flow": [1, 2, 1, 2], "srtt": [5, 7, 6, 8]})
    held = hold_until_next(rows, "srtt", 0, 100, by="flow").collect()
    assert sorted(held.rows()) == [(5, 10), (7, 30)]


def test_time_weighted_mean_and_percentiles() -> None:
    distribution = time_weighted_distribution(hold_until_next(steps(), "bytes", 0, 100))
    assert time_weighted_mean(distribution) == pytest.approx((0 * 10 + 100 * 30 + 20 * 60) / 100)
    assert [time_weighted_percentile(distribution, percent) for percent in (5, 10, 50, 70, 71, 100)] == [
        0,
        0,
        20,
        20,
        100,
        100,
    ]


def test_statistics_of_no_time_are_none() -> None:
    distribution = time_weighted_distribution(hold_until_next(steps(), "bytes", 50, 50))
    assert time_weighted_mean(distribution) is None
    assert time_weighted_percentile(distribution, 50) is None


@pytest.mark.parametrize(
    ("values", "expected"), [([3, 3, 3], 1.0), ([1, 0, 0, 0], 0.25), ([1, 3], 0.8), ([5], None), ([0, 0], None)]
)
def test_jain_index(values: list[int], expected: float | None) -> None:
    assert jain_index(pl.Series(values)) == expected
