"""Tables and distributions of completion times, coflows: counts worked out by hand, nothing dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from fabriclab.results.completion import (
    coflow_completion_table,
    coflow_table,
    completion_cdf,
    completion_table,
    size_bin,
    size_bin_names,
)
from fabriclab.results.flows import FLOW_SCHEMA

ROW: dict[str, Any] = {
    "class": "web",
    "size_bytes": 5000,
    "start_ns": 0,
    "status": "complete",
    "recovery": "none",
    "marks": 0,
}


def flows(*rows: dict[str, Any], **extra: Sequence[Any]) -> pl.LazyFrame:
    """Flows with what the rows say; a complete one's end is its start and its completion time."""
    filled = [ROW | row for row in rows]
    for row in filled:
        if row["status"] == "complete" and "fct_ns" in row:
            row["end_ns"] = row["start_ns"] + row["fct_ns"]
    return (
        pl.DataFrame(filled, schema=FLOW_SCHEMA)
        .with_columns(*[pl.Series(name, values) for name, values in extra.items()])
        .lazy()
    )


def times(count: int, **row: Any) -> list[dict[str, Any]]:
    return [{"fct_ns": 1000 * (number + 1), **row} for number in range(count)]


CUT: dict[str, Any] = {"status": "stopped", "recovery": None}


def test_flows_are_counted_by_class_and_size() -> None:
    table = completion_table(
        flows(
            {"fct_ns": 10, "size_bytes": 100_000, "recovery": "timeout"},
            {"fct_ns": 20, "size_bytes": 100_001, "recovery": "fast retransmit", "marks": 3},
            {"fct_ns": 40, "size_bytes": 10_000_000, "deadline_ns": 30, "deadline_missed": True},
            {"fct_ns": 80, "size_bytes": 10_000_001, "class": "bulk", "deadline_ns": 90, "deadline_missed": False},
            {**CUT, "size_bytes": 200_000},
            {**CUT, "size_bytes": None, "stop_ns": 5},
        )
    )
    columns = ("class", "size_bin", "flows", "complete", "incomplete", "none", "fast retransmit", "timeout", "marked")
    assert table.select(columns).rows() == [
        ("bulk", "> 10 MB", 1, 1, 0, 1, 0, 0, 0),
        ("web", "(0, 100 KB]", 1, 1, 0, 0, 0, 1, 0),
        ("web", "(100 KB, 10 MB]", 3, 2, 1, 1, 1, 0, 1),
    ]
    assert table.select("deadline_flows", "deadline_misses", "runs", "mean").rows() == [
        (1, 0, 1, 80),
        (0, 0, 1, 10),
        (1, 1, 1, 30),
    ]
    assert table["resampled"].to_list() == ["flows"] * 3


def test_statistics_are_nearest_rank_and_of_complete_flows() -> None:
    row = completion_table(flows(*times(1000)), by=()).row(0, named=True)
    assert [row[name] for name in ("mean", "median", "p95", "p99", "p999")] == [
        500_500,
        500_000,
        950_000,
        990_000,
        999_000,
    ]
    assert row["median_low"] < row["median"] < row["median_high"]
    assert not any(row[f"{name}_is_lower_bound"] for name in ("mean", "median", "p95", "p99", "p999"))


@pytest.mark.parametrize(
    ("cut", "bounds"),
    [
        (1, ["mean"]),
        (2, ["mean", "p999"]),
        (11, ["mean", "p99", "p999"]),
        (501, ["mean", "median", "p95", "p99", "p999"]),
    ],
)
def test_what_incomplete_flows_could_raise_is_a_lower_bound(cut: int, bounds: list[str]) -> None:
    row = completion_table(flows(*times(1000), *[CUT] * cut)).row(0, named=True)
    assert [name for name in ("mean", "median", "p95", "p99", "p999") if row[f"{name}_is_lower_bound"]] == bounds
    assert all(row[f"{name}_high"] is None and row[f"{name}_low"] is not None for name in bounds)


def test_a_group_without_complete_flows_is_still_counted() -> None:
    row = completion_table(flows(CUT, CUT, {"class": "a", "fct_ns": 7}), by=("class",)).row(1, named=True)
    assert (row["class"], row["flows"], row["incomplete"], row["mean"], row["p99"]) == ("web", 2, 2, None, None)


def test_slowdown_and_flows_without_class() -> None:
    table = completion_table(
        flows({"class": None, "fct_ns": 30, "slowdown": 1.5}, {"class": None, "fct_ns": 90, "slowdown": 3.0}),
        by=("class",),
        of="slowdown",
    )
    assert table.select("class", "flows", "mean", "median").rows() == [(None, 2, 2.25, 1.5)]


def test_pools_resample_runs() -> None:
    pool = flows(*times(60), CUT, run=[0] * 30 + [4] * 30 + [7])
    row = completion_table(pool).row(0, named=True)
    assert (row["runs"], row["resampled"], row["flows"]) == (3, "runs", 61)
    # Of two runs all that resampling can say is one of them or the other.
    assert (row["mean_low"], row["median_low"], row["median"]) == (15_500, 15_000, 30_000)


def test_bins_are_free_and_ordered_by_size() -> None:
    assert size_bin_names((2_000, 16_000)) == ("(0, 2 KB]", "(2 KB, 16 KB]", "> 16 KB")
    sizes = pl.DataFrame({"size_bytes": [20_000, 2_000, 2_001]}).with_columns(size_bin((2_000, 16_000)))
    assert sizes.sort("size_bin")["size_bin"].to_list() == ["(0, 2 KB]", "(2 KB, 16 KB]", "> 16 KB"]
    assert completion_table(flows(*times(2)), bins=())["size_bin"].to_list() == ["all sizes"]
    for wrong in ((0, 5), (5, 5), (7, 3), (-1,)):
        with pytest.raises(ValueError, match=r"bins: .*ascending"):
            size_bin_names(wrong)


