"""`fabriclab run`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from fabriclab.cli.arguments.engine import fit_engine
from fabriclab.cli.arguments.lab_names import find_lab
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.commands.ingesting import Preloading, ingest_until
from fabriclab.cli.host.failure import FAILED, BadInputError, say
from fabriclab.cli.host.progress import RunProgress
from fabriclab.cli.host.signals import interrupting
from fabriclab.cli.host.waiting import waiting
from fabriclab.cli.text.unmeasured import unseen_before_runs
from fabriclab.cli.text.warnings import lines_before_runs
from fabriclab.engine.events import Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.files import explain
from fabriclab.formats.clock import clock_of
from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.runs.claim import claimed, new_directory
from fabriclab.runs.engines import EngineName, engine_name, plan_for
from fabriclab.runs.point import empty_run
from fabriclab.runs.sweep import slug


def run(
    lab_directory: Path,
    seed: int | None,
    settings: Sequence[str],
    out: Path | None,
    force: bool,
    engine: EngineName,
    stall_s: float,
    with_report: bool = True,
) -> int:
    """Run one point; returns the exit status."""
    lab_directory = find_lab(lab_directory)
    with waiting(f"reading {lab_directory}"):
        lab = parse_lab(lab_directory, every_point=False)

        def planned(wanted: dict[str, str]) -> Plan:
            return plan_for(resolve_plan(lab, wanted, seed), engine)

        plan = planned(parse_settings(settings))
        made_from = fit_engine(engine, lab.directory, [plan])
        warnings = [*lines_before_runs(lab.topology, [plan.warnings]), *unseen_before_runs(lab, [plan], planned)]
    interrupt = Interrupt()
    context = RunContext(
        lab.directory,
        made_from,
        tuple(sys.argv),
        ingest_until(interrupt),
        lab.report,
        interrupt=interrupt,
        stall_s=stall_s,
    )
    directory = out or new_directory(
        Path("runs") / lab.name / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{slug(plan.settings)}"
    )
    with claimed(directory, ours=out is None):
        _make_room(directory, force)
        for line in warnings:
            print(line, file=sys.stderr)
        result = _run(plan, directory, context)
        return _conclude(result, with_report)


def _run(plan: Plan, directory: Path, context: RunContext) -> RunResult:
    preloading = Preloading()
    with (
        interrupting(context.interrupt),
        RunProgress(Console(stderr=True), clock_of(engine_name(context.artefacts))) as progress,
    ):

        def show(event: Event) -> None:
            progress.show(plan.lab, plan, event)
            preloading.start()

        return run_point(plan, directory, context, show)


def _conclude(result: RunResult, with_report: bool) -> int:
    """Show what was measured, write the report if it is wanted; returns the exit status."""
    with waiting("reading the results"):
        from fabriclab.cli.commands import outcome

        results = None if result.full else outcome.read_if_possible(result.directory)
    console = Console()
    is_wanted = with_report and results is not None
    reported = not is_wanted or _write_report(result.directory)
    if results is not None:
        outcome.show_summary(console, results)
        if is_wanted and reported:
            console.print(f"report: {result.directory / 'report.html'}", highlight=False, soft_wrap=True)
    outcome.show_result(console, str(result.directory), result)
    holds = outcome.show_checks(console, [results] if results is not None else [])
    return outcome.exit_status([result.status], holds) if reported else FAILED


def _write_report(directory: Path) -> bool:
    """Write the run's page; return whether that could be done. If not, what was measured is there all the same."""
    from fabriclab.report import write_report

    try:
        with waiting("writing the report"):
            write_report([directory], directory / "report.html")
    except OSError as error:
        say(f"no report: {explain(error)}")
        return False
    return True


def _make_room(directory: Path, force: bool) -> None:
    if not any(directory.iterdir()):
        return
    if not force:
        raise BadInputError(f"--out {directory}: is there already; choose another one, or replace it with --force")
    try:
        empty_run(directory)
    except FileExistsError:
        raise BadInputError(
            f"--out {directory}: is no run directory, so --force does not replace it; choose another one"
        ) from None
