"""What a command was asked for: to files, whole or not at all, or to the output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from fabriclab.cli.host.failure import BadInputError
from fabriclab.files import replacing, write_all


def write_output(pieces: Iterable[str], out: Path | None) -> None:
    """Write text to a file or, without one, to the output. Raises OSError."""
    if out is not None:
        with replacing(out) as part, part.open("w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        return
    sys.stdout.writelines(pieces)


def write_files(contents: Mapping[Path, str | bytes], force: bool) -> None:
    """Write files, all or none.

    Raises BadInputError where one is there already, unless it may be replaced; OSError that names one.
    """
    for path in contents:
        if path.exists() and not force:
            raise BadInputError(f"{path} is there already; --force replaces it")
        if path.parent.exists() and not path.parent.is_dir():
            raise BadInputError(f"{path.parent} is a file; give a directory")
    write_all(contents)
