"""What the documentation tells to type is typed, page by page, and what it shows is what comes out.

A block of kind `console` has commands after `$ `, each followed by lines of its output: some of them, in their order,
blanks counted once. `<!-- exit status N -->` before a block says how its last command ends, and the comment
`not executed: why` that it can't be typed here. A block with `title="FILE"` is that file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from patience import patient

from fabriclab.engine.artefacts import EngineError, find_artefacts

ROOT = Path(__file__).parents[2]
PAGES = [
    "docs/start.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/tutorial").glob("?-*.md")),
]
NOT_EXECUTED = {"docs/start.md": 2, "docs/tutorial/4-live.md": 1}
"""Blocks of a page that are not typed here: no more than these."""
MANY_S = patient(600)
_BLOCK = re.compile(
    r"(?:^<!-- ([^\n]*) -->\n\n)?^```(\w+)(?: title=\"([^\"\n]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Command:
    """A command line, the lines of its output that the page shows, and how it ends."""

    line: str
    shown: list[str]
    status: int


@dataclass(frozen=True)
class Written:
    """A file that the page tells to write."""

    name: str
    text: str


def steps_of(page: str) -> list[Command | Written]:
    """Return what a page tells to do, in its order."""
    found: list[Command | Written] = []
    for comment, kind, title, body in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if title:
            found.append(Written(title, body))
        if kind != "console" or comment.startswith("not executed: "):
            continue
        parts = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
        for place, part in enumerate(parts):
            line, *shown = part.splitlines()
            fails = re.fullmatch(r"exit status (\d+)", comment) if place == len(parts) - 1 else None
            found.append(Command(line, [each for each in shown if each.strip()], int(fails[1]) if fails else 0))
    return found


def typed(command: Command, directory: Path) -> str:
    """Type a command; returns all that it prints."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "100",
        "XDG_RUNTIME_DIR": str(directory / "runtime"),
    }
    shell = ["bash", "-c", command.line]
    done = subprocess.run(
        shell, cwd=directory, env=environment, text=True, capture_output=True, timeout=MANY_S, stdin=subprocess.DEVNULL
    )
    assert done.returncode == command.status, f"$ {command.line}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES)
def test_few_blocks_are_not_typed(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(re.findall("<!-- not executed: .+ -->", text)) == NOT_EXECUTED.get(page, 0)
    assert any(isinstance(step, Command) and step.shown for step in steps_of(page))


@pytest.mark.vm
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.slow("types a whole page of commands, each a process of its own, most of which run labs")
def test_what_a_page_tells_to_type_gives_what_it_shows(page: str, tmp_path: Path) -> None:
    try:
        find_artefacts()
    except EngineError as error:
        pytest.skip(f"not typed: {error}")
    (tmp_path / "labs").symlink_to(ROOT / "labs")
    (tmp_path / "runtime").mkdir(mode=0o700)
    try:
        for step in steps_of(page):
            if isinstance(step, Written):
                (tmp_path / step.name).write_text(step.text, encoding="utf-8")
                continue
            said = " ".join(typed(step, tmp_path).split())
            place = 0
            for line in step.shown:
                wanted = " ".join(line.split())
                place = said.find(wanted, place)
                assert place >= 0, f"$ {step.line}\nshows {wanted!r}, and said, from there on:\n{said}"
                place += len(wanted)
    finally:
        if any((tmp_path / "runtime").rglob("*.sock*")) or (tmp_path / "runtime" / "fabriclab").exists():
            subprocess.run(
                [Path(sys.executable).parent / "fabriclab", "down"],
                env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "runtime")},
                capture_output=True,
                timeout=MANY_S,
            )
