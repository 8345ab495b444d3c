"""Where a file system has no locks (NFS without a lock server), what needs one says which file, why, and what to do."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import patient

from fabriclab.engine.packed import UnusableError, locked
from fabriclab.live import labs_up

LAB = Path(__file__).parents[2] / "labs" / "dctcp-queue"


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the labs that are up, on a file system that refuses locks."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr("fcntl.flock", refuse)
    return tmp_path / "fabriclab"


REFUSING = """
import errno, fcntl, os
lock = fcntl.flock
def refuse(file, how):
    number = file if isinstance(file, int) else file.fileno()
    if os.readlink(f"/proc/self/fd/{number}").startswith(os.environ["XDG_RUNTIME_DIR"]):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    lock(file, how)
fcntl.flock = refuse
"""


@pytest.mark.parametrize("command", [("up", str(LAB)), ("ps",), ("down",), ("pause",)])
def test_a_command_of_live_labs_says_what_to_do(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Also the server of a lab, which is a process of its own: all of them begin with the same refusal."""
    (tmp_path / "sitecustomize.py").write_text(REFUSING)
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    variables = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_RUNTIME_DIR": str(runtime)}
    words = [sys.executable, "-m", "fabriclab", *command]
    ended = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=patient(100))
    assert ended.returncode in (1, 2), ended.stdout
    assert ended.stderr == (
        f"{runtime}/fabriclab/.lock: can't be locked (No locks available): locks tell which labs are up, but some "
        "network file systems have none; set XDG_RUNTIME_DIR to a directory of your own on a local disk\n"
    )
    assert not list(tmp_path.glob("runs/*/*/events.jsonl"))


def test_no_descriptor_is_left(runtime: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        with pytest.raises(labs_up.LabsUpError):
            labs_up.labs()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert [path.name for path in runtime.iterdir()] == [".lock"]


def test_a_guard_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "fabriclab" / ".lock").mkdir(parents=True)
    (tmp_path / "fabriclab").chmod(0o700)
    with pytest.raises(labs_up.LabsUpError, match=r"\.lock: Is a directory; set XDG_RUNTIME_DIR to a directory of"):
        labs_up.labs()


@pytest.mark.usefixtures("runtime")
def test_the_cache_of_artefacts_says_so_too(tmp_path: Path) -> None:
    match = r"can't be locked \(No locks available\).*set XDG_CACHE_HOME"
    with pytest.raises(UnusableError, match=match), locked(tmp_path / "kernel.lock"):
        pass
