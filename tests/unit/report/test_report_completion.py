"""Completion times in the report: seeds pooled, tables, slowdown, deadlines, studies."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from completion_runs import mixed_run, mixed_sweep
from rich.console import Console
from whole_plans import with_plan

from fabriclab.formats.plan.model import Check
from fabriclab.report import class_table, summary_table, write_pictures, write_report
from fabriclab.report.chosen_points import telling_points
from fabriclab.report.drawing.exhibits import Cell, DataTable, RowGroup
from fabriclab.report.drawing.pools import (
    Measure,
    format_interval,
    format_measure,
    pool_of_run,
    pools_of,
    varied_settings,
)
from fabriclab.report.figures.deadlines import missed_deadlines
from fabriclab.report.figures.slowdown import binned_slowdowns
from fabriclab.report.measured.quantities import format_metric
from fabriclab.report.selection import bins_of
from fabriclab.report.tables.checks import check_rows
from fabriclab.report.tables.completion import completion_tables
from fabriclab.results import ResultsError, read_run, read_sweep


class Text(HTMLParser):
    """Collects the words of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def text_of(paths: list[Path], tmp_path: Path) -> str:
    out = tmp_path / "report.html"
    write_report(paths, out)
    parser = Text()
    parser.feed(out.read_text())
    return " ".join(" ".join(parser.parts).replace("\u00a0", " ").split())


def texts(table: DataTable) -> list[list[str]]:
    return [[cell.text for cell in row] for group in table.groups for row in group.rows]


@pytest.fixture(scope="module")
def study_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mixed_sweep(tmp_path_factory.mktemp("study"), seeds=4, flows=60, classes=("short",), study="S1")


@pytest.fixture(scope="module")
def load_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mixed_sweep(tmp_path_factory.mktemp("load"), seeds=2, loads=(10, 50, 90), flows=60, classes=("web",))


def test_seeds_are_pooled(study_dir: Path, tmp_path: Path) -> None:
    sweep = read_sweep(study_dir)
    assert varied_settings(sweep) == ("background",)
    assert [(pool.label, len(pool.runs)) for pool in pools_of(sweep)] == [
        ("background tcp", 4),
        ("background mptcp", 4),
    ]
    text = text_of([study_dir], tmp_path)
    assert "8 of 8 Seeds of each point 4" in text
    assert text.count("background tcp, 4 seeds") == 2, "in the table of completion times and in that of recoveries"
    assert "Bands are 95 % intervals over the seeds" in text
    assert "resampling the runs of all seeds" in text


@pytest.mark.no_cover
@pytest.mark.slow("writes a sweep of many seeds, and draws its report")
def test_a_sweep_of_many_seeds_is_a_small_page(tmp_path: Path) -> None:
    directory = mixed_sweep(tmp_path / "sweep", seeds=30, flows=10, classes=("short",))
    out = tmp_path / "report.html"
    write_report([directory], out)
    script = max(re.findall(r"<script.*?</script>", out.read_text(), re.DOTALL), key=len)
    assert out.stat().st_size - len(script.encode()) < 300_000
    assert out.read_text().count('<tr class="incomplete">') == 0
    assert len(pools_of(read_sweep(directory))) == 2


def test_the_statistics_of_a_pool_are_of_all_its_flows(study_dir: Path) -> None:
    pool = pools_of(read_sweep(study_dir))[1]
    times = pl.concat([run.flows.select("fct_ns") for run in pool.runs]).collect()["fct_ns"]
    mean, median = pool.measure("fct_mean_ns[short]"), pool.measure("fct_median_ns")
    assert mean.value == pytest.approx(times.mean())
    assert median.value == times.sort()[119]
    assert mean.low is not None and mean.value is not None and mean.high is not None
    assert mean.low < mean.value < mean.high
    timeouts = [float(run.summary["timeouts"] or 0) for run in pool.runs]
    assert pool.measure("timeouts").value == sum(timeouts) / 4
    assert pool.measure("fct_mean_ns[nobody]") == Measure(None)


