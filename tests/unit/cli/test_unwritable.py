"""A directory that can't be written is named, with its owner and the line that mends it, and nothing is left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NOBODY = 65534
_CLAIM = """
import sys
from pathlib import Path
import typer
from fabriclab.cli.host.failure import reported
from fabriclab.runs.claim import claimed, new_directory
def main(path: Path) -> None:
    with reported(), claimed(path if path.exists() else new_directory(path)):
        print("held")
typer.run(main)
"""
"""What `run` does first, without the machine that it needs then."""
COMMANDS = {
    "new run": ["-c", _CLAIM, "runs/incast/now"],
    "given directory": ["-c", _CLAIM, "runs"],
    "generate": ["-m", "fabriclab", "generate", "star", "--hosts", "2", "-o", "runs/mine"],
}


@pytest.fixture
def without_rights() -> list[str]:
    """What runs a command without root's right to write everywhere."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root writes everywhere: run the tests as another user, or install setpriv (make deps)")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


def ended(command: str, directory: Path, before: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, *COMMANDS[command]], cwd=directory, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_runs_directory_of_somebody_else_is_named_with_the_line_that_mends_it(
    tmp_path: Path, without_rights: list[str], command: str
) -> None:
    runs = tmp_path / "runs"
    runs.mkdir(mode=0o555)
    if os.geteuid() == 0:
        os.chown(runs, NOBODY, NOBODY)
    result = ended(command, tmp_path, without_rights)
    assert result.returncode == 2 and "Traceback" not in result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith("runs") and "permission denied" in line
    if os.geteuid() == 0:
        assert f"runs belongs to user {NOBODY}, you are user 0: sudo chown 0:0 " in line
    else:
        assert "is yours, and not writable: chmod u+rwx " in line
    assert list(runs.iterdir()) == []


def test_a_directory_of_ones_own_is_just_written(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    assert ended("given directory", tmp_path, []).stdout == "held\n"
    assert ended("new run", tmp_path, []).stdout == "held\n"


def test_a_file_that_cannot_be_read_has_no_such_words(tmp_path: Path, without_rights: list[str]) -> None:
    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / "topology.clab.yml").write_text("name: x\n")
    (lab / "topology.clab.yml").chmod(0)
    if os.geteuid() == 0:
        os.chown(lab / "topology.clab.yml", NOBODY, NOBODY)
    argv = [*without_rights, sys.executable, "-m", "fabriclab", "check", "lab"]
    said = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False).stderr
    assert "ermission denied" in said and "chown" not in said and "Traceback" not in said
