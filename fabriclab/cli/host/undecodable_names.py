"""Names that are not text: Python carries their bytes along, what reads and writes tables does not."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

_BAD_INPUT = 2


def refuse_other_bytes(arguments: Sequence[str]) -> None:
    """Leave with a message where an argument, or the directory that all paths begin at, is not UTF-8."""
    for argument in arguments:
        if not _is_text(argument):
            _leave(f"{_shown(argument)}: is not UTF-8; give the file or directory a name in UTF-8")
    try:
        directory = str(Path.cwd())
    except OSError:
        return  # It is gone: whoever needs it says so.
    if not _is_text(directory):
        _leave(
            f"{_shown(directory)}, the working directory: its name is not UTF-8; change to a directory whose name is "
            "UTF-8"
        )


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(text: str) -> str:
    return os.fsencode(text).decode(errors="backslashreplace")


def _leave(message: str) -> None:
    sys.stderr.write(message + "\n")
    sys.exit(_BAD_INPUT)
