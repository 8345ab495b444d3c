"""The kernel's algorithms as a library of the host, with every check that the compiler has."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

_FLAGS = (
    *("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"),
    *("-fsanitize=undefined", "-fno-sanitize-recover=all"),
)


def compiled(source: Path, directory: Path, *options: str) -> ctypes.CDLL:
    """Return a C file as a library, compiled into a directory; `options` are the compiler's."""
    library = directory / f"{source.stem}.so"
    subprocess.run(["cc", *_FLAGS, *options, "-o", str(library), str(source)], check=True)
    return ctypes.CDLL(str(library))
