"""What was done to a live lab, in the lab's words: `changes.jsonl` in its run directory, a JSON object a line.

Each has `at_ns`, virtual nanoseconds from the lab's epoch, `kind`, `words`, what a command line says, and what the kind
is of. Commands in nodes are not changes in the lab's words: only the recording has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from fabriclab.errors import FabriclabError
from fabriclab.files import naming

CHANGES_FILE = "changes.jsonl"
LAB_FILES = "lab"
"""The directory of the lab's two files, as they were when it came up, in the run directory."""
_LONGEST_LINE = 1 << 20

Kind = Literal["set", "link", "node", "start", "stop", "flow"]


class ChangesError(FabriclabError):
    """The list of what was done can't be read; the text says why."""


@dataclass(frozen=True)
class Done:
    """Something that was done."""

    at_ns: int
    kind: Kind
    words: str
    details: Mapping[str, Any] = field(default_factory=dict)


class ChangesLog:
    """Writes down what is done, as it is done."""

    def __init__(self, directory: Path) -> None:
        """Take the run directory; the file is made with the first line."""
        self._path = directory / CHANGES_FILE

    def add(self, done: Done) -> None:
        """Write one down. Raises OSError that names the file."""
        with naming(self._path), self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(done), ensure_ascii=False) + "\n")


def read_changes(directory: Path) -> Iterator[Done]:
    """Yield what was done; nothing where nothing was. A last line that was cut is left out.

    Raises ChangesError that names file and line, OSError.
    """
    path = directory / CHANGES_FILE
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as lines:
        number = 0
        while line := lines.readline(_LONGEST_LINE):
            number += 1
            if not line.endswith("\n"):
                return
            try:
                yield Done(**json.loads(line))
            except (ValueError, TypeError) as error:
                raise ChangesError(f"{path}:{number}: the line does not describe a change: {error}") from None
