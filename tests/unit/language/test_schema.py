"""The schemas of the language: as they are committed, and what they say of good labs and of bad ones."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from editor_blind_spots import BLIND_SPOTS
from editors_view import complaints, document_in
from repository import ROOT
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.cli.commands.schema_options import SchemaName
from fabriclab.language.document import SCHEMAS, editor_line, schema_file, schema_of

ERRORS = ROOT / "tests" / "errors"
LABS = sorted(ROOT.glob("labs/*/experiment.yml"))
PROFILES = sorted(ROOT.glob("fabriclab/switches/*.yml"))
BAD = [
    path
    for path in (*sorted(ERRORS.glob("*.yml")), *sorted(ERRORS.glob("*/experiment.yml")))
    if not path.name.endswith(".clab.yml") and path.parent.name != "common"
]
UNSEEN = {name for names in BLIND_SPOTS.values() for name in names.split()}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schema_is_committed_as_it_is_made(name: str) -> None:
    made = f"{json.dumps(schema_of(name), indent=1)}\n"
    if os.environ.get("FABRICLAB_ACCEPT"):
        schema_file(name).write_text(made, encoding="utf-8")
    assert schema_file(name).read_text(encoding="utf-8") == made, "FABRICLAB_ACCEPT=1 writes it as it is made"


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping in a schema."""
    if isinstance(schema, dict):
        yield schema
    for below in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from parts(below)


@pytest.mark.parametrize("name", SCHEMAS)
def test_editors_take_the_schema(name: str) -> None:
    """The YAML extension of VS Code refuses a whole schema with an empty `enum`, and reads patterns as JavaScript's."""
    every = list(parts(schema_of(name)))
    assert [one for one in every if one.get("enum") == []] == []
    patterns = [one["pattern"] for one in every if isinstance(one.get("pattern"), str)]
    patterns += [pattern for one in every for pattern in one.get("patternProperties", ())]
    assert len(patterns) > 5
    assert [one for one in patterns if re.search(r"\\[^].sd/+[]|\(\?[^:!=]", one)] == []


@pytest.mark.parametrize("path", LABS, ids=lambda path: path.parent.name)
def test_every_lab_is_right(path: Path) -> None:
    document = document_in(path)
    assert document is not None
    assert complaints(document) == []


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_every_profile_is_right(path: Path) -> None:
    document = document_in(path)
    assert document is not None
    assert complaints(document, "switch-profile") == []


def name_of(path: Path) -> str:
    return path.parent.name if path.name == "experiment.yml" else path.stem


def test_a_bad_lab_is_wrong_unless_only_the_reader_can_know() -> None:
    documents = {name_of(path): document_in(path) for path in BAD}
    silent = {name for name, document in documents.items() if document is not None and not complaints(document)}
    assert silent == UNSEEN, "the bad labs that the schema takes are not those of editor_blind_spots.py"
    assert len(documents) - len(silent) > 100


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_command_prints_it_and_where_it_lies(name: str, tmp_path: Path) -> None:
    printed = CliRunner().invoke(app, ["schema", name])
    assert json.loads(printed.output) == schema_of(name)
    assert CliRunner().invoke(app, ["schema", name, "--path"]).output == f"{schema_file(name)}\n"
    written = tmp_path / "schema.json"
    assert CliRunner().invoke(app, ["schema", name, "-o", str(written)]).exit_code == 0
    assert json.loads(written.read_text(encoding="utf-8")) == schema_of(name)


def test_the_command_knows_them_all() -> None:
    assert [name.value for name in SchemaName] == list(SCHEMAS)
    wrong = CliRunner().invoke(app, ["schema", "topology"])
    assert wrong.exit_code == 2


def test_a_new_lab_tells_an_editor_where_the_schema_lies(tmp_path: Path) -> None:
    inside, outside = ROOT / "labs" / "mine", tmp_path / "mine"
    line = editor_line(inside)
    assert (inside / line.strip().partition("$schema=")[2]).resolve() == schema_file("experiment")
    assert editor_line(outside) == ""
    made = CliRunner().invoke(app, ["generate", "star", "-o", str(outside)])
    assert made.exit_code == 0
    assert (outside / "experiment.yml").read_text(encoding="utf-8").startswith("title:")
