"""A script of Mininet's, run in a process of its own in which Mininet's modules only note what it describes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from fabriclab.errors import FabriclabError

_LONGEST_S = 60
_MOST_BYTES = 8 << 20


class MininetError(FabriclabError):
    """A script of which no network comes; what it said."""


def describe(stand_in: Path, script: Path, name: str | None) -> dict[str, Any]:
    """Run a script with the stand-ins of a file, and return the network that it describes. Raises MininetError.

    `name`: the topology that is meant, where it describes several. The script runs with the rights of who calls this.
    """
    with tempfile.TemporaryFile() as out:
        number = out.fileno()
        command = [
            sys.executable,
            "-I",
            "-B",
            str(stand_in),
            str(number),
            str(script.resolve()),
            *([name] if name else []),
        ]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=script.resolve().parent,
                pass_fds=(number,),
                timeout=_LONGEST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise MininetError(f"{script}: it has not ended after {_LONGEST_S} s") from None
        out.seek(0)
        written = out.read(_MOST_BYTES + 1)
    if done.returncode or len(written) > _MOST_BYTES:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise MininetError(f"{script}: it ended with status {done.returncode}{f': {said[-1]}' if said else ''}")
    try:
        found: dict[str, Any] = json.loads(written)
    except ValueError:
        raise MininetError(f"{script}: it ended before its network was known") from None
    return found
