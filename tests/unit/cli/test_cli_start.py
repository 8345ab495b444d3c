"""Commands begin soon, and say that they do: what is imported when, how often a lab is read, what a terminal shows.

Nothing is timed.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pair_lab
import pytest
from repository import ROOT
from synthetic_run import long_run
from typer.testing import CliRunner

import fabriclab.lab.experiment
from fabriclab.cli.app import app
from fabriclab.engine import artefacts
from fabriclab.lab import LabError, parse_lab

INCAST = ROOT / "labs" / "incast"
FABRICLAB = (sys.executable, "-m", "fabriclab")

LAB = (
    pair_lab.EXPERIMENT
    + """
variants: {cubic: {hosts.default.congestion_control: cubic}}
matrix: {demo: {rounds: [1, 2, 3], seed: 1..20}}
"""
)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "topology.clab.yml").write_text(pair_lab.TOPOLOGY)
    (tmp_path / "experiment.yml").write_text(LAB)
    return tmp_path


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Has an entry for each time that an experiment is read."""
    calls: list[object] = []
    read = fabriclab.lab.experiment.parse_experiment

    def counted(*arguments: Any, **options: Any) -> object:
        calls.append(arguments[0])
        return read(*arguments, **options)

    monkeypatch.setattr("fabriclab.lab.later_experiments.parse_experiment", counted)
    return calls


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        (
            "fabriclab.cli.app",
            "polars numpy matplotlib jinja2 pydantic ruamel fabriclab.lab fabriclab.resolve fabriclab.report",
        ),
        (
            "fabriclab.cli.commands.run",
            "matplotlib jinja2 fabriclab.report fabriclab.results fabriclab.vendors.sonic.read",
        ),
        (
            "fabriclab.cli.commands.sweep",
            "matplotlib jinja2 fabriclab.report fabriclab.results fabriclab.vendors.sonic.read",
        ),
        (
            "fabriclab.cli.commands.plan",
            "matplotlib jinja2 fabriclab.report fabriclab.results fabriclab.vendors.sonic.read",
        ),
        ("fabriclab.cli.commands.doctor", "polars numpy matplotlib jinja2 pydantic"),
    ],
)
def test_a_command_loads_what_it_needs_when_it_needs_it(module: str, absent: str) -> None:
    script = f"import sys, {module}\nprint(*sorted(set({absent.split()!r}) & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert loaded == "\n"


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys, runpy\nsys.argv[1:] = ['--help']\n"
        "try:\n    runpy.run_module('fabriclab', run_name='__main__')\nexcept SystemExit:\n    pass\n"
        "print(sorted({'polars', 'numpy', 'matplotlib', 'jinja2', 'pydantic', 'ruamel.yaml'} & set(sys.modules)), "
        "file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert "Usage" in done.stdout
    assert done.stderr == "[]\n"


PRELOADED = """
import json
import sys
from jinja2 import Environment
from pathlib import Path
from fabriclab.cli.commands import preloading, run
from fabriclab.lab import parse_lab
from fabriclab.shipped import shipped
directory = Path(sys.argv[1])
preloading._load_report()
# As each run has read its lab.
parse_lab(shipped("labs") / json.loads((directory / "plan.json").read_text())["lab"], every_point=False)
before = set(sys.modules)
Environment.compile = None  # what is compiled now is compiled while somebody waits
from fabriclab.api.measured import Run
from fabriclab.cli.commands import outcome
from fabriclab.runs.manifest import hash_files
results = outcome.read_if_possible(directory)
Run(directory).write_report()
hash_files(directory)
print(sorted(name for name in set(sys.modules) - before if name.startswith(("fabriclab", "numpy", "jinja2"))))
"""


def test_what_shows_results_is_loaded_while_the_machine_runs(tmp_path: Path) -> None:
    run = long_run(tmp_path / "run")
    done = subprocess.run([sys.executable, "-c", PRELOADED, run], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_what_a_manifest_says_of_the_host_is_asked_while_a_command_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in ("_ask", "git_revision", "describe_host"):
        monkeypatch.setattr(artefacts, name, lambda *_, name=name: asked.append(name))
    with artefacts.asked_ahead():
        pass
    assert sorted(asked) == ["_ask", "describe_host", "git_revision"]


def test_check_reads_each_point_once(lab: Path, readings: list[object]) -> None:
    result = CliRunner().invoke(app, ["check", str(lab)])
    assert "matrices: demo (60 points)" in result.output
    # As written, the variant, three points that stand for twenty seeds each, and what `run` runs without a setting.
    assert len(readings) == 1 + 1 + 3 + 1


def test_seeds_that_draw_groups_are_all_read(lab: Path, readings: list[object]) -> None:
    (lab / "experiment.yml").write_text(LAB + "groups: {some: {share: 50 %}}\n")
    assert CliRunner().invoke(app, ["check", str(lab)]).exit_code == 0
    assert len(readings) == 1 + 1 + 60 + 1


def test_a_seed_that_is_none_is_found_among_many(lab: Path) -> None:
    (lab / "experiment.yml").write_text(LAB.replace("seed: 1..20", "seed: [1, 2, x]"))
    with pytest.raises(LabError, match="'x' is not a whole number"):
        parse_lab(lab)


def test_one_point_is_planned_without_the_others(lab: Path, readings: list[object]) -> None:
    assert CliRunner().invoke(app, ["plan", str(lab)]).exit_code == 0
    assert len(readings) == 2


def test_a_bad_point_is_found_by_check_and_by_its_sweep(lab: Path) -> None:
    (lab / "experiment.yml").write_text(LAB.replace("[1, 2, 3]", "[1, none]"))
    for command in ("check", "sweep"):
        result = CliRunner().invoke(app, [command, str(lab)])
        assert result.exit_code == 2
        assert "experiment.yml:7: traffic.one.rounds: 'none' is not a whole number" in result.output


def shown_on_a_terminal(*arguments: str) -> str:
    """Return what a command writes to standard error when that is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*FABRICLAB, *arguments], stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                some = os.read(ours, 65536)
            except OSError:  # the last one with it open has gone
                break
            shown += some
        assert process.stdout is not None
        assert b"loading" not in process.stdout.read()
    os.close(ours)
    return shown.decode()


def test_a_terminal_shows_what_is_going_on(lab: Path) -> None:
    shown = shown_on_a_terminal("check", str(lab))
    assert "loading" in shown
    assert f"reading {lab}"[:30] in shown


def test_a_pipe_shows_nothing_but_the_answer(lab: Path) -> None:
    done = subprocess.run([*FABRICLAB, "check", str(lab)], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.startswith("pair: OK\n")
