"""Fairness by phases, on samples whose answer is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from fabriclab.results.fairness import fairness_metrics, phase_table

MS = 1_000_000
RATE = 125_000
"""Bytes of a millisecond at 1 Gbps."""


def flows_of(*lives: tuple[int, int]) -> pl.LazyFrame:
    """Long flows from h0, h1... that run from and to so many milliseconds."""
    rows = [
        {
            "flow": flow,
            "src": f"h{flow}",
            "status": "stopped",
            "start_ns": begin * MS,
            "end_ns": end * MS,
            "stop_ns": end * MS,
        }
        for flow, (begin, end) in enumerate(lives)
    ]
    return pl.LazyFrame(rows)


def samples_of(lives: list[tuple[int, int]], share: Callable[[int, int], float], subflows: int = 1) -> pl.LazyFrame:
    """What each sender has had acknowledged, each millisecond; `share` is a flow's share of the link in
    the millisecond before."""
    rows: list[dict[str, Any]] = []
    for flow, (begin, end) in enumerate(lives):
        acknowledged = 0
        for time in range(begin, end + 1):
            acknowledged += int(RATE * share(flow, time)) if time > begin else 0
            for subflow in range(subflows):
                part = acknowledged // subflows
                rows.append(
                    {"time_ns": time * MS, "node": f"h{flow}", "flow": flow, "subflow": subflow, "bytes_acked": part}
                )
    return pl.LazyFrame(rows).sort("time_ns", maintain_order=True)


def test_a_phase_lies_between_two_changes() -> None:
    lives = [(0, 1000), (200, 800), (400, 600)]
    table = phase_table(flows_of(*lives), samples_of(lives, lambda flow, time: 0.25))
    phases = table.select("begin_ns", "end_ns", "flows").rows()
    assert phases == [(200 * MS, 400 * MS, 2), (400 * MS, 600 * MS, 3), (600 * MS, 800 * MS, 2)]
    assert table["jain"].to_list() == [1, 1, 1]
    assert table["fair_after_ns"].to_list() == [0, 0, 0]


def test_jain_of_unequal_shares() -> None:
    lives = [(0, 500), (0, 500)]
    table = phase_table(flows_of(*lives), samples_of(lives, lambda flow, time: (0.2, 0.6)[flow]))
    assert table["jain"].to_list() == pytest.approx([0.8**2 / (2 * (0.2**2 + 0.6**2))])
    assert table["fair_after_ns"].to_list() == [500 * MS]


def test_fair_after_the_first_has_given_way() -> None:
    """One has all for 100 ms, then each a half: at t they have got 0.5 x (t + 100) and 0.5 x (t - 100),
    whose ratio becomes fair."""
    lives = [(0, 1000), (0, 1000)]

    def share(flow: int, time: int) -> float:
        return 0.5 if time > 100 else (1.0, 0.0)[flow]

    table = phase_table(flows_of(*lives), samples_of(lives, share))
    ratio = (1 + (1 - 0.9**2) ** 0.5) / 0.9
    exact_ms = 100 * (ratio + 1) / (ratio - 1)
    assert exact_ms * MS <= table["fair_after_ns"][0] < (exact_ms + 1) * MS


def test_a_flow_that_gets_nothing_through_counts() -> None:
    lives = [(0, 500), (0, 500)]
    starved = flows_of(*lives).with_columns(pl.when(pl.col("flow") == 0).then(pl.col("end_ns")).alias("end_ns"))
    table = phase_table(starved, samples_of(lives, lambda flow, time: (1.0, 0.0)[flow]))
    assert table.rows() == [(0, 500 * MS, 2, 0.5, 500 * MS)]


def test_a_run_that_was_cut_ends_with_its_samples() -> None:
    lives = [(0, 500), (0, 500)]
    samples = samples_of(lives, lambda flow, time: 0.5).filter(pl.col("time_ns") <= 300 * MS)
    assert phase_table(flows_of(*lives), samples)["end_ns"].to_list() == [300 * MS]


def test_subflows_are_one_flow() -> None:
    lives = [(0, 500), (0, 500)]
    one, four = (
        phase_table(flows_of(*lives), samples_of(lives, lambda flow, time: (0.4, 0.6)[flow], subflows))
        for subflows in (1, 4)
    )
    assert one["jain"][0] < 1
    assert four["jain"].to_list() == pytest.approx(one["jain"].to_list(), rel=1e-4)


def test_changes_close_together_are_one() -> None:
    lives = [(0, 500), (50, 500)]
    assert phase_table(flows_of(*lives), samples_of(lives, lambda flow, time: 0.5))["begin_ns"].to_list() == [50 * MS]
    lives = [(0, 500), (401, 500)]
    assert phase_table(flows_of(*lives), samples_of(lives, lambda flow, time: 0.5)).is_empty()


def test_metrics_are_over_phases() -> None:
    lives = [(0, 400), (200, 800), (200, 800)]
    shares = samples_of(lives, lambda flow, time: (0.3, 0.3, 0.6)[flow])
    table = phase_table(flows_of(*lives), shares)
    assert table["flows"].to_list() == [3, 2]
    metrics = fairness_metrics(flows_of(*lives), shares)
    assert metrics["jain_phase_min"] == min(table["jain"])
    assert metrics["jain_phase_mean"] == pytest.approx(sum(table["jain"]) / 2)
    assert metrics["fair_after_mean_ns"] == sum(table["fair_after_ns"]) / 2


@pytest.mark.parametrize(
    "tcp", [None, samples_of([(0, 500)], lambda flow, time: 1.0)], ids=["not sampled", "one flow sampled"]
)
def test_without_samples_of_two_flows_nothing_is_measured(tcp: pl.LazyFrame | None) -> None:
    assert set(fairness_metrics(flows_of((0, 500), (0, 500)), tcp).values()) == {None}
