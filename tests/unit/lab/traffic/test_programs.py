"""Programs of a lab's own: from what is written to the job, and from their records to results."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import polars as pl
import pytest
from program_labs import BEFORE, MIB, SERVER, plan
from repository import ROOT
from sample_plans import star
from synthetic_run import program_run
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.compile import compile_job, compiled_flows, machine_memory_bytes, needed_layers
from fabriclab.errors import ArgumentError
from fabriclab.formats.job import Program
from fabriclab.lab.reading.document import parse_document
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.programs import read_argv, read_jars
from fabriclab.live.started_traffic import traffic_named
from fabriclab.report.headline import finding_of_run
from fabriclab.report.tables.points import key_figures
from fabriclab.results import ResultsError, read_run
from fabriclab.runs.directory import write_inputs


def argv_of(programs: list[Program], name: str) -> str:
    (argv,) = (program["argv"] for program in programs if program["name"] == name)
    return " ".join(word or "''" for word in argv)


def test_programs_become_processes_of_the_job() -> None:
    job = compile_job(plan(), compiled_flows(plan(), Path("/nowhere")))
    assert [program["name"] for program in job["traffic"]] == ["client@h2", "before@s1"]
    assert [program["name"] for program in job["disturbances"]] == ["server@h1"]
    common = "--rendezvous /run/fabriclab/rendezvous --record /job/raw/programs"
    assert argv_of(job["disturbances"], "server@h1") == (
        f"/tools/replay program --name server {common}/server.csv --announce 80 -- serve --all"
    )
    assert argv_of(job["traffic"], "client@h2") == (
        f"/tools/replay program --name client {common}/client.csv --at-ns 5 --until-ns 9 --after server:80 "
        "--after before --status 3 --env=LANG=C --output /job/output/answers.csv -- ask ''"
    )


def test_what_programs_send_may_be_datagrams_which_nobody_acknowledges() -> None:
    drain = compile_job(plan())["drain"]
    assert drain == {"nodes": ["h1", "h2", "s1"], "still_ns": 2 * 10**6}
    far = [
        node.model_copy(update={"ports": tuple(port.model_copy(update={"delay_ns": 10**6}) for port in node.ports)})
        for node in plan().nodes
    ]
    assert compile_job(plan().model_copy(update={"nodes": tuple(far)}))["drain"]["still_ns"] == 4 * 10**6
    assert "drain" not in compile_job(star(3))


def test_nodes_with_programs_have_a_layer_of_all_packages_names_and_counters() -> None:
    job = compile_job(plan())
    layers = {node["name"]: node.get("layers") for node in job["nodes"]}
    assert layers == {"h1": ["packages"], "h2": ["packages"], "h3": None, "s1": ["packages"]}
    assert needed_layers(plan()) == {"packages": ("common", "server-package")}
    collected = {program["name"] for program in job["collect"]}
    assert {"nstat@h1", "nstat@h2"} <= collected and "nstat@h3" not in collected


def test_nodes_know_each_other_by_name_where_programs_run(tmp_path: Path) -> None:
    write_inputs(plan(), tmp_path, tmp_path / "run")
    hosts = {node: tmp_path / f"run/nodes/{node}/names/etc/hosts" for node in ("h1", "h3")}
    assert "10.0.2.1 h2\n" in hosts["h1"].read_text() and not hosts["h3"].exists()


def test_the_machine_has_memory_for_them() -> None:
    without = star(3, traffic=(BEFORE,))
    assert machine_memory_bytes(plan()) - machine_memory_bytes(without) >= 256 * MIB


def test_a_command_is_divided_as_a_shell_would_and_a_list_is_kept() -> None:
    def read(text: str) -> tuple[str, ...] | None:
        document = parse_document(text, "experiment.yml", Problems())
        assert document is not None
        return read_argv(Section(document, "", Problems(), ("argv",)))

    assert read("argv: redis-server --save '' \"a b\"") == ("redis-server", "--save", "", "a b")
    assert read("argv: [sh, -c, ' x ', 1, '']") == ("sh", "-c", " x ", "1", "")
    assert read("argv: [sh, [x]]") is None and read("argv: ''") is None and read('argv: ["a\\0b"]') is None


def test_a_list_of_java_archives_is_read(tmp_path: Path) -> None:
    """Each mistake names the list's line."""
    good = f"# a tool\norg.example:tool:1.0 {'0' * 64}\norg.example:tool:1.0:tests  {'1' * 64}  # its tests\n"

    def read(text: str) -> tuple[tuple[str, ...], list[str]]:
        (tmp_path / "list.txt").write_text(text)
        problems = Problems()
        document = parse_document("jars: list.txt", "experiment.yml", problems)
        assert document is not None
        return read_jars(Section(document, "", problems, ("jars",)), tmp_path), [
            one.message for one in problems.found()
        ]

    expected = (f"org.example:tool:1.0={'0' * 64}", f"org.example:tool:1.0:tests={'1' * 64}")
    assert read(good) == (expected, [])
    (message,) = read(good + "org.example:tool\n")[1]
    assert message.startswith("list.txt:4: 'org.example:tool' is not a Java archive; write GROUP:ARTIFACT:VERSION")
    assert read("") == ((), ["'list.txt' is empty; it lists Java archives, one a line"])
    job = compile_job(star(3, traffic=(dataclasses.replace(SERVER, jars=expected),)))
    assert {node["name"]: node.get("layers") for node in job["nodes"]}["h1"] == ["jars", "packages"]


