"""`fabriclab compare`: which points belong together, verdicts, conditions, and what each format says."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_run import incast_run, incast_sweep
from typer.testing import CliRunner
from whole_plans import with_plan

import fabriclab
from fabriclab.cli.app import app
from fabriclab.comparison import words
from fabriclab.comparison.compare import compare
from fabriclab.comparison.conditions import judge, read_condition
from fabriclab.comparison.records import ComparedMetric, ComparedPoint, Comparison
from fabriclab.errors import ArgumentError
from fabriclab.formats.metrics import METRICS
from fabriclab.results import Results, Sweep, SweepPoint, read_run
from fabriclab.results.differences import difference

SEEDS = range(1, 6)
GOODPUT = [900.0, 880.0, 905.0, 870.0, 890.0]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return incast_run(tmp_path_factory.mktemp("run") / "run", 2, rounds=1)


@pytest.fixture(scope="module")
def results(directory: Path) -> Results:
    return read_run(directory)


def sweep(results: Results, values: Mapping[str, Mapping[str, Sequence[float | None]]], **settings: str) -> Sweep:
    """Return a sweep with a point for each number of senders; of each metric a value for each seed from 1 on."""
    points = []
    for senders, metrics in values.items():
        for index in range(max(map(len, metrics.values()))):
            own = {"senders": senders, **settings}
            summary = {name: seeds[index] for name, seeds in metrics.items()}
            run = replace(with_plan(results, seed=index + 1, settings=own), summary=summary)
            points.append(SweepPoint({**own, "seed": index + 1}, index + 1, "complete", run))
    return Sweep(Path("sweep"), "incast", "demo", "A sweep", tuple(points))


def verdicts(comparison: Comparison) -> dict[tuple[str, str], str]:
    return {(point.label, metric.metric): metric.verdict for point in comparison.points for metric in point.metrics}


def test_better_worse_changed_and_undecided(results: Results) -> None:
    near = [value + step for value, step in zip(GOODPUT, (3, -4, 1, -2, 2.5), strict=True)]
    base = sweep(
        results, {"4": {"goodput_bps": GOODPUT, "fct_p99_ns": GOODPUT, "marks": GOODPUT}, "8": {"goodput_bps": GOODPUT}}
    )
    more = [value * 1.5 for value in GOODPUT]
    other = sweep(results, {"4": {"goodput_bps": more, "fct_p99_ns": more, "marks": more}, "8": {"goodput_bps": near}})
    found = compare(base, other, ["goodput_bps", "fct_p99_ns", "marks"])
    assert verdicts(found) == {
        ("4 senders", "goodput_bps"): "better",
        ("4 senders", "fct_p99_ns"): "worse",
        ("4 senders", "marks"): "changed",
        ("8 senders", "goodput_bps"): "undecided",
    }
    assert found.tested == 4
    assert found.points[0].pairs == 5


def test_points_without_a_partner_are_named(results: Results) -> None:
    metrics = {"goodput_bps": GOODPUT}
    found = compare(sweep(results, {"4": metrics, "8": metrics}), sweep(results, {"8": metrics, "16": metrics}))
    assert [point.label for point in found.points] == ["8 senders"]
    assert (found.only_base, found.only_other) == (("4 senders",), ("16 senders",))
    assert found.counts == {"same": 1}


def test_a_setting_that_is_the_same_within_each_side_is_what_is_compared(results: Results) -> None:
    metrics = {"4": {"goodput_bps": GOODPUT}, "8": {"goodput_bps": GOODPUT}}
    found = compare(sweep(results, metrics, buffer="64 KB"), sweep(results, metrics, buffer="128 KB"))
    assert len(found.points) == 2
    assert [(change.what, change.base, change.other) for change in found.changes][:1] == [("buffer", "64 KB", "128 KB")]


def test_what_one_side_has_not_measured_is_told(results: Results) -> None:
    found = compare(sweep(results, {"4": {"goodput_bps": GOODPUT}}), sweep(results, {"4": {"goodput_bps": [None] * 5}}))
    (metric,) = found.points[0].metrics
    assert (metric.verdict, metric.reason) == ("not measured", "the other has not measured it")


def test_two_seeds_and_single_runs_are_undecided_with_a_reason(results: Results) -> None:
    for count, reason in ((1, "one run each"), (2, "fewer than 3 seeds")):
        base, other = (
            sweep(results, {"4": {"goodput_bps": [value + plus for value in GOODPUT[:count]]}}) for plus in (0, 9)
        )
        (metric,) = compare(base, other).points[0].metrics
        assert metric.verdict == "undecided"
        assert reason in metric.reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wors:goodput_bps", "did you mean 'worse'"),
        ("worse:goodputs", "did you mean 'goodput_bps'"),
        ("worse:goodput_bps:2", "write per cent, such as 2%"),
        ("worse:marks", "write changed:marks"),
        ("different-bits:goodput_bps", "takes no metric"),
    ],
)
def test_conditions_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        read_condition(text)


def test_conditions(results: Results) -> None:
    base = sweep(results, {"4": {"goodput_bps": GOODPUT}})
    three_less = sweep(results, {"4": {"goodput_bps": [0.97 * value for value in GOODPUT]}})
    found = compare(base, three_less)
    held = {
        text: [finding.holds for finding in judge(found, [read_condition(text)])]
        for text in (
            "worse:goodput_bps:2%",
            "worse:goodput_bps:4%",
            "worse",
            "changed:goodput_bps:1%",
            "changed:goodput_bps:5 %",
        )
    }
    assert held == {
        "worse:goodput_bps:2%": [True],
        "worse:goodput_bps:4%": [False],
        "worse": [True],
        "changed:goodput_bps:1%": [True],
        "changed:goodput_bps:5 %": [False],
    }
    (untold,) = judge(found, [read_condition("worse:fct_p99_ns")])
    assert (untold.is_told, untold.told) == (False, "no run has measured it")
    (bits,) = judge(found, [read_condition("different-bits")])
    assert (bits.is_told, bits.holds) == (True, False)
    fast, slow = (sweep(results, {"4": {"goodput_bps": [value]}}) for value in (900.0, 100.0))
    single = compare(fast, slow)
    (unknown,) = judge(single, [read_condition("worse:goodput_bps")])
    assert (unknown.is_told, unknown.holds) == (False, False)
    assert judge(single, [read_condition("changed:goodput_bps:2%")])[0].holds


def test_what_may_be_better_is_said_of_metrics_that_can_be() -> None:
    """A rate, a share or a time has a direction but where its definition leaves it open."""
    assert {metric.name for metric in METRICS if metric.better == "more"} >= {"goodput_bps", "jain_fairness"}
    assert all(
        metric.better == "less" for metric in METRICS if metric.name.startswith(("fct_p", "slowdown_", "coflow_"))
    )
    assert {metric.better for metric in METRICS} == {"more", "less", None}


def invoke(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    place = tmp_path_factory.mktemp("sweeps")
    return incast_sweep(place / "one"), incast_sweep(place / "two")


def test_the_command_says_that_nothing_differs(sweeps: tuple[Path, Path]) -> None:
    status, said = invoke(*sweeps, "--fail-on", "different-bits", "--fail-on", "worse")
    assert status == 0
    assert "settings, plan, seeds, versions and artefacts are the same" in said
    assert "different-bits: holds 0 of" in said


def test_changes_are_shown_without_a_verdict_and_what_would_give_one(directory: Path, tmp_path: Path) -> None:
    other = incast_run(tmp_path / "other", 16, rounds=3)
    status, said = invoke(directory, other)
    assert status == 0
    assert said.index("Goodput") < said.index("what differs")
    assert said.count("One run each: the effect of the seed is unknown, so there are no verdicts.") == 1
    assert "interval" not in said and "undecided" not in said
    assert (
        said.rstrip().splitlines()[-1].startswith("For verdicts, run both sides with several seeds: fabriclab sweep ")
    )
    assert said.rstrip().endswith("--seeds 5")
    page = tmp_path / "page.html"
    assert invoke(directory, other, "--format", "html", "--out", page)[0] == 0
    text = page.read_text()
    assert text.index("Goodput") < text.index("What differs") and text.count("One run each") == 1


@pytest.mark.parametrize(("count", "seeds", "shown"), [(40, 1, 40), (50, 1, 40), (40, 3, 40), (50, 3, 0)])
def test_of_many_changes_without_a_verdict_some_are_shown(count: int, seeds: int, shown: int) -> None:
    values = [{seed: float(seed * side) for seed in range(1, seeds + 1)} for side in (1, 2)]
    found = difference(*values, is_count=False)
    metrics = [ComparedMetric("goodput_bps", found, "undecided", "") for _ in range(count)]
    points = tuple(ComparedPoint(str(at), {}, seeds, (seeds, seeds), None, (one,)) for at, one in enumerate(metrics))
    comparison = Comparison("a", "b", (), points, (), (), "again", 0.95)
    assert sum(map(comparison.shows, metrics)) == shown
    left = [metric for metric in metrics if not comparison.shows(metric)]
    word = "undecided" if seeds == 3 else "changed without a verdict"
    assert words.hidden(left, comparison) == (f"{len(left)} {word}, the same or not measured" if left else "")


def test_json_junit_page_and_files(sweeps: tuple[Path, Path], directory: Path, tmp_path: Path) -> None:
    status, said = invoke(*sweeps, "--format", "json")
    assert status == 0
    assert json.loads(said)["format"] == "fabriclab-comparison-1"
    junit = tmp_path / "junit.xml"
    assert invoke(*sweeps, "--format", "junit", "--out", junit, "--fail-on", "changed")[0] == 0
    assert ElementTree.parse(junit).getroot().find("testsuite") is not None
    page = tmp_path / "page.html"
    status, said = invoke(sweeps[0], directory, sweeps[1], "--format", "html", "--out", page)
    assert status == 0
    assert str(page) in said
    assert page.read_text().count("<h2>What differs</h2>") == 2
    text = tmp_path / "text"
    assert invoke(sweeps[0], directory, "--out", text, "--all")[0] == 0
    assert "not compared" in text.read_text()


def test_a_condition_that_holds_is_exit_status_1(sweeps: tuple[Path, Path], directory: Path, tmp_path: Path) -> None:
    other = incast_run(tmp_path / "other", 16, rounds=3)
    status, said = invoke(
        directory, other, "--fail-on", "changed:goodput_bps", "--fail-on", "worse:goodput_bps", "--all"
    )
    assert status == 1
    assert "changed:goodput_bps: holds" in said
    assert "worse:goodput_bps: cannot be judged" in said
    assert "one run each" in said


def test_bad_input_is_told(sweeps: tuple[Path, Path], tmp_path: Path) -> None:
    for arguments, message in (
        ((sweeps[0], tmp_path / "none"), "no such directory"),
        ((*sweeps, "--metric", "goodputs"), "did you mean 'goodput_bps'"),
        ((*sweeps, "--level", "95"), "such as 0.95"),
    ):
        status, said = invoke(*arguments)
        assert (status, message in said) == (2, True), said


def test_from_python(sweeps: tuple[Path, Path], tmp_path: Path) -> None:
    found = fabriclab.compare(fabriclab.open_sweep(sweeps[0]), sweeps[1], metrics=["all"], fail_on=["worse"])
    assert not found.fails
    assert "same, to the bit" in repr(found)
    assert json.loads(found.to_json())["comparisons"][0]["points"]
    assert found.write_page(tmp_path / "page.html").is_file()
