"""What the terminal shows of finished runs, and the exit status that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from fabriclab.cli.failure import FAILED, INTERRUPTED, OK
from fabriclab.report.quantities import format_metric
from fabriclab.results import Results, ResultsError, evaluate_checks, ingest_run, read_run
from fabriclab.run import IngestError, RunResult


def ingest(directory: Path) -> None:
    """Turn a run's raw logs into results. Raises IngestError."""
    try:
        ingest_run(directory)
    except ResultsError as error:
        raise IngestError(str(error)) from error


def read_if_possible(directory: Path) -> Results | None:
    """Return a run's results, None when it left none."""
    try:
        return read_run(directory)
    except (ResultsError, OSError):
        return None


def show_checks(console: Console, runs: Sequence[Results]) -> bool:
    """Print the checks of the runs; returns whether all hold."""
    good = True
    for run in runs:
        for check in evaluate_checks(run):
            good = good and check.outcome == "pass"
            style = {"pass": "green", "fail": "red"}.get(check.outcome, "yellow")
            where = ", ".join(f"{key} {value}" for key, value in check.where.items())
            bound, measured = (format_metric(check.metric, value) for value in (check.value, check.measured))
            text = f"{check.outcome}: {check.metric} {check.operator} {bound}: {measured}" + (f"  ({where})" if where else "")
            console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
    return good


def show_result(console: Console, name: str, result: RunResult) -> None:
    """Print how a run ended."""
    virtual_s = result.virtual_ns / 1e9
    style = {"complete": "green", "limit": "yellow"}.get(result.status, "red")
    text = f"{name}: {result.status}, {virtual_s:.3f} s virtual in {result.wall_s:.1f} s"
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
    if result.message:
        console.print(result.message, style="dim" if style == "green" else style, highlight=False, markup=False, soft_wrap=True)


def exit_status(statuses: Sequence[str], checks_hold: bool) -> int:
    """Return the exit status of a command."""
    if "interrupted" in statuses:
        return INTERRUPTED
    return OK if checks_hold and all(status == "complete" for status in statuses) else FAILED
