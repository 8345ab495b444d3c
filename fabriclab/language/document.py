"""The files of the language as a whole, and their JSON schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabriclab.keys.mappings import Keys
from fabriclab.keys.values import Schema, Shared, Value
from fabriclab.lab.keys import EXPERIMENT
from fabriclab.lab.switch.keys import PROFILE

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The draft that the YAML extensions of editors support best; newer ones have nothing that this language needs."""
SCHEMAS: Mapping[str, Keys] = {"experiment": EXPERIMENT, "switch-profile": PROFILE}
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
