"""Points that differ only in their seed are one experiment."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from synthetic_run import incast_run

from fabriclab.results import Pool, pooled, read_sweep


def seeds_sweep(directory: Path, seeds: tuple[int, ...] = (3, 1, 2), missing: tuple[int, ...] = ()) -> Path:
    """Two variants, some seeds each; a run with a higher seed has more rounds."""
    points = []
    for seed in seeds:
        for variant in ("cubic", "dctcp"):
            run = f"points/{variant}-{seed}"
            if seed not in missing:
                incast_run(directory / run, 4, variant, rounds=seed)
            points.append(
                {"settings": {"seed": seed, "variant": variant}, "seed": seed, "run": run, "status": "complete"}
            )
    directory.mkdir(exist_ok=True)
    data = {"format": "fabriclab-sweep-1", "lab": "incast", "matrix": "seeds", "title": "Seeds", "points": points}
    (directory / "sweep.json").write_text(json.dumps(data))
    return directory


def test_pools_are_the_points_without_their_seeds(tmp_path: Path) -> None:
    sweep = read_sweep(seeds_sweep(tmp_path / "sweep", missing=(2,)))
    pools = pooled(sweep)
    assert [pool.settings for pool in pools] == [{"variant": "cubic"}, {"variant": "dctcp"}]
    assert [[point.seed for point in pool.points] for pool in pools] == [[1, 2, 3]] * 2
    assert [len(pool.runs) for pool in pools] == [2, 2]
    assert pools[1].parameters["variant"] == "dctcp"
    assert pools[1].parameters["senders"] == 4
    assert "seed" not in pools[1].parameters


def test_plans_of_a_pool_share_what_is_the_same(tmp_path: Path) -> None:
    cubic, dctcp = pooled(read_sweep(seeds_sweep(tmp_path / "sweep")))
    first, other = (run.plan for run in cubic.runs[:2])
    assert first.nodes is other.nodes
    assert dctcp.runs[0].plan.nodes is not first.nodes
    assert dctcp.runs[0].congestion_control == "dctcp"


def test_flows_of_a_pool_know_their_run(tmp_path: Path) -> None:
    pool = pooled(read_sweep(seeds_sweep(tmp_path / "sweep")))[0]
    counts = pool.flows.group_by("run").len().sort("run").collect()
    assert counts.rows() == [(0, 4), (1, 8), (2, 12)]
    table = pool.completion_table()
    assert table.select("flows", "runs", "resampled").rows() == [(24, 3, "runs")]
    assert table["mean_low"].item() <= table["mean"].item() <= table["mean_high"].item()
    assert pool.completion_cdf()["flows"].unique().to_list() == [24]
    assert pool.coflow_completion_table().select("coflows", "runs").rows() == [(6, 3)]
    assert pool.coflows().filter(pl.col("group") == "r0")["run"].to_list() == [0, 1, 2]


def test_a_metric_of_a_pool_is_its_mean_over_runs(tmp_path: Path) -> None:
    pool = pooled(read_sweep(seeds_sweep(tmp_path / "sweep")))[0]
    flows = pool.metric("flows")
    assert (flows.mean.value, flows.std, flows.runs) == (8.0, 4.0, 3)
    assert flows.mean.low is not None
    assert 4 <= flows.mean.low <= 8
    unknown = pool.metric("no_such")
    assert (unknown.mean.value, unknown.mean.low, unknown.std, unknown.runs) == (None, None, None, 0)


def test_one_run_resamples_its_flows(tmp_path: Path) -> None:
    pool = pooled(read_sweep(seeds_sweep(tmp_path / "sweep", seeds=(8,))))[0]
    assert pool.completion_table()["resampled"].to_list() == ["flows"]
    metric = pool.metric("flows")
    assert (metric.mean.value, metric.mean.low) == (32.0, None)


def test_a_pool_without_runs_is_empty(tmp_path: Path) -> None:
    pool = pooled(read_sweep(seeds_sweep(tmp_path / "sweep", seeds=(5,), missing=(5,))))[0]
    assert pool.flows.collect().is_empty()
    assert pool.completion_table().is_empty()
    assert pool.completion_cdf().is_empty()
    assert pool.coflows().is_empty()


@pytest.mark.parametrize("points", [0, 300])
def test_many_points_are_grouped_without_reading_flows(points: int, tmp_path: Path) -> None:
    data = {
        "format": "fabriclab-sweep-1",
        "points": [{"settings": {"seed": seed, "load": 40}, "seed": seed, "run": "x"} for seed in range(points)],
    }
    (tmp_path / "sweep.json").write_text(json.dumps(data))
    pools: tuple[Pool, ...] = pooled(read_sweep(tmp_path))
    assert [len(pool.points) for pool in pools] == ([points] if points else [])
