"""The groups of `fabriclab --help` are those of docs/commands.md, and every command is in one of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer.main

from fabriclab.cli.app import app
from fabriclab.cli.arguments.panels import PANELS

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")


def shown_groups() -> dict[str, list[str]]:
    """Return the commands of each group, in the order of `--help`."""
    command: Any = typer.main.get_command(app)
    found: dict[str, list[str]] = {}
    for name in command.list_commands(None):
        found.setdefault(command.commands[name].rich_help_panel, []).append(name)
    return found


def test_every_command_is_in_its_group() -> None:
    assert [(panel, tuple(names)) for panel, names in shown_groups().items()] == list(PANELS.items())


def test_the_page_has_every_command_in_the_same_group() -> None:
    sections = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", PAGE, re.MULTILINE))
    assert list(sections) == list(PANELS)
    for panel, names in PANELS.items():
        named = set(re.findall(r"\bfabriclab ([a-z-]+)", sections[panel]))
        named |= set(re.findall(r"`([a-z-]+)` stops it", sections[panel]))
        assert named == set(names), panel


def test_a_line_of_help_is_short_and_begins_with_a_verb() -> None:
    """It fits two lines of a terminal, and its first word is one word, no possessive."""
    command: Any = typer.main.get_command(app)
    for name, one in command.commands.items():
        first = " ".join((one.help or "").split("\n\n")[0].split())
        assert re.match(r"[A-Z][a-z]+,? ", first) and len(first) <= 120, f"{name}: {first}"
