"""What binds a machine's kernel, and the processes of its programs, on the host (`SECURITY.md`).

The guest's kernel is a process of the user's and hostile by definition: a lab from a stranger may take it over. So
`confine` (images/machine/confine) starts it, and lets the host's kernel bind it first.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabriclab.engine.artefacts import Artefacts, EngineError

CONFINE = "confine"
"""Its name among the tools."""
SAID = "boundary: "
"""How the line begins in which it says what binds the program; its first line."""
_LACKS = "not bound"
_ALWAYS_READ = ("/proc/cpuinfo",)
_ALWAYS_WRITTEN = ("/dev/null",)
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
"""What a kernel needs that is linked dynamically: one that checks memory and locks (KERNEL_DEBUG=1)."""
_STATIC = "CONFIG_STATIC_LINK=y"


def confined(
    artefacts: Artefacts,
    *,
    read: Sequence[Path],
    write: Sequence[Path],
    file_bytes: int,
    cpu: int | None,
    name: str,
) -> list[str]:
    """Return the words before the kernel's command line that bind it to these files; its processor, too.

    `file_bytes`: no file becomes longer. `name`: what lists of processes call it; nothing inside can read that.
    """
    execute = [artefacts.kernel, *(Path(path) for path in _libraries(artefacts))]
    return [
        str(artefacts.tools / CONFINE),
        "--machine-calls",
        *_each("--execute", execute),
        *_each("--read", [*read, *map(Path, _ALWAYS_READ)]),
        *_each("--write", [*write, *map(Path, _ALWAYS_WRITTEN)]),
        *("--file-bytes", str(file_bytes)),
        *([] if cpu is None else ["--cpu", str(cpu)]),
        *("--name", name),
        "--",
    ]


def _each(option: str, paths: Sequence[Path]) -> Iterator[str]:
    for path in paths:
        yield f"{option}={path}"


def _libraries(artefacts: Artefacts) -> list[str]:
    config = artefacts.kernel.parent / "config"
    if not config.is_file() or _STATIC in config.read_text().splitlines():
        return []
    return [path for path in _LIBRARIES if Path(path).exists()]


def most_file_bytes(directory: Path, memory_bytes: int) -> int:
    """Return how long a file of a machine may become: what is free where it writes, and no less than its memory."""
    state = os.statvfs(directory)
    return max(state.f_bavail * state.f_frsize, memory_bytes)


def what_binds(tools: Path) -> str:
    """Return what would bind a machine on this host, as a run's manifest says it: `landlock 7, seccomp`.

    Raises EngineError where that can't be asked.
    """
    argv = [str(tools / CONFINE), "--machine-calls", "--ask"]
    try:
        said = subprocess.run(argv, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise EngineError(f"can't find out what confines a virtual machine on this host: {error}") from error
    return said.strip().removeprefix(SAID)


def is_whole(binds: str) -> bool:
    """Return whether nothing is missing in what binds a machine."""
    return _LACKS not in binds
