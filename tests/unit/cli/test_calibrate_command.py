"""`fabriclab calibrate` as users run it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fabriclab.calibration.model import Model
from fabriclab.cli.app import app

OUTPUT = Path(__file__).parents[1] / "calibration" / "measured.txt"


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["calibrate", *arguments])


def test_new_writes_the_description_and_the_protocol_and_replaces_nothing() -> None:
    result = call("new", "rack7")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in Path("rack7").iterdir()) == ["calibration.yml", "protocol.sh"]
    again = call("new", "rack7")
    assert again.exit_code == 2
    assert "rack7/calibration.yml already exists; name a new directory" in again.output


def test_new_without_a_directory_says_what_to_write() -> None:
    result = call("new")
    assert result.exit_code == 2
    assert "fabriclab calibrate new DIR" in result.output


def test_all_mistakes_of_both_files_are_listed_with_their_lines() -> None:
    call("new", "rack7")
    description = Path("rack7/calibration.yml")
    description.write_text(description.read_text() + "bufer: 1 MB\n")
    result = call("rack7")
    assert result.exit_code == 2
    assert "bufer: unknown key; did you mean 'buffer'?" in result.output
    assert "rack7/measured.txt: no such file; write the output of `protocol.sh measure ADDRESS` there" in result.output


def test_an_interrupted_calibration_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    call("new", "rack7")
    Path("rack7/measured.txt").write_bytes(OUTPUT.read_bytes())
    monkeypatch.setattr(Model, "measure", interrupted)
    result = call("rack7")
    assert result.exit_code == 130
    assert "interrupted: nothing was written" in result.output
    assert sorted(path.name for path in Path("rack7").iterdir()) == ["calibration.yml", "measured.txt", "protocol.sh"]
