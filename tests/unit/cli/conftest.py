"""Fixtures of the command line's tests: the command itself in this process, and a stand-in for the machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import fake_machine
import pytest
from command_line import Invoke
from typer.testing import CliRunner, Result

from fabriclab.cli.app import app
from fabriclab.engine.artefacts import Artefacts


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Call the command line in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    return call


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Artefacts]:
    """Let the command line find a stand-in for the machine."""

    def use(body: str) -> Artefacts:
        found = fake_machine.artefacts(tmp_path, body)
        monkeypatch.setattr("fabriclab.api.engine.find_artefacts", lambda: found)
        return found

    return use
