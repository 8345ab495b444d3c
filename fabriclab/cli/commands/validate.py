"""`fabriclab validate`: the stages of a validation, one run after the other, and the table of what they found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fabriclab.cli.arguments.engine import fit_engine
from fabriclab.cli.arguments.lab_names import find_lab
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.arguments.stages import STAGES
from fabriclab.cli.commands.ingesting import ingest_until
from fabriclab.cli.commands.outcome import read_if_possible
from fabriclab.cli.host.failure import FAILED, INTERRUPTED, OK, BadInputError, say
from fabriclab.cli.host.progress import RunProgress
from fabriclab.cli.host.signals import interrupting
from fabriclab.cli.host.waiting import waiting
from fabriclab.cli.text.junit import JunitCase, write_junit
from fabriclab.cli.text.warnings import lines_before_runs
from fabriclab.engine.events import Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.formats.clock import clock_of
from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.lab.reading.problems import did_you_mean
from fabriclab.resolve import resolve_plan
from fabriclab.results import Results
from fabriclab.runs import RunContext, run_point
from fabriclab.runs.claim import claimed, new_directory
from fabriclab.runs.engines import EngineName, engine_name, has_stock_qdiscs_only, plan_for
from fabriclab.runs.point import RunResult, remove_run
from fabriclab.validation import Bench, Finding, Stage, all_pass, later_stages, not_here, observed, reach_stage

_STYLES = {"pass": "green", "fail": "red", "not measured": "yellow"}
_LOG_WIDTH = 180
_RUN = "run"
"""The check that a stage's run ends by itself."""
_STARVED = "starved"
_MEASURED = ("complete", "limit", _STARVED)
"""Ways for a run to end after which what it measured counts: flows that never end are findings, not accidents."""


