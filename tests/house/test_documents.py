"""The READMEs: their links lead somewhere, and what they tell to type is what the program takes."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer.main
from shipped_labs import shipped_lab, shipped_resolver

from fabriclab.cli.app import app
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.lab.setup import frr_versions

ROOT = Path(__file__).parents[2]
DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(
        path
        for part in (
            "README.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "docs/**/*.md",
            *(f"{top}/**/README.md" for top in ("fabriclab", "labs", "images", "probes", "traffic", "analysis")),
        )
        for path in ROOT.glob(part)
        if "target" not in path.parts
    )
}
LABS = [directory.parent.name for directory in sorted(ROOT.glob("labs/*/experiment.yml"))]


def commands_of(document: str) -> list[list[str]]:
    """Return the words of each command line of fabriclab in a document's code:
    what stands two blanks after it explains it."""
    text = DOCUMENTS[document]
    lines = re.findall(r"^    (?:\.venv/bin/)?fabriclab (.+)$", text, flags=re.MULTILINE)
    lines += re.findall(r"`fabriclab ([^`\n]+)`", text)
    found = []
    for line in lines:
        command = re.split(r" {2,}|; ", line.replace("[", " ").replace("]", " "))[0]
        found.append([word.replace("'", "") for word in re.findall(r"(?:[^\s']|'[^']*'|')+", command)])
    return [words for words in found if words]


ALL_COMMANDS = [(document, words) for document in DOCUMENTS for words in commands_of(document)]


@cache
def whole_command() -> Any:
    """Return the command line, which takes a while to put together."""
    return typer.main.get_command(app)


def options_of(words: list[str]) -> tuple[str | None, set[str], list[str]]:
    """Return a word that should name a command and does not; else the command's options, and what follows its name."""
    command, rest = whole_command(), list(words)
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        if rest[0] not in command.commands:
            return rest[0], set(), []
        command = command.commands[rest.pop(0)]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    # What another program is told, behind `--` or a pipe, is not ours.
    ends = [rest.index(word) for word in ("--", "|") if word in rest]
    return None, options | {"-h", "--help"}, rest[: min(ends, default=None)]


def test_links_lead_to_what_is_there() -> None:
    link = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
    local = [(name, to) for name, text in DOCUMENTS.items() for to in link.findall(text) if "://" not in to]
    assert len(local) > 200
    assert [f"{name}: {to}" for name, to in local if not (ROOT / name).parent.joinpath(to).exists()] == []


def test_what_the_map_of_the_package_names_is_there() -> None:
    named = set(re.findall(r"`([\w/-]+(?:/|\.(?:py|rs|h|md)))`", DOCUMENTS["fabriclab/README.md"]))
    assert len(named) > 20
    machine = ROOT / "images" / "machine"
    places = (ROOT, ROOT / "fabriclab", machine, machine / "kernel" / "tree" / "net" / "sched" / "switch_port")
    assert {name for name in named if not any((place / name).exists() for place in places)} == set()


def test_the_commands_are_found() -> None:
    assert {words[0] for _, words in ALL_COMMANDS} >= {
        "run",
        "sweep",
        "plan",
        "check",
        "validate",
        "generate",
        "sonic",
        "doctor",
    }
    assert len(ALL_COMMANDS) > 80


def unknown_words(words: list[str]) -> list[str]:
    """Return what of a command line is not a command and no option of its command."""
    command, options, rest = options_of(words)
    if command is not None:
        return [command]
    return [word for word in rest if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in options]


def test_a_command_of_a_document_is_one() -> None:
    wrong = [(document, words, unknown) for document, words in ALL_COMMANDS if (unknown := unknown_words(words))]
    assert [f"{document}: `fabriclab {' '.join(words)}`: {unknown}" for document, words, unknown in wrong] == []


def test_a_wrong_command_would_be_found() -> None:
    assert unknown_words(["runn", "labs/incast"]) == ["runn"]
    assert unknown_words(["run", "labs/incast", "--sett", "senders=1"]) == ["--sett"]


def test_the_list_of_labs_has_every_lab_once() -> None:
    row = r"^\| \[([\w-]+)\]\(\.\./labs/([\w-]+)/README\.md\) \|"
    rows = re.findall(row, DOCUMENTS["docs/labs.md"], flags=re.MULTILINE)
    assert sorted(rows) == [(name, name) for name in LABS]


@pytest.mark.parametrize("name", LABS)
def test_a_labs_readme_names_its_matrices_and_settings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # As on a host on which that version was built.
    monkeypatch.setattr(frr_versions, "_asked", [lambda: ("10.5.1",)])
    lab, text = shipped_lab(name), DOCUMENTS[f"labs/{name}/README.md"]
    # The first matrix is what `fabriclab sweep LAB` runs; its name need not be said.
    assert [
        matrix for matrix in list(lab.matrices)[1:] if not re.search(rf"(?<![\w-]){re.escape(matrix)}(?![\w-])", text)
    ] == []
    of_lab = [words for _, words in ALL_COMMANDS if len(words) > 1 and words[1].rstrip("/") == f"labs/{name}"]
    assert of_lab, "no command runs it"
    for words in of_lab:
        values = {flag: [after for word, after in pairwise(words) if word == flag] for flag in ("--matrix", "--set")}
        assert set(values["--matrix"]) <= set(lab.matrices)
        if values["--set"]:
            shipped_resolver(name).resolve(parse_settings(values["--set"]))
