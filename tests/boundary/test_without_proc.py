"""On a host, or in a container, where /proc is not mounted, commands say so; there is no traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import patient

_ROOT = Path(__file__).parents[2]
_WITHOUT = 'mount -t tmpfs tmpfs /proc || exit 99; exec "$@"'


def without_proc(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("unshare") is None:
        pytest.skip("a file system can't be mounted here: install util-linux")
    unshared = ["unshare", "-rm", "--propagation", "private", "sh", "-c", _WITHOUT, "sh"]
    command = [*unshared, sys.executable, "-m", "fabriclab", *words]
    variables = {**os.environ, "PYTHONPATH": str(_ROOT), "COLUMNS": "200"}
    ended = subprocess.run(command, cwd=place, env=variables, capture_output=True, text=True, timeout=patient(300))
    if ended.returncode == 99 or "unshare failed" in ended.stderr:
        pytest.skip("a file system can't be mounted here: run the tests as root, or allow user namespaces")
    return ended


def test_doctor_says_that_proc_is_missing(tmp_path: Path) -> None:
    ended = without_proc(tmp_path, "doctor")
    assert ended.returncode == 1, ended.stderr
    (line,) = [line for line in ended.stdout.splitlines() if " /proc: " in line]
    assert line.split(maxsplit=1) == [
        "missing",
        "/proc: is not mounted: a virtual machine can't be started or watched without it: sudo mount -t proc proc "
        "/proc",
    ]
    assert "Traceback" not in ended.stderr
    every = without_proc(tmp_path, "doctor", "--all")
    assert any(line.split()[1] == "memory:" for line in every.stdout.splitlines())


@pytest.mark.parametrize("command", [("check",), ("run", "--out", "out", "--no-report"), ("plan",)])
def test_other_commands_end_in_order(tmp_path: Path, command: tuple[str, ...]) -> None:
    ended = without_proc(tmp_path, command[0], str(_ROOT / "labs" / "dctcp-queue"), *command[1:])
    assert ended.returncode in (0, 1), ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 0 or ended.stderr
