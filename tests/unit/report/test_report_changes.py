"""What a variant changes: pairs of runs by seed, intervals of their changes, the table of a report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from synthetic_run import incast_run
from whole_plans import with_plan

from fabriclab.report.drawing.pools import pools_of, varied_settings
from fabriclab.report.tables.variant_changes import change_table
from fabriclab.results import Results, Sweep, SweepPoint, pooled, read_run
from fabriclab.results.bootstrap import Estimate, ratio_estimate
from fabriclab.results.paired_differences import Change, paired_change

METRIC = "goodput_bps"
PER_SEED = [100.0, 220.0, 330.0, 400.0, 560.0]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return read_run(incast_run(tmp_path_factory.mktemp("run") / "run", 2, rounds=1))


def sweep_of(results: Results, values: dict[str, dict[int, float | None]], **more: str) -> Sweep:
    """Return a sweep with a point for each variant and seed, of this goodput; None: nothing was measured."""
    points = []
    for variant, of_seeds in values.items():
        for seed, value in of_seeds.items():
            settings = {"variant": variant, **more}
            run = replace(with_plan(results, seed=seed, settings=settings), summary={METRIC: value})
            points.append(SweepPoint({**settings, "seed": seed}, seed, "complete", run))
    return Sweep(Path("sweep"), "incast", "demo", "A sweep", tuple(points))


def change_of(results: Results, values: dict[str, dict[int, float | None]]) -> Change | None:
    base, other = pooled(sweep_of(results, values))
    return paired_change(base, other, METRIC)


def test_what_the_seed_does_to_both_runs_drops_out(results: Results) -> None:
    before = dict(enumerate(PER_SEED))
    change = change_of(results, {"off": {**before}, "on": {seed: 0.9 * value for seed, value in before.items()}})
    assert change is not None and change.pairs == len(PER_SEED)
    assert (change.ratio.value, change.ratio.low, change.ratio.high) == pytest.approx((0.9, 0.9, 0.9))


def test_an_interval_holds_the_change_and_is_wider_where_pairs_differ() -> None:
    base = np.array(PER_SEED)
    even, uneven = (
        ratio_estimate(base * np.array(factors), base)
        for factors in ([1.1, 1.2, 1.1, 1.2, 1.1], [0.5, 2.0, 0.9, 1.4, 1.0])
    )
    for estimate in (even, uneven):
        assert estimate.value is not None and estimate.low is not None and estimate.high is not None
        assert estimate.low < estimate.value < estimate.high

    def width(estimate: Estimate) -> float:
        assert estimate.low is not None and estimate.high is not None
        return estimate.high - estimate.low

    assert width(uneven) > 5 * width(even)


def test_only_seeds_that_both_have_are_compared(results: Results) -> None:
    change = change_of(results, {"off": {1: 100.0, 2: 200.0, 3: 1e9}, "on": {1: 150.0, 2: 300.0, 4: 7.0}})
    assert change is not None and (change.ratio.value, change.pairs) == (1.5, 2)


@pytest.mark.parametrize(
    ("off", "on", "expected"),
    [
        ({1: 100.0}, {1: 80.0}, Change(Estimate(0.8), 1)),
        ({1: 100.0, 2: 300.0}, {3: 100.0, 4: 300.0}, Change(Estimate(1.0), 0)),
        ({1: 0.0}, {1: 80.0}, None),
        ({1: 100.0}, {1: None}, None),
    ],
)
def test_too_little_for_an_interval(
    results: Results, off: dict[int, float | None], on: dict[int, float | None], expected: Change | None
) -> None:
    assert change_of(results, {"off": off, "on": on}) == expected


def test_the_table_says_against_what_and_of_how_many_seeds(results: Results) -> None:
    before: dict[int, float | None] = dict(enumerate(PER_SEED))
    sweep = sweep_of(results, {"off": before, "on": {seed: (value or 0) / 2 for seed, value in before.items()}})
    table = change_table(pools_of(sweep), varied_settings(sweep))
    assert table is not None
    assert (table.title, table.headings) == ("Changes against off", ["variant", "Goodput"])
    ((row,),) = [group.rows for group in table.groups]
    assert [(cell.text, cell.detail) for cell in row] == [("on", ""), ("−50.0 %", "−50.0 to −50.0")]
    assert "5 seeds" in table.caption and "95 % intervals" in table.caption and "too narrow" in table.caption


def test_one_seed_has_no_interval_and_one_variant_no_table(results: Results) -> None:
    sweep = sweep_of(results, {"off": {1: 100.0}, "on": {1: 350.0}})
    table = change_table(pools_of(sweep), varied_settings(sweep))
    assert table is not None
    assert [cell.text for cell in table.groups[0].rows[0]] == ["on", "+250 %"]
    assert table.caption.startswith("There is one run on each side")
    alone = replace(sweep, points=sweep.points[:1])
    assert change_table(pools_of(alone), varied_settings(alone)) is None


def test_what_else_varies_is_compared_apart(results: Results) -> None:
    small, large = (
        sweep_of(results, {"off": {1: 100.0}, "on": {1: value}}, buffer=buffer)
        for value, buffer in ((90.0, "1 MB"), (200.0, "9 MB"))
    )
    sweep = replace(small, points=small.points + large.points)
    table = change_table(pools_of(sweep), varied_settings(sweep))
    assert table is not None
    assert [(group.heading, group.rows[0][1].text) for group in table.groups] == [
        ("1 MB buffer", "−10.0 %"),
        ("9 MB buffer", "+100 %"),
    ]
