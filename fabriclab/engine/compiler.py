"""Running the compiler and its tools: one function, which is told what they may read and what they may write.

What they work on may be a stranger's.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.engine.artefacts import EngineError

COMPILER = "gcc"
_PATIENCE_S = 300.0
_STEERING = (
    *("CPATH", "C_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH", "GCC_COMPARE_DEBUG"),
    *("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"),
)
"""Variables by which gcc reads or writes other files than its words name (gcc(1), ENVIRONMENT)."""


@dataclass(frozen=True)
class Reach:
    """The directories that a tool may use beside those of the tools themselves."""

    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    """Temporary files lie in the first of them."""


def run_tool(
    argv: Sequence[str], reach: Reach, text: str = "", directory: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the compiler or one of its tools, in plain English; `text` is its standard input.

    Raises EngineError where it does not start, or does not end.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _STEERING} | {"LC_ALL": "C"}
    if reach.write:
        environment["TMPDIR"] = str(reach.write[0])
    try:
        return subprocess.run(
            argv,
            input=text,
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"{argv[0]} can't compile an algorithm of your own: {error}") from error