def test_completion_table_counts_what_is_incomplete(tmp_path: Path) -> None:
    run = read_run(mixed_run(tmp_path / "run", flows=40, cut=2, classes=("short", "web")))
    table = completion_tables([pool_of_run(run)])[0]
    rows = texts(table)
    assert [row[0] for row in rows] == ["short", "web", "web", "web"]
    assert rows[0][1:4] == ["(0, 100 KB]", "40", "2"]
    assert rows[0][4].startswith("≥ ") and rows[0][7].startswith("≥ ") and not rows[0][5].startswith("≥ ")
    assert sum(int(row[2]) for row in rows) == 80
    assert sum(int(row[3]) for row in rows) == 4
    assert "cut at 20 MB" in table.caption


def test_completion_table_of_some_traffic_with_own_bins(tmp_path: Path) -> None:
    run = read_run(mixed_run(tmp_path / "run", flows=40))
    table = completion_tables([pool_of_run(run)], ("web",), (1_000_000,))[0]
    assert [row[:2] for row in texts(table)] == [["web", "(0, 1 MB]"], ["web", "> 1 MB"]]


def test_flows_are_grouped_by_how_they_recovered(tmp_path: Path) -> None:
    run = read_run(mixed_run(tmp_path / "run", "mptcp", flows=1000, classes=("short",)))
    table = completion_tables([pool_of_run(run)])[1]
    rows = {row[1]: row for row in texts(table)}
    assert list(rows) == ["nothing lost", "fast retransmit", "one timeout", "several timeouts"]
    assert sum(int(row[2].replace(",", "")) for row in rows.values()) == 1000
    late = run.flows.filter(pl.col("timeouts") > 1).select("fct_ns").collect()["fct_ns"].sort()
    assert rows["several timeouts"][6] == format_metric("_ns", late[(len(late) - 1) // 2], 3)


def test_queries_have_a_table_of_their_own_and_no_job(tmp_path: Path) -> None:
    run = read_run(mixed_run(tmp_path / "run", flows=80, cut=1, classes=("query",)))
    table = completion_tables([pool_of_run(run)])[2]
    assert [row[:4] for row in texts(table)] == [["query", "queries", "10", "1"]]


def test_deadlines_are_those_of_queries(tmp_path: Path) -> None:
    run = read_run(mixed_run(tmp_path / "run", flows=80, cut=1))
    coflows = (
        run.flows.filter(pl.col("class") == "query")
        .group_by("group")
        .agg(pl.col("fct_ns").max().alias("longest"), pl.col("fct_ns").null_count().alias("missing"))
    )
    late = coflows.filter((pl.col("longest") > 20_000_000) | (pl.col("missing") > 0)).collect().height
    (missed,) = missed_deadlines(pool_of_run(run))
    assert (missed.traffic, missed.noun, missed.total, missed.misses) == ("query", "query", 10, late)
    assert 0 < late < 10
    assert f"{late} of 10" in text_of([tmp_path / "run"], tmp_path)


def test_slowdown_says_what_it_is_measured_against(tmp_path: Path) -> None:
    run = mixed_run(tmp_path / "run", flows=40)
    text = text_of([run], tmp_path)
    assert "Slowdown by flow size" in text
    assert "Slowdown is the completion time divided by the completion time on an idle path" in text
    assert "The base round-trip time here is 100 us." in text
    (slowdown,) = binned_slowdowns([pool_of_run(read_run(run))])
    assert list(slowdown.bins) == ["(0, 100 KB]", "(100 KB, 10 MB]", "> 10 MB"]


def test_slowdown_is_drawn_against_the_load(load_dir: Path, tmp_path: Path) -> None:
    text = text_of([load_dir], tmp_path)
    assert "Slowdown against load" in text
    assert re.search(r"background mptcp: 99th percentile of \(0, 100 KB\] [\d.,]+ at 10 %, [\d.,]+ at 90 %", text)
    assert "Slowdown by flow size" not in text


def test_telling_points_of_offered_load_are_those_of_one_high_load(load_dir: Path) -> None:
    sweep = read_sweep(load_dir)
    chosen = telling_points(pools_of(sweep), varied_settings(sweep)).pools
    assert [pool.label for pool in chosen] == ["background tcp, 50 % load", "background mptcp, 50 % load"]
    assert chosen[0].dash != chosen[1].dash


def test_a_cut_distribution_is_labelled_everywhere(load_dir: Path, tmp_path: Path) -> None:
    note = "The sizes of web follow the distribution web-search, cut at 20 MB (mean 1.6 MB)."
    assert note in text_of([load_dir], tmp_path)
    with (tmp_path / "out").open("w") as file:
        console = Console(width=200, record=True, file=file)
        console.print(summary_table(read_sweep(load_dir), width=200))
    assert note in " ".join(console.export_text().split())


def test_bins_of_a_figure_are_sizes() -> None:
    assert bins_of({"bins": [1000, 50_000]}) == (1000, 50_000)
    assert bins_of({}) == (100_000, 10_000_000)
    with pytest.raises(ResultsError, match="ascending"):
        bins_of({"bins": [5000, 1000]})


def test_a_check_has_one_row_whatever_the_number_of_points(study_dir: Path) -> None:
    checked = Check(metric="timeouts", operator="<", value=5, where={"background": "tcp"})
    checks = (checked, Check(metric="flows_incomplete", operator="==", value=0))
    sweep = read_sweep(study_dir)
    points = [replace(point, results=with_plan(run, checks=checks)) for point in sweep.points if (run := point.results)]
    pools = pools_of(replace(sweep, points=tuple(points)))
    first, second = check_rows(pools)
    assert (first.where, second.where) == ("background tcp", "")
    assert second.text == "8 of 8 pass"
    assert first.text.endswith(" of 4 pass")


def test_terminal_shows_completion_times_by_class(tmp_path: Path) -> None:
    run = read_run(mixed_run(tmp_path / "run", flows=40))
    table = class_table(run)
    assert table is not None
    with (tmp_path / "out").open("w") as file:
        console = Console(width=100, record=True, file=file)
        console.print(table)
    assert re.search(r"query +40 +0 +[\d.]+ (ms|us)", console.export_text())
    assert class_table(read_run(mixed_run(tmp_path / "one", flows=20, classes=("short",)))) is None


def test_terminal_shows_pools(study_dir: Path, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file:
        console = Console(width=80, record=True, file=file)
        console.print(summary_table(read_sweep(study_dir), width=80))
    lines = console.export_text().splitlines()
    assert sum(bool(re.match(r" +(mp)?tcp ", line)) for line in lines) == 2


def test_incomplete_seeds_are_named_together(tmp_path: Path) -> None:
    directory = mixed_sweep(tmp_path / "sweep", seeds=3, flows=20, classes=("short",))
    for seed in (2, 3):
        file = directory / f"points/tcp-None-{seed}" / "manifest.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"status": "crashed"}))
    text = text_of([directory], tmp_path)
    assert "2 of 6 points are incomplete: background tcp (seed 2, 3): status crashed." in text
    assert "1 of 3" in text


def test_tables_are_written_as_markdown(tmp_path: Path) -> None:
    files = {file.name: file for file in write_pictures([mixed_run(tmp_path / "run", flows=40)], tmp_path / "pictures")}
    assert {
        "flow-completion-times.svg",
        "slowdown-by-flow-size.svg",
        "deadlines-missed.svg",
        "completion-times-of-flows.md",
    } <= set(files)
    lines = files["completion-times-of-flows.md"].read_text().splitlines()
    assert lines[2].startswith("| Traffic | Size | Flows | Incomplete | Mean |")
    assert {line.count("|") for line in lines[2:8]} == {lines[2].count("|")}


def test_markdown_names_groups() -> None:
    groups = [RowGroup("a", [[Cell("x"), Cell("1 ms", "0–2 ms")]]), RowGroup("b", [[Cell("y|z"), Cell("2 ms")]])]
    text = DataTable("T", "C", ["N", "V"], [False, True], groups).markdown()
    assert text == "## T\n\n|  | N | V |\n| --- | --- | ---: |\n| a | x | 1 ms (0–2 ms) |\n| b | y\\|z | 2 ms |\n\nC\n"


@pytest.mark.parametrize(
    ("measure", "text", "interval"),
    [
        (Measure(78_400_000.0, 71_000_000.0, 85_900_000.0), "78.4 ms", "71–85.9 ms"),
        (Measure(1_100_000.0, 900_000.0, 1_300_000.0), "1.1 ms", "900 us – 1.3 ms"),
        (Measure(5e6, 4e6, None, is_lower_bound=True), "≥ 5 ms", ""),
        (Measure(None), "–", ""),
    ],
)
def test_measures_are_text(measure: Measure, text: str, interval: str) -> None:
    assert (format_measure("_ns", measure, 3), format_interval("_ns", measure)) == (text, interval)
