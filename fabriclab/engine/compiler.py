"""Running the compiler and its tools: one function, which is told what they may read and what they may write.

What they work on may be a stranger's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.engine.artefacts import EngineError

COMPILER = "gcc"
_PATIENCE_S = 300.0
_MOST_MEMORY_BYTES = 4 << 30
_MOST_FILE_BYTES = 256 << 20
_TOOLS = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/nix/store")
"""Where compilers lie, with what they are linked with."""
_NOWHERE = Path("/dev/null")
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
    confine: Path | None = None
    """The program that lets the host's kernel bind the tool to them; None: what it works on is ours."""

    def bound(self, argv: Sequence[str]) -> list[str]:
        """Return the words that start a tool which reads and writes no more than this, and the tools themselves."""
        if self.confine is None:
            return list(argv)
        tool = Path(shutil.which(argv[0]) or argv[0])
        tools = [*filter(os.path.exists, _TOOLS), tool.parent, tool.resolve().parent]
        return [
            *(str(self.confine), "--quiet"),
            *(f"--execute={path}" for path in tools),
            *(f"--read={path}" for path in self.read),
            *(f"--write={path}" for path in (*self.write, _NOWHERE)),
            *(f"--memory-bytes={_MOST_MEMORY_BYTES}", f"--file-bytes={_MOST_FILE_BYTES}"),
            *(f"--cpu-seconds={_PATIENCE_S:.0f}", "--", str(tool), *argv[1:]),
        ]


def run_tool(
    argv: Sequence[str], reach: Reach, text: str = "", directory: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the compiler or one of its tools, in plain English; `text` is its standard input.

    Raises EngineError where it does not start, or does not end.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in _STEERING}
    # A cache of compiled files would lie where the tool may not write.
    environment = {**inherited, "LC_ALL": "C", "CCACHE_DISABLE": "1"}
    if reach.write:
        environment["TMPDIR"] = str(reach.write[0])
    try:
        return subprocess.run(
            reach.bound(argv),
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
        raise EngineError(f"{argv[0]} can't compile your own algorithm: {error}") from error
