"""The extension for VS Code: its own tests, by Node.js, and what `make vscode` packs."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import patient
from repository import ROOT

from fabriclab import __version__
from fabriclab.cli.text.check_json import FORMAT
from fabriclab.language.document import schema_of

EXTENSION = ROOT / ".vscode" / "extensions" / "fabriclab"
PAGE = (ROOT / "docs" / "language" / "editors.md").read_text(encoding="utf-8")


@pytest.mark.slow("Node.js runs some thirty tests, each of which starts programs")
def test_its_own_tests_pass(tmp_path: Path) -> None:
    """They run with a stub in the place of the editor, and with this checkout's program."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("not run: Node.js is missing: apt-get install nodejs")
    program = tmp_path / "fabriclab"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fabriclab "$@"\n')
    program.chmod(0o755)
    files = sorted(str(file) for file in (EXTENSION / "test").glob("*.test.js"))
    asked = {"FABRICLAB_PROGRAM": str(program), "FABRICLAB_CHECKOUT": str(ROOT), "PYTHONPATH": str(ROOT)}
    command = [node, "--test", "--test-reporter=tap", *files]
    result = subprocess.run(
        command, cwd=EXTENSION, env={**os.environ, **asked}, capture_output=True, text=True, timeout=patient(300)
    )
    assert result.returncode == 0, result.stdout[-4000:]
    counted = dict(re.findall(r"^# (\w+) (\d+)$", result.stdout, re.MULTILINE))
    assert int(counted["pass"]) > 25 and (counted["fail"], counted["skipped"]) == ("0", "0")


def test_the_package_has_files_and_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    importlib.import_module("vscode").stage(tmp_path / "staged")
    staged = tmp_path / "staged"
    assert [path.name for path in staged.rglob("*") if path.is_symlink()] == []
    assert json.loads((staged / "package.json").read_text())["version"] == __version__
    assert json.loads((staged / "schemas" / "story.schema.json").read_text()) == schema_of("story")
    assert (staged / "LICENSE").is_file()
    left_out = (EXTENSION / ".vscodeignore").read_text().split()
    assert {"node_modules/**", "test/**", "package-lock.json"} <= set(left_out)


def test_it_reads_the_format_that_check_writes() -> None:
    (known,) = re.findall(r'^const FORMAT = "(.+)";$', (EXTENSION / "lib" / "checking.js").read_text(), re.MULTILINE)
    assert known == FORMAT


def test_a_file_is_short_and_its_lines_are_narrow() -> None:
    sources = [path for path in EXTENSION.rglob("*.js") if "node_modules" not in path.parts]
    lines = {path.name: path.read_text(encoding="utf-8").splitlines() for path in sources}
    assert len(lines) > 8
    assert [name for name, text in lines.items() if len(text) > 400] == []
    assert [
        f"{name}:{number}" for name, text in lines.items() for number, line in enumerate(text, 1) if len(line) > 120
    ] == []


def test_the_page_tells_every_setting_and_command() -> None:
    contributes = json.loads((EXTENSION / "package.json").read_text())["contributes"]
    told = [f"`{name}`" for name in contributes["configuration"]["properties"]]
    told += [f"**{one['title']}**" for one in contributes["commands"] if one["title"] != "Refresh"]
    assert [words for words in told if words not in PAGE] == []