def test_distribution_counts_incomplete_flows() -> None:
    curve = completion_cdf(flows(*times(3), CUT))
    assert curve.select("class", "value", "share").rows() == [
        ("web", 1000, 0.25),
        ("web", 2000, 0.5),
        ("web", 3000, 0.75),
    ]
    assert curve.select("flows", "complete", "share_low").unique().rows() == [(4, 3, None)]


def test_thinned_distribution_keeps_ends_and_tail() -> None:
    curve = completion_cdf(flows(*times(100_000)), most_steps=200)
    assert 100 < curve.height <= 202
    assert (curve["value"][0], curve["value"][-1], curve["share"][-1]) == (1000, 100_000_000, 1.0)
    assert curve.filter(pl.col("share") > 0.99).height > 30
    assert curve["share"].is_sorted()
    assert ((curve["share"] * 100_000_000 - curve["value"]).abs() < 1e-3).all()


def test_bands_of_pools_hold_the_curve_and_touch_at_the_ends() -> None:
    pool = flows(*times(40), *times(40), run=[0] * 20 + [1] * 20 + [0] * 20 + [1] * 20)
    curve = completion_cdf(pool)
    assert (curve["share_low"] <= curve["share"]).all()
    assert (curve["share_high"] >= curve["share"]).all()
    # All of run 0 is fast, all of run 1 slow.
    middle = curve.filter(pl.col("value") == 20_000).row(-1, named=True)
    assert (middle["share_low"], middle["share"], middle["share_high"]) == (0.0, 0.5, 1.0)
    assert curve.row(-1, named=True)["share_low"] == 1.0


def test_distribution_of_nothing_has_its_columns() -> None:
    curve = completion_cdf(flows(CUT), by=("class", "size_bin"))
    assert curve.columns == ["class", "size_bin", "value", "share", "share_low", "share_high", "flows", "complete"]
    assert curve.is_empty()


def test_coflows_are_the_first_two_parts_of_a_group() -> None:
    table = coflow_table(
        flows(
            {"group": "sort/input/h1", "start_ns": 0, "fct_ns": 50},
            {"group": "sort/input/h2", "start_ns": 10, "fct_ns": 80},
            {"group": "sort/shuffle/h3/1/2", "start_ns": 90, "fct_ns": 20, "class": "other"},
            {"group": "r0", "start_ns": 5, "fct_ns": 5},
            {"group": "r1", "start_ns": 20, **CUT},
            {"start_ns": 1, "fct_ns": 1},
        )
    )
    columns = ("group", "level", "class", "start_ns", "completion_ns", "flows", "flows_complete", "complete")
    assert table.select(columns).rows() == [
        ("sort", "job", None, 0, 110, 3, 3, True),
        ("sort/input", "coflow", "web", 0, 90, 2, 2, True),
        ("r0", "coflow", "web", 5, 5, 1, 1, True),
        ("r1", "coflow", "web", 20, None, 1, 0, False),
        ("sort/shuffle", "coflow", "other", 90, 20, 1, 1, True),
    ]


def test_long_flows_of_a_coflow_are_complete_at_their_stop() -> None:
    stopped = {"group": "r0", "status": "stopped", "size_bytes": None, "stop_ns": 9, "end_ns": 9}
    assert coflow_table(flows(stopped))["completion_ns"].to_list() == [9]


def test_deadlines_are_of_the_whole_query() -> None:
    late = {"group": "q/1", "start_ns": 0, "fct_ns": 70, "deadline_ns": 60}
    table = coflow_table(
        flows(
            late,
            {**late, "fct_ns": 10},
            {**late, "group": "q/2", "fct_ns": 60},
            {**late, "group": "q/3", **CUT},
            {**late, "group": "q/4", "deadline_ns": None},
        )
    )
    missed = table.filter(pl.col("level") == "coflow").sort("group")
    assert missed.select("deadline_ns", "deadline_missed").rows() == [(60, True), (60, False), (60, True), (None, None)]
    assert table.filter(pl.col("level") == "job")["deadline_missed"].to_list() == [None]


def test_a_coflow_waits_for_a_timeout_when_one_of_its_flows_does() -> None:
    flow = {"start_ns": 0, "fct_ns": 70}
    rows = flows(
        {**flow, "group": "q/1", "recovery": "none"},
        {**flow, "group": "q/1", "recovery": "several timeouts"},
        {**flow, "group": "q/2", "recovery": "fast retransmit"},
        {**flow, "group": "q/3", "recovery": None},
    )
    table = coflow_table(rows).filter(pl.col("level") == "coflow").sort("group")
    assert table["waited_for_timeout"].to_list() == [True, False, None]
    assert coflow_completion_table(rows)["with_timeouts"].to_list() == [1]
    unknown = flows({**flow, "group": "q/3", "recovery": None})
    assert coflow_completion_table(unknown)["with_timeouts"].to_list() == [None]


def test_coflows_have_statistics_as_flows_have() -> None:
    rows = [{"group": f"q/{number}", "fct_ns": 1000 * (number + 1), "deadline_ns": 5_000} for number in range(9)]
    row = coflow_completion_table(flows(*rows, {"group": "q/9", **CUT})).row(0, named=True)
    names = (
        "class",
        "coflows",
        "complete",
        "incomplete",
        "deadline_coflows",
        "deadline_misses",
        "median",
        "mean",
        "mean_is_lower_bound",
    )
    assert [row[name] for name in names] == ["web", 10, 9, 1, 9, 4, 5000, 5000, True]
    assert coflow_completion_table(flows(*rows), by=("level",))["coflows"].to_list() == [9, 1]
