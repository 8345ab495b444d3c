"""netlab, where it is installed: `netlab create`, which writes a Containerlab file and scripts of nodes beside a
topology."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from fabriclab.errors import FabriclabError

MADE = "clab.yml"
"""The Containerlab file that it writes."""
_OPTIONS = ("-d", "frr", "-p", "clab")
_LONGEST_S = 300
_MOST_LINES = 6


class NetlabError(FabriclabError):
    """A topology of which netlab makes no lab; what netlab says of it."""


def has_netlab() -> bool:
    """Return whether netlab is installed."""
    return shutil.which("netlab") is not None


def create_line(topology: str) -> str:
    """Return the command that makes a lab of FRR and Linux of a topology, as one types it in its directory."""
    return " ".join(("netlab", "create", *_OPTIONS, topology))


def create(topology: Path) -> Path:
    """Make the lab of a topology, beside it, and return its Containerlab file. netlab runs plugins and templates that
    the topology names. Raises NetlabError.
    """
    try:
        done = subprocess.run(
            ["netlab", "create", *_OPTIONS, topology.name],
            cwd=topology.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_LONGEST_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NetlabError(f"`{create_line(topology.name)}`: {error}") from None
    made = topology.with_name(MADE)
    if done.returncode or not made.is_file():
        said = [line for line in done.stdout.splitlines() if line.strip() and not line.startswith("[")]
        shown = "\n".join(f"  {line}" for line in said[:_MOST_LINES])
        raise NetlabError(f"`{create_line(topology.name)}` ended with status {done.returncode}:\n{shown}")
    return made
