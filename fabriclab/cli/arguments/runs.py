"""Runs and sweeps as the command line names them."""

from __future__ import annotations

from pathlib import Path

from fabriclab.cli.host.failure import BadInputError
from fabriclab.formats.run_directory import MANIFEST
from fabriclab.lab.lab_list import is_lab


def refuse_no_run(path: Path) -> None:
    """Raise BadInputError for what is plainly no run."""
    if not path.exists():
        raise BadInputError(
            f"{path}: no such directory; give the directory of a run, which `fabriclab run` makes in runs/"
        )
    if not path.is_dir():
        raise BadInputError(f"{path}: is a file; give the directory of a run or sweep")
    if is_lab(path) and not (path / MANIFEST).exists():
        raise BadInputError(f"{path}: is a lab, not a run; `fabriclab run {path}` makes one, and its report")
