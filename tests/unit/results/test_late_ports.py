"""What was in the way of a late transfer, from samples by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_runs import collective_run

from fabriclab.report.drawing.pools import pool_of_run
from fabriclab.report.figures.collective import collective_picture
from fabriclab.results import read_run
from fabriclab.results.ingest import ingest_run
from fabriclab.results.late_ports import CAUSES, with_causes
from fabriclab.results.run import Results

Sample = tuple[int, str, int, int, int]

# The late transfer, h1 to h2, lasts from 200 to 700 us. What s1 sends to h3 is not in its way.
SAMPLES: list[Sample] = [
    (100_000, "s1:eth2", 0, 1000, 0),
    (300_000, "s1:eth2", 0, 5000, 20_000),
    (400_000, "s1:eth2", 0, 0, 60_000),
    (800_000, "s1:eth2", 0, 0, 90_000),
    (300_000, "s1:eth2", 3, 500, 0),
    (250_000, "h1:eth1", 0, 100, 70_000),
    (250_000, "s1:eth3", 0, 90_000, 400_000),
]
COLUMNS = {"time_ns": pl.Int64, "port": pl.String, "queue": pl.Int64, "bytes": pl.Int64, "paused_ns": pl.Int64}


@pytest.fixture
def run(tmp_path: Path) -> Results:
    directory = collective_run(tmp_path)
    ingest_run(directory)
    return read_run(directory)


def causes(run: Results, samples: list[Sample] | None) -> list[dict[str, Any]]:
    table = run.collectives
    assert table is not None
    queues = None if samples is None else pl.LazyFrame(samples, schema=COLUMNS, orient="row")
    return with_causes(table.drop(*CAUSES), run.plan, run.flows, queues).select("late_flow", *CAUSES).to_dicts()


def test_the_fullest_port_and_the_longest_pause_on_its_ways_are_named(run: Results) -> None:
    _, late = causes(run, SAMPLES)
    # 1,000 bytes for 100 us and 5,000 for 100 us of 500, and 500 bytes for 400 us in its other queue.
    held = (1000 * 100 + 5000 * 100) / 500 + 500 * 400 / 500
    assert late == {
        "late_flow": 2,
        "late_port": "s1:eth2",
        "late_queue_bytes": pytest.approx(held),
        "late_paused_port": "h1:eth1",
        "late_paused_ns": 70_000,
    }


@pytest.mark.parametrize("samples", [None, [], [(250_000, "s1:eth3", 0, 90_000, 400_000)]])
def test_what_nobody_sampled_is_no_cause(run: Results, samples: list[Sample] | None) -> None:
    assert [row["late_port"] or row["late_paused_port"] for row in causes(run, samples)] == [None, None]


def test_an_iteration_that_is_not_complete_has_no_cause(tmp_path: Path) -> None:
    directory = collective_run(tmp_path, complete=False)
    ingest_run(directory)
    assert causes(read_run(directory), SAMPLES)[1] == dict.fromkeys(("late_flow", *CAUSES))


def test_the_figure_says_it(run: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    table = run.collectives
    assert table is not None
    held = {"late_port": "s1:eth2", "late_queue_bytes": 1600.0, "late_paused_port": "h1:eth1", "late_paused_ns": 70_000}
    told = table.with_columns(**{name: pl.lit(value) for name, value in held.items()})
    monkeypatch.setattr(Results, "collectives", told)
    picture = collective_picture([pool_of_run(run)])
    assert picture is not None
    assert "On its ways s1:eth2 held most, 1.6 KB on average, and h1:eth1 was paused longest, 70 us." in picture.caption
