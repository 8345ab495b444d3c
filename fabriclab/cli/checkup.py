"""`fabriclab doctor`: what this host can do, and the one line that mends what is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fabriclab.cli.failure import FAILED, OK
from fabriclab.engine.artefacts import EngineError, locate_artefacts
from fabriclab.engine.containers.docker import image_identity
from fabriclab.engine.cpu import usable_cpus

_MIB = 1 << 20
_SONIC_IMAGE = "docker-sonic-vs"
_MACHINE_MIB = 512
"""Memory of a machine of some fifty hosts."""
_BUILD_MIB = 6000
"""Disk that a build needs: kernel source and objects, root file system, Rust objects."""

_RUN_PROGRAMS = {"setarch": "util-linux", "taskset": "util-linux"}
_BUILD_PROGRAMS = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
    "mmdebstrap": "mmdebstrap",
    "cargo": "cargo",
}
_BUILD_HEADERS = {"libelf.h": "libelf-dev", "openssl/opensslv.h": "libssl-dev"}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `remedy` is empty when it is as it should be; what is not `needed` is only told."""

    name: str
    state: str
    remedy: str = ""
    needed: bool = True


def doctor() -> int:
    """Print what was found; returns the exit status: FAILED when labs can't run here."""
    findings = list(_examine())
    console = Console()
    table = Table(box=None, pad_edge=False)
    for heading in ("", "what", "found", "what mends it"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        mark = "[green]ok[/green]" if not finding.remedy else "[red]missing[/red]" if finding.needed else "[yellow]note[/yellow]"
        table.add_row(mark, finding.name, finding.state, finding.remedy)
    console.print(table)
    remedies = list(dict.fromkeys(finding.remedy for finding in findings if finding.remedy and finding.needed))
    console.print("Labs can run here." if not remedies else f"To run labs here: {' && '.join(remedies)}", highlight=False, soft_wrap=True)
    return FAILED if remedies else OK


def _examine() -> Iterator[Finding]:
    yield Finding("CPUs", str(len(usable_cpus())))
    yield _memory()
    yield _shared_memory()
    yield from _programs()
    yield from _artefacts()
    yield _disk(Path.cwd())
    yield _containers()
    yield _sonic()


def _sonic() -> Finding:
    """Whether nodes of kind sonic-vs can run in containers; in the virtual machine they always can."""
    if shutil.which("docker") is None:
        return Finding(_SONIC_IMAGE, "not: docker", "images/sonic/README.md", needed=False)
    try:
        identity = image_identity(_SONIC_IMAGE)
    except EngineError as error:
        return Finding(_SONIC_IMAGE, " ".join(str(error).splitlines()[:2]), "images/sonic/README.md", needed=False)
    if identity is None:
        return Finding(
            _SONIC_IMAGE, "no such image; nodes of kind sonic-vs run in the virtual machine only", "images/sonic/README.md", needed=False
        )
    return Finding(_SONIC_IMAGE, identity)


def _containers() -> Finding:
    missing = [program for program in ("docker", "containerlab") if shutil.which(program) is None]
    state = f"not: {', '.join(missing)}" if missing else "docker and containerlab are there; a run says what else it lacks"
    return Finding("--engine containerlab", state, "images/README.md" if missing else "", needed=False)


def _memory() -> Finding:
    available = _available_memory_bytes() // _MIB
    remedy = "" if available >= _MACHINE_MIB else "free some memory"
    return Finding("memory", f"{available} MiB available, a machine needs about {_MACHINE_MIB}", remedy)


def _available_memory_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _shared_memory() -> Finding:
    try:
        state = os.statvfs("/dev/shm")
    except OSError:
        return Finding("/dev/shm", "none: the machine's memory goes to the run directory", "mount a tmpfs on /dev/shm", needed=False)
    free = state.f_bavail * state.f_frsize // _MIB
    if state.f_flag & os.ST_NOEXEC:
        return Finding("/dev/shm", "noexec: the machine's memory goes to the run directory", "mount -o remount,exec /dev/shm", needed=False)
    if free < _MACHINE_MIB:
        return Finding("/dev/shm", f"{free} MiB free: the machine's memory goes to the run directory", "enlarge /dev/shm", needed=False)
    return Finding("/dev/shm", f"{free} MiB free")


def _programs() -> Iterator[Finding]:
    missing = [package for program, package in _RUN_PROGRAMS.items() if shutil.which(program) is None]
    yield Finding("programs to run", "all" if not missing else f"not: {', '.join(missing)}", "make deps" if missing else "")
    missing = [package for program, package in _BUILD_PROGRAMS.items() if shutil.which(program) is None]
    missing += [package for header, package in _BUILD_HEADERS.items() if not _has_header(header)]
    # Who has a built machine needs none of them.
    built = _is_built()
    yield Finding(
        "programs to build", "all" if not missing else f"not: {', '.join(missing)}", "make deps" if missing else "", needed=not built
    )


def _has_header(name: str) -> bool:
    places = [Path("/usr/include"), *Path("/usr/include").glob("*-linux-gnu")]
    return any((place / name).is_file() for place in places)


def _is_built() -> bool:
    try:
        return all(locate_artefacts().values())
    except EngineError:
        return False


def _artefacts() -> Iterator[Finding]:
    try:
        paths = locate_artefacts()
    except EngineError as error:
        yield Finding("machine", str(error), "make machine")
        return
    for name, path in paths.items():
        yield Finding(name, str(path) if path else "not built", "" if path else "make machine")


def _disk(directory: Path) -> Finding:
    free = shutil.disk_usage(directory).free // _MIB
    need = 100 if _is_built() else _BUILD_MIB
    return Finding("disk", f"{free} MiB free in {directory}", "" if free >= need else f"free {need - free} MiB on the disk of {directory}")
