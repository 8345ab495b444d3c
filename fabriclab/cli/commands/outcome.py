"""What the terminal shows of finished runs, and the exit status that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polars.exceptions import PolarsError
from rich.console import Console

from fabriclab.cli.host.failure import FAILED, INTERRUPTED, OK
from fabriclab.formats.clock import clock_of
from fabriclab.report import class_table, summary_table
from fabriclab.report.measured.quantities import format_metric
from fabriclab.report.tables.checks import measured_range, worst_outcome
from fabriclab.results import CheckResult, Results, ResultsError, Sweep, evaluate_checks, read_run, unasked_checks
from fabriclab.results.pause_text import pause_lines
from fabriclab.runs import RunResult
from fabriclab.units import format_count


def read_if_possible(directory: Path) -> Results | None:
    """Return a run's results, None when it left none, or none can be made of its logs."""
    try:
        return read_run(directory)
    except (ResultsError, PolarsError, OSError, MemoryError):
        return None


def show_summary(console: Console, subject: Results | Sweep) -> None:
    """Print what was measured: the whole, and completion times by class where there are several."""
    for table in (summary_table(subject), class_table(subject)):
        if table is not None:
            console.print(table)
    if isinstance(subject, Results):
        _show_pauses(console, subject)


def _show_pauses(console: Console, run: Results) -> None:
    """Print who paused whom, of a run in which somebody was paused."""
    if not run.pause_tree.stopped:
        return
    style = "red" if run.pause_tree.deadlocks else None
    console.print("Who pauses whom, from the root on", style=style, highlight=False)
    for line in pause_lines(run.pause_tree):
        console.print(f"  {line}", style=style if "DEADLOCK" in line else None, highlight=False, soft_wrap=True)
    console.print()


def show_checks(console: Console, runs: Sequence[Results]) -> bool:
    """Print the checks of the runs, one line for those that say the same of several runs; return whether all hold.

    Checks that are of other points say nothing of these runs, and that is said.
    """
    alike: dict[tuple[str, str], list[CheckResult]] = {}
    for run in runs:
        for check in evaluate_checks(run):
            alike.setdefault(_condition(check), []).append(check)
    for (condition, where), checks in alike.items():
        outcome = worst_outcome(checks)
        passed = sum(check.outcome == "pass" for check in checks)
        count = f", {passed} of {len(checks)} runs" if len(checks) > 1 else ""
        style = {"pass": "green", "fail": "red"}.get(outcome, "yellow")
        text = f"{outcome}{count}: {condition}: {measured_range(checks)}{where}"
        console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
    unasked = len(unasked_checks(runs))
    if unasked and alike:
        console.print(f"{_of_other_points(unasked)}, not asked here", style="dim", highlight=False, soft_wrap=True)
    elif unasked:
        text = f"no check was asked here: the lab has {_of_other_points(unasked)}"
        console.print(text, style="yellow", highlight=False, soft_wrap=True)
    return all(check.outcome == "pass" for checks in alike.values() for check in checks)


def _of_other_points(count: int) -> str:
    return f"{format_count(count, 'check')} of other points"


def _condition(check: CheckResult) -> tuple[str, str]:
    """Return the check and where it holds, as text."""
    where = ", ".join(f"{key} {value}" for key, value in check.where.items())
    return (
        f"{check.metric} {check.operator} {format_metric(check.metric, check.value)}",
        f"  ({where})" if where else "",
    )


def show_result(console: Console, name: str, result: RunResult) -> None:
    """Print how a run ended."""
    style = {"complete": "green", "limit": "yellow"}.get(result.status, "red")
    text = (
        f"{name}: {result.status}, {result.virtual_ns / 1e9:.3f} s {clock_of(result.engine)} in {result.wall_s:.1f} s"
    )
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
    if result.message:
        console.print(
            result.message, style="dim" if style == "green" else style, highlight=False, markup=False, soft_wrap=True
        )


def exit_status(statuses: Sequence[str], checks_hold: bool) -> int:
    """Return the exit status of a command."""
    if "interrupted" in statuses:
        return INTERRUPTED
    return OK if checks_hold and all(status == "complete" for status in statuses) else FAILED
