"""Which lab a command means: by path, by name, mistyped; the list of labs, and that it is the README's."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from repository import ROOT
from typer.testing import CliRunner, Result

from fabriclab.cli.app import app
from fabriclab.lab.lab_list import labs_in, list_lab

LABS = labs_in(ROOT / "labs")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with two labs below `labs`, away from the project."""
    for name in ("incast", "leaf-spine"):
        (tmp_path / "labs" / name).mkdir(parents=True)
        for file in ("topology.clab.yml", "experiment.yml"):
            shutil.copy(ROOT / "labs" / name / file, tmp_path / "labs" / name / file)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_of_labs_and_the_labs_ask_the_same() -> None:
    page = (ROOT / "docs" / "labs.md").read_text(encoding="utf-8")
    row = r"^\| \[([\w-]+)\]\(\.\./labs/[\w-]+/README\.md\) \| (.+) \|$"
    rows = dict(re.findall(row, page, flags=re.MULTILINE))
    assert {name: question.replace("`", "") for name, question in rows.items()} == {
        lab.name: list_lab(lab).question for lab in LABS
    }


def test_labs_are_listed_with_what_they_ask(workplace: Path) -> None:
    listed = json.loads(call("labs", "--json").stdout)
    assert {one["name"] for one in listed} == {lab.name for lab in LABS}
    first = next(one for one in listed if one["name"] == "incast")
    assert (first["directory"], first["study"], first["problem"]) == ("labs/incast", "S4", None)
    assert first["question"].startswith("Where does goodput collapse")
    shown = call("labs").stdout
    assert "incast" in shown and "S4" in shown and "`fabriclab run NAME`" in shown


def test_a_lab_that_cannot_be_read_is_listed_with_the_reason(workplace: Path) -> None:
    (workplace / "labs" / "incast" / "experiment.yml").write_text("title: [")
    (workplace / "labs" / "leaf-spine" / "experiment.yml").unlink()
    listed = {one["name"]: one for one in json.loads(call("labs", "--json").stdout)}
    assert "YAML" in listed["incast"]["problem"]
    assert "no such file" in listed["leaf-spine"]["problem"]
    assert listed["leaf-spine"]["question"] is None


@pytest.mark.parametrize("command", [("plan",), ("check",), ("trace", "--summary"), ("graph", "-o", "-")])
def test_a_name_alone_is_enough(workplace: Path, command: tuple[str, ...]) -> None:
    result = call(command[0], "incast", *command[1:])
    assert result.exit_code == 0, result.output
    assert result.stdout


@pytest.mark.parametrize(
    ("command", "lab", "says"),
    [
        ("run", "labs/incats", "labs/incats: no such directory; did you mean labs/incast?"),
        ("sweep", "incats", "incats: no such directory; did you mean labs/incast?"),
        ("validate", "leafspine", "did you mean labs/leaf-spine?"),
        ("plan", "spine", "did you mean labs/leaf-spine?"),
        ("run", "labs", "labs: holds labs; name one of them: labs/incast, labs/leaf-spine"),
        ("graph", "labs/", "labs: holds labs"),
        ("check", "labs/incast/experiment.yml", "is a file of a lab; name its directory, labs/incast"),
        ("run", "labs/incast/topology.clab.yml", "is a file of a lab; name its directory, labs/incast"),
        ("run", "a-run", "a-run: holds the results of a run, not a lab; `fabriclab report a-run` shows them"),
        ("trace", "empty", "empty: has no topology.clab.yml; a lab is a directory with that and experiment.yml"),
        ("run", "quite-another", "`fabriclab labs` lists those there are"),
        ("run", "/etc/passwd", "/etc/passwd: is a file; a lab is a directory with"),
        ("run", "x" * 300, "no such directory"),
    ],
)
def test_what_is_no_lab_is_told_with_what_was_meant(workplace: Path, command: str, lab: str, says: str) -> None:
    (workplace / "empty").mkdir()
    (workplace / "a-run").mkdir()
    (workplace / "a-run" / "manifest.json").write_text("{}")
    result = call(command, lab)
    assert result.exit_code == 2
    assert says in result.stderr
    assert "Traceback" not in result.output
    assert not (workplace / "runs").exists()


@pytest.mark.parametrize(
    ("minutes", "fine"), [("2", True), ("0.05", True), ("0", False), ("two", False), ("-1", False), ("1e3", False)]
)
def test_minutes_are_a_number(workplace: Path, minutes: str, fine: bool) -> None:
    file = workplace / "labs" / "incast" / "experiment.yml"
    file.write_text(re.sub(r"^minutes:.*\n", "", file.read_text(), flags=re.MULTILINE) + f"\nminutes: {minutes}\n")
    result = call("check", "incast")
    assert (result.exit_code == 0) is fine
    assert fine or "is not a number of minutes" in result.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run incast --matrix demo", "--matrix is an option of `sweep`"),
        ("run incast --variant dctcp", "to set a parameter of the lab, write --set variant=VALUE"),
        ("run incast senders=4", "to set a parameter, write --set senders=4"),
        ("run incast --set senders 4", "write --set senders=VALUE, without a blank"),
        ("plan incast --jobs 3", "--jobs is an option of `sweep`"),
        ("help", "help: no such command; write `fabriclab --help`"),
        ("version", "write `fabriclab --version`"),
        ("LIST", "write `fabriclab labs`"),
        ("runn incast", "Did you mean 'run'?"),
        ("generate leafspine", "Did you mean 'leaf-spine'?"),
        ("sweep incast --matrix buffer", "did you mean 'buffers'?"),
        ("plan leaf-spine --node leaf11", "--node 'leaf11': the lab has no such node; did you mean 'leaf1'?"),
        ("check none.clab.yml", "none.clab.yml: no such file"),
        ("report labs/incast", "labs/incast: is a lab, not a run; `fabriclab run labs/incast` makes one"),
        ("report labs/incast/experiment.yml", "is a file; give the directory of a run or sweep"),
        ("report runs/none", "runs/none: no such directory; give the directory of a run"),
        ("arista import /etc/passwd", "/etc/passwd: is not an EOS configuration"),
        ("arista import labs/incast/experiment.yml", "is not an EOS configuration"),
        ("arista import /dev/null", "is a device"),
    ],
)
def test_a_mistyped_command_line_says_what_was_meant(
    workplace: Path, words: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("rich.console.Console.width", 200, raising=False)
    before = sorted(workplace.rglob("*"))
    result = call(*words.split())
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())
    assert sorted(workplace.rglob("*")) == before
