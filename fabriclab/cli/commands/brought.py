"""`--as frr` of several commands: the lab that a Containerlab file stands for, with what was made up said."""

from __future__ import annotations

from pathlib import Path

from fabriclab.api.brought import lab_as_frr
from fabriclab.api.lab import Lab
from fabriclab.cli.arguments.options import Software
from fabriclab.cli.host.failure import say


def meant(lab: Path, software: Software | None) -> Lab | Path:
    """Return the lab that is meant: as it is named, or what `--as` makes of its topology, whose notes are printed."""
    if software is None:
        return lab
    brought = lab_as_frr(lab)
    for note in brought.notes:
        say(f"note: {note}")
    return brought.lab
