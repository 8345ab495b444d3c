"""What is shown of a run in real time: its clock, what its engine really gave, and how exact its figures are."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console
from synthetic_run import incast_run, write_run

from fabriclab.cli.commands.outcome import show_result
from fabriclab.formats.clock import clock_of
from fabriclab.report.environment import environment_rows
from fabriclab.report.measured.port_facts import port_facts
from fabriclab.report.tables.points import key_figures, metric_rows
from fabriclab.report.warnings import warnings_of
from fabriclab.results import Results, SweepPoint, read_run
from fabriclab.runs import RunResult
from fabriclab.runs.engines import EngineName

PORT = "s1:eth3"
SHARED = {
    "switch": {
        "title": "",
        "profile": "",
        "notes": [],
        "cell_bytes": 1,
        "pools": [{"name": "shared", "size_bytes": 64_000_000}],
    },
}
ACCOUNT = {"pool": "shared", "reserved_bytes": 0, "limit_bytes": None, "alpha_log": 3}


def real(directory: Path, **manifest: Any) -> Results:
    return read_run(incast_run(directory, 2, rounds=2, engine="containerlab", **manifest))


def shared(directory: Path, engine: str) -> Results:
    """A run whose receiver's port belongs to a shared buffer."""
    source = incast_run(directory / "source", 2, rounds=2)
    plan = json.loads((source / "plan.json").read_text())
    for node in plan["nodes"]:
        for port in node["ports"] if node["name"] == "s1" else ():
            queues = [{"index": index, "account": ACCOUNT, "wred": None} for index in (0, 1)]
            port |= {"queue": None, "switch_port": {"queues": queues, "groups": []}}
        if node["name"] == "s1":
            node |= SHARED
    files = {path.relative_to(source).as_posix(): path.read_text() for path in source.rglob("*.csv")}
    return read_run(write_run(directory / "run", plan, files, engine=engine))


@pytest.mark.parametrize(("engine", "clock"), [("vm", "virtual"), ("containerlab", "real"), (None, "virtual")])
def test_the_engine_says_which_clock_it_is(engine: str | None, clock: str) -> None:
    assert clock_of(engine) == clock


def test_the_time_of_containers_is_called_real(tmp_path: Path) -> None:
    rows = dict(environment_rows(real(tmp_path / "a")))
    assert "s of real time in" in rows["Time"] and "virtual" not in rows["Time"]
    assert "s of virtual time in" in dict(environment_rows(read_run(incast_run(tmp_path / "b", 2, rounds=1))))["Time"]


@pytest.mark.parametrize(
    ("engine", "said"), [("vm", "2.099 s virtual in 15.1 s"), ("containerlab", "2.099 s real in 15.1 s")]
)
def test_the_last_line_of_a_run_says_whose_seconds_they_are(engine: EngineName, said: str) -> None:
    console = Console(file=io.StringIO(), width=200)
    show_result(console, "runs/a", RunResult(Path("runs/a"), "complete", "", 15.12, 2_099_000_000, engine=engine))
    assert isinstance(console.file, io.StringIO) and console.file.getvalue() == f"runs/a: complete, {said}\n"


def test_the_limit_is_what_the_containers_had(tmp_path: Path) -> None:
    results = shared(tmp_path, "containerlab")
    qdiscs = [
        {"kind": "tbf", "dev": "eth3", "options": {"rate": 125_000_000, "limit": 99}},
        {"kind": "prio", "dev": "eth3", "options": {}},
        {"kind": "bfifo", "dev": "eth3", "options": {"limit": 21_600_000}},
        {"kind": "red", "dev": "eth3", "options": {"limit": 21_000_000}},
        {"kind": "bfifo", "dev": "eth1", "options": {"limit": 77_000_000}},
    ]
    (results.directory / "collect").mkdir()
    (results.directory / "collect" / "qdisc@s1").write_text(json.dumps(qdiscs))
    facts = port_facts(results, PORT)
    assert facts is not None and facts.limit_bytes == 21_600_000
    context = {title: what for title, _, what in key_figures(results)}
    assert context["Queue, longest"] == "of 21.6 MB that a queue can get"


def test_a_limit_that_containers_did_not_tell_is_not_made_up(tmp_path: Path) -> None:
    facts = port_facts(shared(tmp_path, "containerlab"), PORT)
    assert facts is not None and facts.limit_bytes is None


def test_the_machine_has_the_plans_limit(tmp_path: Path) -> None:
    facts = port_facts(shared(tmp_path, "vm"), PORT)
    assert facts is not None and facts.limit_bytes == 64_000_000 * 8 // 9


