"""A PATH as on a host that lacks some programs, with stand-ins for others."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path


def link_programs(directory: Path, without: Collection[str]) -> None:
    """Make links in a directory to all programs of this host but some."""
    for program in [*Path("/usr/bin").iterdir(), *Path("/bin").iterdir()]:
        link = directory / program.name
        if program.name not in without and not link.is_symlink():
            link.symlink_to(program)


def stand_in(path: str, name: str, body: str) -> None:
    """Write a program of bash into the first directory of a PATH."""
    program = Path(path.partition(":")[0]) / name
    program.write_text(f"#!/bin/bash\n{body}\n")
    program.chmod(0o755)


def path_of(own: Path, shared: Path) -> str:
    """Return a PATH with room for stand-ins in its first directory, which is made."""
    own.mkdir()
    return f"{own}:{shared}"