def validate(
    lab_directory: Path,
    seed: int | None,
    settings: Sequence[str],
    out: Path | None,
    force: bool,
    engine: EngineName,
    stall_s: float,
    junit: Path | None,
    only: Sequence[str],
) -> int:
    """Run the stages and print what was found; returns the exit status."""
    for name in only:
        if name not in STAGES:
            raise BadInputError(f"--only {name!r}: no such stage; {did_you_mean(name, STAGES)}")
    chosen = parse_settings(settings)
    lab_directory = find_lab(lab_directory)
    with waiting(f"reading {lab_directory}"):
        lab = parse_lab(lab_directory, every_point=False)
        plan = plan_for(resolve_plan(lab, chosen, seed), engine)
        wanted = lab.apply(chosen, seed).experiment.validation
        made_from = fit_engine(engine, lab.directory, [plan])
    interrupt = Interrupt()
    context = RunContext(
        lab.directory, made_from, tuple(sys.argv), ingest_until(interrupt), interrupt=interrupt, stall_s=stall_s
    )
    directory = out or new_directory(Path("runs") / lab.name / f"validate-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    with claimed(directory, ours=out is None):
        _make_room(directory, force)
        for line in lines_before_runs(lab.topology, [plan.warnings]):
            print(line, file=sys.stderr)
        with interrupting(context.interrupt), RunProgress(Console(stderr=True), clock_of(engine)) as progress:
            findings = list(Validation(directory, context, progress.show).carry_out(Bench(plan, plan, wanted), only))
    if context.interrupt.requested:
        _tell_interrupted(directory, findings)
        return INTERRUPTED
    _show(_console(), findings)
    if junit is not None:
        write_junit(junit, f"{lab.name} validation", [_case(finding) for finding in findings])
    return OK if all_pass(findings) else FAILED


def _tell_interrupted(directory: Path, findings: Sequence[Finding]) -> None:
    """Show what the stages found that ended before the interrupt; that the last one did not end is no finding."""
    found = [finding for finding in findings if finding.check != _RUN]
    if found:
        _show(_console(), found)
    say(f"interrupted: no verdict; what was measured is in {directory}")


class Validation:
    """Runs stages, each in a directory of its own below one."""

    def __init__(self, directory: Path, context: RunContext, show: Callable[[str, Plan, Event], None]) -> None:
        """Begin with nothing run; `show` is told how the runs get on."""
        self._directory = directory
        self._context = context
        self._show = show
        self._has_stock_qdiscs_only = has_stock_qdiscs_only(engine_name(context.artefacts))

    def carry_out(self, bench: Bench, only: Sequence[str]) -> Iterator[Finding]:
        """Yield what every stage finds.

        The first one also finds how far routing gets, where it does not get to where it should.
        """
        result = self._run(reach_stage(bench))
        results = read_if_possible(result.directory)
        if results is not None and not _has_epoch(result.directory) and result.status == "failed":
            bench = replace(bench, plan=observed(bench.plan, results))
            result = self._run(replace(reach_stage(bench), name="reach-as-it-is"))
            results = read_if_possible(result.directory)
        if not only or "reach" in only:
            yield from _judged(reach_stage(bench), result, results)
        for stage in later_stages(bench):
            if self._context.interrupt.requested:
                return
            if only and stage.name not in only:
                continue
            if stage.check and self._has_stock_qdiscs_only:
                yield not_here(stage)
            else:
                result = self._run(stage)
                yield from _judged(stage, result, read_if_possible(result.directory))

    def _run(self, stage: Stage) -> RunResult:
        context = replace(self._context, collect=stage.collectors)
        return run_point(
            stage.plan, self._directory / stage.name, context, lambda event: self._show(stage.name, stage.plan, event)
        )


def _judged(stage: Stage, result: RunResult, results: Results | None) -> list[Finding]:
    if results is None or result.status not in _MEASURED:
        message = result.message.splitlines()[0] if result.message else result.status
        return [Finding(_RUN, stage.name, "ends by itself", message, "fail")]
    found = stage.judge(results)
    return found if result.status != _STARVED else [_if_passed(finding) for finding in found]


def _if_passed(finding: Finding) -> Finding:
    """Return a finding of a run that had too little CPU: what arrived has arrived, what did not may be late."""
    if finding.verdict == "pass":
        return finding
    return replace(
        finding, verdict="not measured", measured=f"{finding.measured} (the host was too busy for real time)"
    )


def _has_epoch(directory: Path) -> bool:
    """Return whether the traffic began: it does not where routing never becomes what it should be."""
    events = directory / "events.jsonl"
    lines = events.read_text(encoding="utf-8", errors="replace").splitlines() if events.exists() else []
    return any(json.loads(line).get("event") == "epoch" for line in lines if line.endswith("}"))


def _make_room(directory: Path, force: bool) -> None:
    """Make room for the stages' runs.

    Raises BadInputError where something else is, or where it must not be replaced.
    """
    if any(directory.iterdir()) and not force:
        raise BadInputError(f"--out {directory}: is there already; choose another one, or replace it with --force")
    for entry in directory.iterdir():
        if entry.name not in (*STAGES, "reach-as-it-is"):
            raise BadInputError(
                f"--out {directory}: holds {entry.name}, which is no run of a validation; choose another one"
            )
    for entry in directory.iterdir():
        try:
            remove_run(entry)
        except FileExistsError as error:
            raise BadInputError(str(error)) from error


def _console() -> Console:
    """In a file or a pipeline's log a line may be long."""
    return Console() if sys.stdout.isatty() else Console(width=_LOG_WIDTH)


def _show(console: Console, findings: Sequence[Finding]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("check", "where", "expected", "measured", "verdict"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        verdict = f"[{_STYLES[finding.verdict]}]{finding.verdict}[/]"
        table.add_row(finding.check, finding.where, finding.expected, finding.measured, verdict)
    console.print(table, highlight=False)
    counts = {verdict: sum(finding.verdict == verdict for finding in findings) for verdict in _STYLES}
    text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    console.print(text, style="green" if all_pass(findings) else "red", highlight=False)


def _case(finding: Finding) -> JunitCase:
    told = f"expected {finding.expected}; measured {finding.measured}"
    return JunitCase(
        group=f"validate.{finding.check}",
        name=f"{finding.where}: {finding.expected}",
        failure=told if finding.verdict == "fail" else None,
        skipped=finding.measured if finding.verdict == "not measured" else None,
    )
