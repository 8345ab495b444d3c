"""`fabriclab run`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from fabriclab.api.failures import RunFailed
from fabriclab.api.progress import Progress, ProgressEvent
from fabriclab.api.run import run as run_lab
from fabriclab.cli.arguments.options import Software
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.commands.as_frr import meant
from fabriclab.cli.commands.preloading import Preloading
from fabriclab.cli.host.consent import with_consent
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import FAILED, say
from fabriclab.cli.host.followed import FollowedRuns
from fabriclab.cli.host.waiting import waiting
from fabriclab.errors import ArgumentError
from fabriclab.files import explain
from fabriclab.runs import RunResult
from fabriclab.runs.engines import EngineName


def run(
    lab: Path,
    seed: int | None,
    settings: Sequence[str],
    out: Path | None,
    force: bool,
    engine: EngineName,
    stall_s: float,
    with_report: bool = True,
    software: Software | None = None,
    variables: Sequence[Path] = (),
    cores: str = "auto",
    *,
    trust: bool = False,
) -> int:
    """Run one point; returns the exit status."""
    chosen, preloading = parse_settings(settings), Preloading()
    this = meant(lab, software, variables)

    def carry_out(trusted: bool) -> RunResult:
        with FollowedRuns(f"reading {lab}", engine) as followed:

            def show(event: ProgressEvent) -> None:
                followed.show(event)
                if isinstance(event, Progress):
                    preloading.start()

            with suppress(RunFailed):  # what can be shown of it is, and the status says how it ended
                run_lab(
                    this,
                    set=chosen,
                    seed=seed,
                    out=out,
                    force=force,
                    engine=engine,
                    stall_s=stall_s,
                    cores=_meant(cores),
                    trust=trusted,
                    progress=show,
                    cancel=followed.interrupt,
                )
        return followed.ended[-1]

    return _conclude(with_consent(carry_out, trust), with_report)


def _meant(cores: str) -> int | Literal["auto"]:
    if cores == "auto":
        return "auto"
    if not cores.isdecimal():
        raise ArgumentError("{cores} {0!r}: write a number of cores, or auto", cores)
    return int(cores)


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
    from fabriclab.api.measured import Run

    try:
        with waiting("writing the report"):
            Run(directory).write_report()
    except OSError as error:
        say(f"no report: {explain(error)}")
        return False
    return True
