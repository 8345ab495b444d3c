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
    original = ROOT / "labs" / origin
    there = {path.relative_to(original) for path in original.rglob("*") if path.is_file()}
    assert call("all", "--from", origin, "--with-results").exit_code == 0
    assert files_of("all") == there
    assert call("mine", "--from", origin).exit_code == 0
    of_results = {path for path in there if path.parts[0].startswith("published") or path.suffix in (".svg", ".md")}
    assert files_of("mine") == there - of_results | {Path("README.md")}
    mine, whole = (parse_lab(Path(name), every_point=False) for name in ("mine", "all"))
    assert mine.name == "mine"
    assert not {"study", "checks"} & set(mine.document.entries)
    assert mine.document.entries.keys() == whole.document.entries.keys() - {"study", "checks"}


def files_of(lab: str) -> set[Path]:
    return {path.relative_to(lab) for path in Path(lab).rglob("*") if path.is_file()}


def test_a_copy_keeps_every_comment_but_those_of_checks(workplace: Path) -> None:
    lab = Path("lab")
    lab.mkdir()
    (lab / "topology.clab.yml").write_text((ROOT / "labs" / "dctcp-queue" / "topology.clab.yml").read_text())
    kept = (
        "# mine\ntitle: T  # the title\n\n# of traffic\n"
        "traffic: {one: {kind: flows, senders: [h1], receiver: h3,\n  size: 9 KB}}\n"
    )
    checks = "# of checks\nchecks:\n  # inner\n  - {metric: drops, operator: '==', value: 0}\n"
    (lab / "experiment.yml").write_text(f"{kept}{checks}# of the limit\nlimit: 9 s\n")
    assert call("mine", "--from", "lab").exit_code == 0
    assert Path("mine/experiment.yml").read_text() == f"{kept}# of the limit\nlimit: 9 s\n"


def test_what_cannot_be_cut_by_lines_stays(workplace: Path) -> None:
    lab = Path("lab")
    lab.mkdir()
    (lab / "topology.clab.yml").write_text((ROOT / "labs" / "dctcp-queue" / "topology.clab.yml").read_text())
    written = "{title: T, traffic: {}, checks: []}\n"
    (lab / "experiment.yml").write_text(written)
    assert call("mine", "--from", "lab").exit_code == 0
    assert Path("mine/experiment.yml").read_text() == written


def test_a_small_lab_begins_with_nothing_else(workplace: Path) -> None:
    result = call("a/mine")
    assert result.exit_code == 0 and "`fabriclab run a/mine` runs it" in result.output
    lab = parse_lab(Path("a/mine"))
    assert lab.name == "mine" and "matrix" in lab.document.entries
    assert "fabriclab sweep a/mine" in Path("a/mine/README.md").read_text()


def test_the_copy_says_where_it_is_from_and_how_it_is_run(workplace: Path) -> None:
    assert "of fabriclab's lab `incast`" in read_me(call("short", "--from", "incast"), "short")
    result = call("a/mine", "--from", str(ROOT / "labs" / "incast"), "--with-results")
    assert "`fabriclab run a/mine` runs it" in result.output
    text = Path("a/mine/README.md").read_text()
    assert text.startswith("> Made by `fabriclab new a/mine --from incast --with-results` (fabriclab ")
    assert "fabriclab sweep a/mine --matrix buffers" in text
    assert "labs/incast" not in text


def read_me(result: Result, lab: str) -> str:
    assert result.exit_code == 0, result.output
    return Path(lab, "README.md").read_text()


def test_starters_are_generated(workplace: Path) -> None:
    assert call("mine", "--from", "star").exit_code == 0
    assert parse_lab(Path("mine"), every_point=False).name == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the directory to make"),
        (("mine", "--with-results"), "--with-results is of a copy: name the lab with --from"),
        (("mine", "--from", "star", "--template", "qdisc"), "write only one of the two"),
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
