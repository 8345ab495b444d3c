"""What a command was asked for: to files, whole or not at all, or to the output."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from fabriclab.files import replacing


def write_output(pieces: Iterable[str], out: Path | None) -> None:
    """Write text to a file or, without one, to the output. Raises OSError."""
    if out is not None:
        with replacing(out) as part, part.open("w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        return
    sys.stdout.writelines(pieces)
