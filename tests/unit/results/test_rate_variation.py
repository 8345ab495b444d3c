"""How steadily a long flow sends, of counters that are known."""

from __future__ import annotations

import polars as pl
import pytest

from fabriclab.results.fairness import rate_variation

MS = 10**6
FLOWS = pl.DataFrame({"flow": [0], "src": ["h1"], "start_ns": [0], "stop_ns": [300 * MS], "status": ["stopped"]}).lazy()


def sampled(gains: list[int]) -> pl.LazyFrame:
    """One sample in 10 ms; `gains` are what was acknowledged since the one before."""
    acked = pl.Series(gains).cum_sum()
    count = len(gains)
    columns = {"time_ns": [10 * MS * (number + 1) for number in range(count)], "flow": [0] * count}
    return pl.DataFrame({**columns, "node": ["h1"] * count, "bytes_acked": acked}).lazy()


def test_a_steady_flow_has_none() -> None:
    assert rate_variation(FLOWS, sampled([1000] * 30)) == {"rate_variation": 0}


def test_it_is_deviation_over_mean_after_the_first_100_ms() -> None:
    gains = [5000] * 10 + [500, 1500] * 10
    assert rate_variation(FLOWS, sampled(gains)) == {"rate_variation": pytest.approx(0.5)}


def test_there_is_none_of_short_or_unsampled_flows() -> None:
    assert rate_variation(FLOWS, None) == {"rate_variation": None}
    assert rate_variation(FLOWS.with_columns(stop_ns=150 * MS), sampled([1000] * 15)) == {"rate_variation": None}
