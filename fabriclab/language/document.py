"""The files of the language as a whole, their JSON schemas, and how a lab's file tells an editor where these lie."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabriclab.keys.mappings import Keys
from fabriclab.keys.values import Schema, Shared, Value
from fabriclab.lab.keys import EXPERIMENT
from fabriclab.lab.switch.keys import PROFILE
from fabriclab.shipped import PROJECT, is_installed
from fabriclab.stories.keys import STORY

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The draft that the YAML extensions of editors support best; newer ones have nothing that this language needs."""
SCHEMAS: Mapping[str, Keys] = {"experiment": EXPERIMENT, "story": STORY, "switch-profile": PROFILE}
"""The files that have a schema, by the name that `fabriclab schema` knows them by."""


def schema_of(name: str) -> Schema:
    """Return the JSON schema of one of SCHEMAS, draft-07, as plain data. Raises KeyError for another name."""
    root = SCHEMAS[name]
    definitions = {part.name: part.body() for part in _shared(root)}
    body = root.body()
    return {"$schema": DRAFT, "$id": f"fabriclab:{name}", **body, "definitions": dict(sorted(definitions.items()))}


def _shared(value: Value[Any]) -> Iterator[Shared[Any]]:
    """Yield all below a value that the schema refers to by name."""
    for part in value.parts():
        if isinstance(part, Shared):
            yield part
        yield from _shared(part)


_DIRECTORY = Path(__file__).resolve().parent / "schemas"


def schema_file(name: str) -> Path:
    """Return where the schema of a file lies that travels with the package, for editors."""
    return _DIRECTORY / f"{name}.schema.json"


def editor_line(directory: Path) -> str:
    """Return the comment by which an editor finds the schema of an experiment in a directory, as a whole line.

    It is empty outside a checkout of fabriclab: no path would be right on the next machine.
    """
    place = directory.resolve()
    if is_installed() or not place.is_relative_to(PROJECT):
        return ""
    schema = Path(os.path.relpath(schema_file("experiment"), place)).as_posix()
    return f"# yaml-language-server: $schema={schema}\n"