def said(results: Results) -> str:
    return "\n".join(warnings_of([SweepPoint({}, 0, results.status, results)]))


def test_a_round_trip_that_is_longer_than_planned_is_said(tmp_path: Path) -> None:
    # The synthetic flows' smallest is 51 us, on two links of 25 us each way: 100 us.
    results = real(tmp_path / "a")
    assert "round trip" not in said(results), "shorter than planned is not a burden of the host's"
    flows = results.directory / "flows.parquet"
    results.flows.with_columns(pl.lit(149, pl.Int64).alias("min_rtt_us")).collect().write_parquet(flows)
    slow = said(read_run(results.directory))
    assert "took 149 us, although the links' delays add up to 100 us" in slow and "49 us longer" in slow
    manifest = json.loads((results.directory / "manifest.json").read_text()) | {"engine": "vm"}
    (results.directory / "manifest.json").write_text(json.dumps(manifest))
    assert "round trip" not in said(read_run(results.directory)), "in virtual time queues are all that is added"


def test_how_exact_a_reconvergence_is_known_stands_beside_it(tmp_path: Path) -> None:
    directory = incast_run(tmp_path / "a", 2, rounds=1, engine="containerlab")
    lines = [
        {"event": "change", "name": "dies", "t_ns": 1},
        {
            "event": "reconverged",
            "name": "dies",
            "reconvergence_ns": 1_211_000_000,
            "within_ns": 340_000_000,
            "t_ns": 2,
        },
    ]
    (directory / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    results = read_run(directory)
    assert dict(metric_rows(results))["Routing followed the failure after (dies)"] == "1.211 s (or up to 340 ms sooner)"
    assert "up to 340 ms sooner than stated" in said(results)
    assert not any("within" in title for title, _ in metric_rows(results))


def test_the_machine_needs_no_such_words(tmp_path: Path) -> None:
    directory = incast_run(tmp_path / "a", 2, rounds=1)
    event = {"event": "reconverged", "name": "dies", "reconvergence_ns": 111_000_000, "t_ns": 2}
    (directory / "events.jsonl").write_text(json.dumps(event))
    results = read_run(directory)
    assert dict(metric_rows(results))["Routing followed the failure after"] == "111 ms"
    assert said(results) == ""


PATH = {
    "src": "h1",
    "dst": "h2",
    "planned_ns": 100_000,
    "measured_ns": 149_000,
    "least_ns": 140_000,
    "bound_ns": 605_000,
    "excess_ns": 49_000,
}
LINE = {"port": "s1:eth1", "planned_bps": 20_000_000, "measured_bps": 19_900_000, "deviation": -0.005}
FIGURES = {
    "paths": 2,
    "slowest_path": PATH,
    "lines": 6,
    "worst_line": LINE,
    "tolerance": 0.05,
    "unmeasured": [],
    "invalid": [],
}


def calibration(directory: Path, **changes: Any) -> str:
    return dict(environment_rows(real(directory, calibration={**FIGURES, **changes}))).get("Calibration", "")


def test_the_report_says_by_how_much_the_hosts_links_are_off(tmp_path: Path) -> None:
    assert calibration(tmp_path) == (
        "of 2 idle paths, h1 to h2 differs most from the plan: a round trip takes 149 us instead of 100 us, 49 us "
        "more; up to 605 us more is acceptable; of 6 links, that of s1:eth1 differs most from the plan: 19.9 Mbps "
        "instead of 20 Mbps (-0.5%; up to 5% is acceptable)"
    )


def test_what_was_not_calibrated_is_said_to_be_so(tmp_path: Path) -> None:
    absent = calibration(tmp_path / "a", slowest_path=None, worst_line=None, unmeasured=["s1: no such program"])
    assert absent == "no idle round trip was measured; no link's rate was measured; s1: no such program"
    silent = calibration(
        tmp_path / "b",
        slowest_path=PATH | {"measured_ns": None, "excess_ns": None},
        worst_line=LINE | {"measured_bps": None, "deviation": None},
    )
    assert "h1 to h2 differs most from the plan: no packet came back; 100 us was planned" in silent
    assert "the link of s1:eth1 carried nothing; 20 Mbps was planned" in silent


def test_the_virtual_machine_needs_no_calibration(tmp_path: Path) -> None:
    assert "Calibration" not in dict(environment_rows(read_run(incast_run(tmp_path, 2, rounds=1))))
