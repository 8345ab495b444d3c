"""Titles and names of strangers never command a terminal: what they would do is shown as a picture of the character."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic_run import incast_run

from fabriclab.cli.host.visible import visible
from fabriclab.results import read_run
from fabriclab.run_bundles.bundle import write_bundle

TITLE = "clear \x1b[2J, name \x1b]0;mine\x07, back\x08, turned \u202e, C1 \x9b31m, null \x00"
FORBIDDEN = ("\x1b[2J", "\x1b]0;", "\x07", "\x08", "\u202e", "\x9b", "\x00")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = incast_run(tmp_path_factory.mktemp("run") / "run", 2, rounds=2)
    read_run(run)
    for name in ("manifest.json", "plan.json"):
        data = json.loads((run / name).read_text())
        data["title"] = TITLE.replace("\x00", "") if name == "plan.json" else data["title"]
        (run / name).write_text(json.dumps(data))
    write_bundle(run, run.parent / "it.zip")
    return run.parent / "it.zip"


def on_a_terminal(*words: str, cwd: Path) -> str:
    """Return what a command writes to a terminal."""
    there, here = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "fabriclab", *words], stdin=here, stdout=here, stderr=here, cwd=cwd
    ) as process:
        os.close(here)
        said = b""
        while True:
            try:
                piece = os.read(there, 65536)
            except OSError:
                break
            said += piece
        process.wait()
    os.close(there)
    return said.decode()


def in_a_pipe(*words: str, cwd: Path) -> str:
    """Return what a command writes to a pipe."""
    command = [sys.executable, "-m", "fabriclab", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, check=False).stdout.decode()


@pytest.mark.parametrize("show", [on_a_terminal, in_a_pipe])
@pytest.mark.slow("types five commands, each a process of its own")
def test_a_bundles_title_is_shown_and_not_obeyed(show: object, bundle: Path, tmp_path: Path) -> None:
    assert callable(show)
    opened = show("open", str(bundle), "-o", "opened", cwd=tmp_path)
    reported = show("report", "opened/content", cwd=tmp_path)
    for said in (opened, reported):
        assert "\N{SYMBOL FOR ESCAPE}[2J" in said
        assert [one for one in FORBIDDEN if one in said] == []
    page = (tmp_path / "opened" / "content" / "report.html").read_text()
    assert "<title>" in page and "\x1b[2J<" not in page


def test_a_message_of_what_is_refused_is_shown(tmp_path: Path) -> None:
    name = "no\x1b[2Jlab"
    assert "no\N{SYMBOL FOR ESCAPE}[2Jlab" in on_a_terminal("check", name, cwd=tmp_path)


def test_colours_are_ours(tmp_path: Path) -> None:
    """Rich still draws: the help of a command has colours on a terminal."""
    assert "\x1b[1" in on_a_terminal("--help", cwd=tmp_path)


def test_what_is_shown() -> None:
    assert visible("a\tb\r\nc\rd\x7f\u2028") == "a\tb\r\nc\N{SYMBOL FOR CARRIAGE RETURN}d\N{SYMBOL FOR DELETE}\ufffd"
    assert visible("plain, µ, 漢字, 🦀") == "plain, µ, 漢字, 🦀"
    assert len(visible(TITLE)) == len(TITLE)
