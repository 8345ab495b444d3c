"""`fabriclab report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.api.measured import read_any, write_report
from fabriclab.cli.arguments.runs import refuse_no_run
from fabriclab.cli.commands.outcome import show_summary
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.waiting import waiting
from fabriclab.report import write_pictures
from fabriclab.results.damage import reading


def report(paths: Sequence[Path], out: Path | None, pictures: Path | None) -> None:
    """Write the page, print the table and where the page is."""
    for path in paths:
        refuse_no_run(path)
    console = Console()
    with waiting("reading the results") as tell:
        subjects = [read_any(path) for path in paths]
        tell("writing the report")
        page = write_report(paths, out)
        drawn = write_pictures(paths, pictures) if pictures is not None else []
    for path, subject in zip(paths, subjects, strict=True):
        with reading(path):
            show_summary(console, subject)
    console.print(f"report: {page}", highlight=False, soft_wrap=True)
    for file in drawn:
        console.print(f"{'table' if file.suffix == '.md' else 'picture'}: {file}", highlight=False, soft_wrap=True)
