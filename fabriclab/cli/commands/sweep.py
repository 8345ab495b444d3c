"""`fabriclab sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabriclab.api.progress import Begun, Ended, ProgressEvent
from fabriclab.api.sweep import sweep as sweep_lab
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.host.consent import with_consent
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import BadInputError
from fabriclab.cli.host.followed import FollowedRuns
from fabriclab.cli.host.waiting import waiting
from fabriclab.formats import ranges
from fabriclab.lab.axes import expand_numbers
from fabriclab.runs.engines import EngineName
from fabriclab.runs.point import Keep

if TYPE_CHECKING:
    from fabriclab.api.measured import Sweep

_MOST_LINES = 40
"""The longest sweep of which the terminal shows each run. Of a longer one it shows only the runs that are not as they
should be, and the bar; a log has every run."""


def sweep(
    lab: Path,
    matrix: str | None,
    seed: int | None,
    seeds: str | None,
    settings: Sequence[str],
    jobs: int | None,
    out: Path | None,
    engine: EngineName,
    on: str,
    keep: Keep,
    stall_s: float,
    *,
    trust: bool = False,
) -> int:
    """Run what is not done of a matrix, write its report; returns the exit status."""
    numbers = None if seeds is None else parse_seeds(seeds)
    chosen = parse_settings(settings)

    def carry_out(trusted: bool) -> Sweep:
        with FollowedRuns(f"reading {lab}", engine) as followed:

            def show(event: ProgressEvent) -> None:
                followed.show(event)
                if isinstance(event, Begun):
                    _show_done_already(followed, event)
                elif isinstance(event, Ended):
                    _show_ended(followed, event)

            return sweep_lab(
                lab,
                matrix,
                set=chosen,
                seed=seed,
                seeds=numbers,
                jobs=jobs,
                out=out,
                engine=engine,
                on=on,
                keep=keep,
                stall_s=stall_s,
                trust=trusted,
                progress=show,
                cancel=followed.interrupt,
            )

    return _conclude(with_consent(carry_out, trust))


def _show_done_already(followed: FollowedRuns, begun: Begun) -> None:
    if begun.done:
        followed.console.print(f"{begun.done} of {begun.points} points are done already", highlight=False)
    followed.progress.count(begun.points - begun.done)


def _show_ended(followed: FollowedRuns, ended: Ended) -> None:
    from fabriclab.cli.commands.outcome import show_result

    begun = followed.begun
    is_short = begun is not None and begun.points - begun.done <= _MOST_LINES
    if is_short or ended.result.status != "complete" or not followed.console.is_terminal:
        show_result(followed.console, ended.run, ended.result)


def parse_seeds(text: str) -> range:
    """Return the seeds of `--seeds`: a number means from 1 on. Raises BadInputError."""
    try:
        seeds = expand_numbers(text if ".." in text or text.strip() == "0" else f"1..{text}")
    except ValueError as error:
        raise BadInputError(f"--seeds {text!r}: {error}") from error
    if seeds is None or seeds[-1] > ranges.SEED.most:
        raise BadInputError(
            f"--seeds {text!r}: write their number, such as 200, or a range such as 1..1000 (up to {ranges.SEED.most})"
        )
    return seeds


def _conclude(points: Sweep) -> int:
    console = Console()
    with waiting("reading the results"):
        from fabriclab.cli.commands import outcome

        measured = points.results
    if measured.runs:
        outcome.show_summary(console, measured)
    # Said before the report is written: on a full disk that fails, and this is what helps then.
    statuses = points.statuses
    left = sum(status not in ("complete", "limit") for status in statuses)
    if left:
        console.print(
            f"{left} of {len(statuses)} points are not done; the same command continues with them",
            style="yellow",
            highlight=False,
        )
    if measured.runs:
        with waiting("writing the report"):
            report = points.write_report()
        console.print(f"report: {report}", highlight=False, soft_wrap=True)
    holds = outcome.show_checks(console, measured.runs)
    return outcome.exit_status(statuses, holds)
