"""A lab's file as an editor sees it: typed by YAML 1.2, and held against the schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from json_schemas import Draft7Validator, ValidationError

from fabriclab.lab.reading.document import MappingValue, SequenceValue, Value, parse_document
from fabriclab.lab.reading.problems import Problems
from fabriclab.language.document import schema_of

_WHOLE = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TRUTH = re.compile(r"true|True|TRUE|false|False|FALSE")


def typed(value: Value) -> Any:
    """Return a value as YAML 1.2's core schema types it, which the YAML extensions of editors go by."""
    if isinstance(value, MappingValue):
        return {name: typed(below) for name, below in value.entries.items()}
    if isinstance(value, SequenceValue):
        return [typed(item) for item in value.items]
    if value.quoted:
        return value.text
    if value.is_null:
        return None
    if _TRUTH.fullmatch(value.text):
        return value.text.lower() == "true"
    if _WHOLE.fullmatch(value.text):
        return int(value.text)
    return float(value.text) if _FLOAT.fullmatch(value.text) else value.text


@cache
def validator(name: str) -> Draft7Validator:
    """Return what validates against one of the schemas."""
    schema = schema_of(name)
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


def complaints(document: MappingValue, name: str = "experiment") -> list[str]:
    """Return what the schema says against a document."""
    errors: Iterator[ValidationError] = validator(name).iter_errors(typed(document))
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[-300:]}" for error in errors]


def document_in(path: Path) -> MappingValue | None:
    """Return a file's content; None where it is no YAML mapping."""
    try:
        return parse_document(path.read_text(encoding="utf-8"), str(path), Problems())
    except UnicodeDecodeError:
        return None
