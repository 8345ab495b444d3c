"""Two commands never write to one directory."""

from __future__ import annotations

from pathlib import Path

import fake_machine
import pytest
from repository import ROOT
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.runs.claim import InUseError, claimed, new_directory

INCAST = str(ROOT / "labs" / "incast")


def test_a_directory_is_held_until_the_end(tmp_path: Path) -> None:
    directory = tmp_path / "runs" / "incast"
    with claimed(directory):
        with pytest.raises(InUseError, match="another fabriclab writes to it"), claimed(directory):
            pass
        # Who was refused did not let go of what the first one holds.
        with pytest.raises(InUseError), claimed(directory):
            pass
    with claimed(directory):
        assert list(directory.iterdir()) == []


def test_of_two_that_ask_for_a_new_directory_each_has_its_own(tmp_path: Path) -> None:
    made = [new_directory(tmp_path / "runs" / "20261121T110000Z") for _ in range(3)]
    assert [directory.name for directory in made] == ["20261121T110000Z", "20261121T110000Z-2", "20261121T110000Z-3"]


@pytest.mark.parametrize("command", [("run", "--force"), ("sweep",), ("validate", "--force")])
def test_a_command_leaves_a_directory_alone_that_another_one_writes_to(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "fabriclab.api.engine.find_artefacts", lambda: fake_machine.artefacts(tmp_path, fake_machine.END)
    )
    out = tmp_path / "out"
    with claimed(out):
        (out / "manifest.json").write_text("{}")
        verb, *options = command
        result = CliRunner().invoke(app, [verb, INCAST, "--set", "senders=1", "--out", str(out), *options])
    assert (result.exit_code, f"{out}: another fabriclab writes to it" in result.stderr) == (2, True), result.output
    assert [entry.name for entry in out.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("taken", "already exists, and is not a directory"),
        ("taken/out", "is not a directory"),
        ("x" * 300, "is too long"),
    ],
)
def test_a_path_that_cannot_be_made_is_bad_input(
    out: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "fabriclab.api.engine.find_artefacts", lambda: fake_machine.artefacts(tmp_path, fake_machine.END)
    )
    Path("taken").write_text("")
    result = CliRunner().invoke(app, ["run", INCAST, "--set", "senders=1", "--out", out])
    assert (result.exit_code, message in result.stderr) == (2, True), result.output
