"""`--as frr` of several commands: the lab that a Containerlab file stands for, with what was made up said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.api.lab import Lab, load_lab
from fabriclab.cli.arguments.options import Software
from fabriclab.cli.host.failure import say


def meant(lab: Path, software: Software | None, variables: Sequence[Path]) -> Lab | Path:
    """Return the lab that is meant: as it is named, or what `--as` makes of its topology, whose notes are printed.

    `variables` are those of a Go template.
    """
    if software is None:
        return load_lab(lab, variables) if variables else lab
    from fabriclab.api.as_frr import lab_as_frr

    brought = lab_as_frr(lab, variables=variables)
    for note in brought.notes:
        say(f"note: {note}")
    return brought.lab
