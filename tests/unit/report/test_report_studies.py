"""A study's numbers beside ours: changes against another point, columns of a part's own,
and that studies name what there is."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest
from switch_runs import VARIANTS, switch_sweep

from fabriclab.lab.metrics import TRAFFIC_METRICS, WHOLE_METRICS
from fabriclab.report.drawing.pools import pools_of
from fabriclab.report.drawing.studies import Study, compare_with, read_study
from fabriclab.results import read_sweep

STUDIES = sorted(
    file.name.removesuffix(".json") for file in (resources.files("fabriclab.report") / "studies").iterdir()
)


def study(name: str) -> Study:
    found = read_study(name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", STUDIES)
def test_every_row_names_a_metric_and_fits_its_columns(name: str) -> None:
    for part in study(name).parts:
        for row in part.rows:
            assert row["metric"].partition("[")[0] in {*WHOLE_METRICS, *TRAFFIC_METRICS}
            assert isinstance(row["reference"], str) or len(row["reference"]) <= len(part.references)
            assert set(row) <= {"text", "metric", "where", "reference", "against"}
            assert set(row.get("against", ())) <= set(row["where"]), (
                "a change is against other values of the same settings"
            )


def test_s0_has_all_patterns_of_the_talk() -> None:
    parts = {part.title: part for part in study("S0").parts}
    loaded = parts["Job completion times with background traffic"]
    patterns = ["deep", "shallow", "shallow-ecn", "shallow-ecn-pfc", "shallow-pfc", "all-ecn-htcp", "all-ecn-dctcp"]
    assert [row["where"]["variant"] for row in loaded.rows] == patterns
    # 178.5 s of 193.6 s with MapReduce, 200 GB; 174.3 s with ECN.
    assert (loaded.rows[1]["reference"][1], loaded.rows[2]["reference"][1]) == ("-7.8 %", "-10.0 %")


def test_a_change_is_against_the_point_that_is_the_same_otherwise(tmp_path: Path) -> None:
    sweep = read_sweep(switch_sweep(tmp_path, tuple(VARIANTS)))
    (part,) = [
        each
        for each in compare_with(study("S0"), pools_of(sweep), "buffers", sweep.varied)
        if "nothing else" in each.part.title
    ]
    assert part.part.references == ("MapReduce, 10 GB", "MapReduce, 200 GB", "Tez, 10 GB", "Tez, 200 GB")
    ours = {row.text: row.ours for row in part.rows}
    assert ours["Deep"] == ("H-TCP: 200 ms (200–200 ms)",)
    assert ours["Shallow"] == ("H-TCP: -1.5 %, 197 ms (197–197 ms)",)
    assert ours["ECN everywhere, H-TCP"] == ()


def test_without_that_point_there_is_no_change(tmp_path: Path) -> None:
    sweep = read_sweep(switch_sweep(tmp_path, ("shallow", "shallow-ecn")))
    parts = compare_with(study("S0"), pools_of(sweep), "buffers", sweep.varied)
    assert {row.ours for part in parts for row in part.rows} <= {()}


def test_the_queues_are_compared_under_load(tmp_path: Path) -> None:
    directory = switch_sweep(tmp_path, ("shallow", "shallow-pfc"))
    for path in [directory / "sweep.json", *directory.glob("points/*/plan.json")]:
        path.write_text(path.read_text().replace('"background": false', '"background": true'))
    assert json.loads((directory / "sweep.json").read_text())["points"][0]["settings"]["background"] is True
    queues = compare_with(study("S0"), pools_of(read_sweep(directory)), "buffers", ("variant",))[0]
    ours = {row.text: row.ours for row in queues.rows if row.ours}
    assert ours["Queue drops; shallow"] == ("H-TCP: 500 (500–500)",)
    assert ours["Pause frames sent; shallow, PFC only"] == ("H-TCP: 900 (900–900)",)
