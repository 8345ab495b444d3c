"""`fabriclab report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from fabriclab.api.measured import read_any, write_report
from fabriclab.cli.commands.outcome import show_summary
from fabriclab.cli.host.failure import BadInputError
from fabriclab.cli.host.waiting import waiting
from fabriclab.formats.run_directory import MANIFEST
from fabriclab.lab.lab_list import is_lab
from fabriclab.report import write_pictures


def report(paths: Sequence[Path], out: Path | None, pictures: Path | None) -> None:
    """Write the page, print the table and where the page is."""
    for path in paths:
        _refuse(path)
    console = Console()
    with waiting("reading the results") as tell:
        subjects = [read_any(path) for path in paths]
        tell("writing the report")
        page = write_report(paths, out)
        drawn = write_pictures(paths, pictures) if pictures is not None else []
    for subject in subjects:
        show_summary(console, subject)
    console.print(f"report: {page}", highlight=False, soft_wrap=True)
    for file in drawn:
        console.print(f"{'table' if file.suffix == '.md' else 'picture'}: {file}", highlight=False, soft_wrap=True)


def _refuse(path: Path) -> None:
    """Raise BadInputError for what is plainly no run."""
    if not path.exists():
        raise BadInputError(
            f"{path}: no such directory; a run's directory is wanted, such as `fabriclab run` makes below runs/"
        )
    if not path.is_dir():
        raise BadInputError(f"{path}: is a file; give the directory of a run or sweep")
    if is_lab(path) and not (path / MANIFEST).exists():
        raise BadInputError(f"{path}: is a lab, not a run; `fabriclab run {path}` makes one, and its report")
