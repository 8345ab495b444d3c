"""`fabriclab new`: the copy, what it says of itself, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from repository import ROOT
from typer.testing import CliRunner, Result

from fabriclab.cli.app import app
from fabriclab.cli.arguments.completion import complete_origin
from fabriclab.lab import parse_lab
from fabriclab.lab.lab_list import labs_in


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["new", *arguments])


@pytest.mark.parametrize("origin", [lab.name for lab in labs_in(ROOT / "labs")])
def test_a_copy_of_every_lab_is_a_lab_with_its_files(origin: str, workplace: Path) -> None:
    assert call("mine", "--from", origin).exit_code == 0
    copied = {path.relative_to("mine") for path in Path("mine").rglob("*") if path.is_file()}
    original = ROOT / "labs" / origin
    assert copied == {path.relative_to(original) for path in original.rglob("*") if path.is_file()}
    assert parse_lab(Path("mine"), every_point=False).name == "mine"


def test_the_copy_says_where_it_is_from_and_how_it_is_run(workplace: Path) -> None:
    result = call("a/mine", "--from", str(ROOT / "labs" / "incast"))
    assert "`fabriclab run a/mine` runs it" in result.output
    text = Path("a/mine/README.md").read_text()
    assert text.startswith("> Made by `fabriclab new a/mine --from incast` (fabriclab ")
    assert "fabriclab sweep a/mine --matrix buffers" in text
    assert "labs/incast" not in text


def test_starters_are_generated(workplace: Path) -> None:
    assert call("mine", "--from", "star").exit_code == 0
    assert parse_lab(Path("mine"), every_point=False).name == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the directory to make"),
        (("mine",), "name the starting point, such as --from incast or --template qdisc; `fabriclab new --list`"),
        (("there", "--from", "incast"), "there already exists; name a new directory"),
        (("mine", "--from", "incats"), "did you mean"),
        (("my lab", "--from", "incast"), "'my lab' is not a lab name"),
    ],
)
def test_what_cannot_be_made_is_told(arguments: tuple[str, ...], message: str, workplace: Path) -> None:
    Path("there").mkdir()
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert [path.name for path in workplace.rglob("*")] == ["there"]


def test_the_list_has_labs_and_starters() -> None:
    shown = call("--list").output
    assert "incast" in shown and "star, dumbbell, fat-tree" in shown
    assert {"incast", "star"} <= set(complete_origin(""))
    assert complete_origin("inc") == ["incast"]
