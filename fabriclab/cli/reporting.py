"""`fabriclab report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from fabriclab.cli.failure import BadInputError
from fabriclab.cli.outcome import show_summary
from fabriclab.report import write_pictures, write_report
from fabriclab.results import ResultsError, is_sweep, read_run, read_sweep


def report(paths: Sequence[Path], out: Path | None, pictures: Path | None) -> None:
    """Write the page, print the table and where the page is."""
    page = out or paths[0] / "report.html"
    console = Console()
    try:
        subjects = [read_sweep(path) if is_sweep(path) else read_run(path) for path in paths]
        write_report(list(paths), page)
        drawn = write_pictures(paths, pictures) if pictures is not None else []
    except ResultsError as error:
        raise BadInputError(str(error)) from error
    for subject in subjects:
        show_summary(console, subject)
    console.print(f"report: {page}", highlight=False, soft_wrap=True)
    for file in drawn:
        console.print(f"{'table' if file.suffix == '.md' else 'picture'}: {file}", highlight=False, soft_wrap=True)
