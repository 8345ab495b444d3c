"""Iterations of collectives: times, ratios, bandwidths, and who was late, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_runs import collective_run

from fabriclab.report.drawing.pools import pool_of_run
from fabriclab.report.figures.collective import collective_picture
from fabriclab.report.headline import finding_of_run
from fabriclab.results import read_run
from fabriclab.results.ingest import ingest_run


def iterations(run: Path) -> list[dict[str, Any]]:
    table = read_run(run).collectives
    assert table is not None
    return table.to_dicts()


def test_each_iteration_has_its_time_and_who_was_late(tmp_path: Path) -> None:
    run = collective_run(tmp_path)
    ingest_run(run)
    first, second = iterations(run)
    assert (first["start_ns"], first["end_ns"], first["time_ns"]) == (0, 210_000, 210_000)
    assert (second["start_ns"], second["end_ns"], second["time_ns"]) == (200_000, 700_000, 500_000)
    assert (first["last_rank"], first["last_host"]) == (1, "h2")
    assert first["rank_mean_ns"] == 205_000
    assert (second["late_flow"], second["late_src"], second["late_dst"]) == (2, "h1", "h2")
    assert second["late_ns"] == 500_000 - second["ideal_ns"]
    assert first["algorithm_bps"] == pytest.approx(8e9 * 10_000 / 210_000)
    assert first["bus_bps"] == pytest.approx(first["algorithm_bps"] / 2)
    metrics = read_run(run).summary
    assert metrics["collective_ns[job]"] == metrics["collective_ns"] == 355_000
    assert metrics["collective_ratio[job]"] == pytest.approx(355_000 / first["ideal_ns"])
    assert metrics["straggler_ratio"] == pytest.approx((210 / 205 + 500 / 355) / 2)
    assert metrics["job_ns[job]"] == 700_000


def test_what_is_not_complete_has_no_time(tmp_path: Path) -> None:
    run = collective_run(tmp_path, complete=False)
    ingest_run(run)
    first, second = iterations(run)
    assert first["time_ns"] == 210_000
    assert second["time_ns"] is None is second["last_rank"]
    assert second["ideal_ns"] == first["ideal_ns"]
    metrics = read_run(run).summary
    assert metrics["collective_ns"] == 210_000
    assert metrics["job_ns[job]"] is None


def test_the_figure_names_the_late_transfer(tmp_path: Path) -> None:
    run = collective_run(tmp_path)
    ingest_run(run)
    picture = collective_picture([pool_of_run(read_run(run))])
    assert picture is not None
    assert "2 iterations" in picture.caption
    assert "from h1 to h2 in iteration 1" in picture.caption
    assert collective_picture([pool_of_run(read_run(run))], ("other",)) is None


def test_a_run_of_collectives_is_told_by_their_time(tmp_path: Path) -> None:
    run = collective_run(tmp_path)
    ingest_run(run)
    assert "Collective operation's time 355 us" in finding_of_run(read_run(run))


def test_points_with_the_same_idle_fabric_share_its_line(tmp_path: Path) -> None:
    run = collective_run(tmp_path)
    ingest_run(run)
    pool = pool_of_run(read_run(run))
    picture = collective_picture([replace(pool, label="one"), replace(pool, label="other")])
    assert picture is not None and picture.chart is not None
    (panel,) = picture.chart.panels
    assert [series.name for series in panel.series] == ["job, one", "job, other", "job, idle fabric"]


def test_other_idle_fabrics_have_lines_of_their_own(tmp_path: Path) -> None:
    """Two lines of one name can't be drawn."""
    runs = [collective_run(tmp_path / name) for name in ("one", "other", "slower")]
    for run in runs:
        ingest_run(run)
    table = pl.read_parquet(runs[2] / "collectives.parquet")
    table.with_columns(pl.col("ideal_ns") * 2).write_parquet(runs[2] / "collectives.parquet")
    pools = [replace(pool_of_run(read_run(run)), label=run.parent.name) for run in runs]
    picture = collective_picture(pools)
    assert picture is not None and picture.chart is not None
    idle = [series.name for series in picture.chart.panels[0].series if "idle" in series.name]
    assert idle == ["job, one, idle fabric", "job, slower, idle fabric"]
