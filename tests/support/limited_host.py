"""The command line in a process of its own, with a stand-in for the machine, on a host that lacks something:
disk, memory, a locale."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

# What a user's command does, but that the machine is the stand-in whose words FAKE_BODY holds.
_MAIN = """
import os, sys
from pathlib import Path
sys.path.insert(0, os.environ["FAKE_TESTS"])
import fake_machine
import fabriclab.api.engine as engines
engines.find_artefacts = lambda: fake_machine.artefacts(Path(os.environ["FAKE_PLACE"]), os.environ["FAKE_BODY"])
from fabriclab.cli import main
words = sys.argv[1:]
if "::" not in words:
    main()
while words:
    end = words.index("::")
    sys.argv[1:], words = words[:end], words[end + 1 :]
    try:
        main()
    except SystemExit as ended:
        print("==", ended.code or 0, flush=True)
"""
# In a mount namespace of its own, which goes with it: the disk, what lies on it, the command; then a copy of the disk
# for us to look at.
_ON_DISK = """
mount -t tmpfs -o "size=$SIZE" tmpfs disk && cp -a before/. disk/ || exit 99
[ -z "$FILL" ] || { dd if=/dev/zero of=disk/filler bs=4096; truncate -s "-$FILL" disk/filler; } 2>/dev/null
[ -z "$READ_ONLY" ] || mount -o remount,ro disk
cd disk; "$@"; status=$?
cd ..; cp -a disk/. after/; exit $status
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it left on the disk, by relative path."""

    status: int
    output: str
    errors: str
    disk: Path

    @property
    def files(self) -> set[str]:
        return {path.relative_to(self.disk).as_posix() for path in self.disk.rglob("*") if path.is_file()} - {"filler"}

    @property
    def half_written(self) -> set[str]:
        return {
            name for name in self.files if ".part" in name or ".whole" in name or (self.disk / name).stat().st_size == 0
        }


@cache
def _can_mount() -> bool:
    command = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs tmpfs /tmp"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True).returncode == 0


def command_line(*arguments: str) -> list[str]:
    """Return the command, to be run with `environment`; several that each end with `::` are run in one process."""
    return [sys.executable, "-c", _MAIN, *arguments]


def environment(place: Path, body: str = "", **more: str) -> dict[str, str]:
    ours = {"FAKE_TESTS": str(Path(__file__).parent), "FAKE_PLACE": str(place / "stand-in"), "FAKE_BODY": body}
    return {**os.environ, **ours, "COLUMNS": "200", **more}


def on_disk(
    place: Path,
    arguments: tuple[str, ...],
    *,
    size: str,
    body: str = "",
    before: Path | None = None,
    fill: str = "",
    read_only: bool = False,
) -> Ended:
    """Run a command in a directory of a small disk on which `before` lies, full but for `fill` where that is given."""
    if not _can_mount():
        pytest.skip("a file system can't be mounted here: run the tests as root, or allow user namespaces")
    prepared = place / "before"
    if before is None:
        prepared.mkdir()
    elif before != prepared:
        shutil.rmtree(prepared, ignore_errors=True)
        shutil.copytree(before, prepared, symlinks=True)
    for name in ("disk", "after"):
        shutil.rmtree(place / name, ignore_errors=True)
        (place / name).mkdir()
    limits = environment(place, body, SIZE=size, FILL=fill, READ_ONLY="yes" if read_only else "")
    command = ["unshare", "-rm", "sh", "-c", _ON_DISK, "sh", *command_line(*arguments)]
    done = subprocess.run(command, cwd=place, env=limits, capture_output=True, text=True, check=False)
    assert done.returncode != 99, done.stderr
    return Ended(done.returncode, done.stdout, done.stderr, place / "after")