def test_one_starts_with_its_lab_only() -> None:
    with pytest.raises(ArgumentError, match="server: a program can start only with its lab"):
        traffic_named(plan(), "server")


def test_results_say_when_each_ran(tmp_path: Path) -> None:
    results = read_run(program_run(tmp_path / "run"))
    table = pl.read_parquet(tmp_path / "run" / "programs.parquet")
    assert table.rows() == [
        ("server", "h1", 0, 101_000_000, "signal", "exit 0"),
        ("client", "h2", 1_000_000, 11_000_000, "itself", "exit 0"),
    ]
    metrics = {name: value for name, value in results.summary.items() if name.startswith("program_ns")}
    assert metrics == {
        "program_ns": 10_000_000,
        "program_ns[server]": 101_000_000,
        "program_ns[client]": 10_000_000,
    }
    assert finding_of_run(results).startswith("Program's time 10 ms")
    assert [title for title, *_ in key_figures(results)][:2] == ["Program's time", "Queue, mean over time"][:1] + [
        title for title, *_ in key_figures(results)
    ][1:2]
    exported = CliRunner().invoke(
        app, ["export", str(tmp_path / "run"), "--table", "programs", "--out", str(tmp_path / "out")]
    )
    assert exported.exit_code == 0, exported.output
    assert (tmp_path / "out" / "programs.csv").read_text().splitlines()[1] == "server,h1,0,101000000,signal,exit 0"


@pytest.mark.parametrize("row", [",,,", "1000000,2000000,signal,signal 15"])
def test_one_that_did_not_run_to_its_end_has_no_time(tmp_path: Path, row: str) -> None:
    results = read_run(program_run(tmp_path / "run", row))
    assert results.summary["program_ns"] is None and results.summary["program_ns[client]"] is None
    never = "client never started, because it waits for server:80"
    assert (never in results.notes) == (row == ",,,")


def test_a_run_that_ended_before_any_of_them_began_can_be_read(tmp_path: Path) -> None:
    run = program_run(tmp_path / "run")
    for file in (run / "raw/programs").iterdir():
        file.write_text("# fabriclab-program-1\nstart_ns,end_ns,ended_by,status\n")
    results = read_run(run)
    assert pl.read_parquet(run / "programs.parquet").rows() == [
        ("server", "h1", *[None] * 4),
        ("client", "h2", *[None] * 4),
    ]
    assert results.summary["program_ns"] is None


def test_a_record_that_replay_did_not_write_is_named(tmp_path: Path) -> None:
    run = program_run(tmp_path / "run", "soon,later,itself,exit 0")
    with pytest.raises(ResultsError, match=r"raw/programs/client.csv:3"):
        read_run(run)


def test_a_plan_with_programs_says_what_runs_where(tmp_path: Path) -> None:
    lab = ROOT / "labs" / "applications"
    told = CliRunner().invoke(app, ["plan", str(lab)]).output
    assert "client runs memcslap --servers=server:11211" in told and "after redis:6379" in told
    traced = CliRunner().invoke(app, ["trace", str(lab), "--summary"])
    assert traced.exit_code == 0, traced.output
    assert json.loads(CliRunner().invoke(app, ["plan", str(lab), "--json"]).output)["traffic"][1]["kind"] == "program"
