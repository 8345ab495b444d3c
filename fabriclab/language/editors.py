"""Where the schemas lie, and how a lab's file tells an editor so."""

from __future__ import annotations

import os
from pathlib import Path

from fabriclab.shipped import PROJECT, is_installed

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
