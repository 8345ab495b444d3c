"""What a package index shows: pyproject.toml makes it of README.md's parts that stand alone."""

import json
import re
import subprocess
import sys

import pytest
from repository import ROOT
from typer.testing import CliRunner

from fabriclab.cli.app import app


@pytest.fixture(scope="module")
def text() -> str:
    command = [sys.executable, "-m", "hatchling", "metadata"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    assert metadata["readme"]["content-type"] == "text/markdown"
    return str(metadata["readme"]["text"])


def test_it_leads_to_nothing_that_only_a_checkout_has(text: str) -> None:
    assert re.findall(r"\]\((?!https?:)", text) == []
    assert "![" not in text
    assert ".venv" not in text and "make demo" not in text


def test_it_has_the_whole_of_what_it_takes(text: str) -> None:
    readme = (ROOT / "README.md").read_text()
    assert text.startswith(readme[: readme.index("\n\n![")])
    headings = re.findall(r"^## .*", text, re.MULTILINE)
    assert headings == ["## See it", "## Three things to do next"]
    taken = readme[readme.index("## Three things to do next") : readme.index("## Where to find the rest")]
    commands = re.findall(r"^    .+", taken, re.MULTILINE)
    assert commands and all(command in text for command in commands)


def test_its_commands_are_commands(text: str) -> None:
    for name in set(re.findall(r"^    fabriclab (\w+)", text, re.MULTILINE)):
        assert CliRunner().invoke(app, [name, "--help"]).exit_code == 0, name
