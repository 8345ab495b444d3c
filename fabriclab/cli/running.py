"""`fabriclab run`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from fabriclab.cli.engines import fit_engine
from fabriclab.cli.failure import BadInputError
from fabriclab.cli.outcome import exit_status, ingest, read_if_possible, show_checks, show_result, show_summary
from fabriclab.cli.progress import RunProgress
from fabriclab.cli.settings import parse_settings
from fabriclab.cli.signals import interrupting
from fabriclab.cli.warning_lines import warning_lines
from fabriclab.lab import parse_lab
from fabriclab.plan import Plan, resolve_plan
from fabriclab.report import write_report
from fabriclab.run import RunContext, run_point
from fabriclab.run.claim import claimed, new_directory
from fabriclab.run.engines import EngineName, plan_for
from fabriclab.run.point import empty_run
from fabriclab.run.sweep import slug


def run(
    lab_directory: Path, seed: int | None, settings: Sequence[str], out: Path | None, force: bool, engine: EngineName, stall_s: float
) -> int:
    """Run one point; returns the exit status."""
    lab = parse_lab(lab_directory)
    plan = plan_for(resolve_plan(lab, parse_settings(settings), seed), engine)
    made_from = fit_engine(engine, lab.directory, [plan])
    context = RunContext(lab.directory, made_from, tuple(sys.argv), ingest, lab.report, stall_s=stall_s)
    directory = out or new_directory(Path("runs") / lab.name / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{slug(plan.settings)}")
    with claimed(directory):
        _make_room(directory, force)
        return _run(plan, directory, context)


def _run(plan: Plan, directory: Path, context: RunContext) -> int:
    for line in warning_lines([plan.warnings]):
        print(line, file=sys.stderr)
    console = Console()
    with interrupting(context.interrupt), RunProgress(Console(stderr=True)) as progress:
        result = run_point(plan, directory, context, lambda event: progress.show(plan.lab, plan, event))
    results = read_if_possible(directory)
    if results is not None:
        show_summary(console, results)
        write_report([directory], directory / "report.html")
        console.print(f"report: {directory / 'report.html'}", highlight=False, soft_wrap=True)
    show_result(console, str(directory), result)
    holds = show_checks(console, [results] if results is not None else [])
    return exit_status([result.status], holds)


def _make_room(directory: Path, force: bool) -> None:
    if not any(directory.iterdir()):
        return
    if not force:
        raise BadInputError(f"--out {directory}: is there already; choose another one, or replace it with --force")
    try:
        empty_run(directory)
    except FileExistsError:
        raise BadInputError(f"--out {directory}: is no run directory, so --force does not replace it; choose another one") from None
