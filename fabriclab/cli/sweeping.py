"""`fabriclab sweep`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from fabriclab.cli.engines import fit_engine
from fabriclab.cli.failure import BadInputError
from fabriclab.cli.outcome import exit_status, ingest, show_checks, show_result
from fabriclab.cli.progress import RunProgress
from fabriclab.cli.settings import parse_settings
from fabriclab.cli.signals import interrupting
from fabriclab.engine.cpu import usable_cpus
from fabriclab.lab import Lab, parse_lab
from fabriclab.plan import resolve_plan
from fabriclab.plan.model import Plan
from fabriclab.report import summary_table, write_report
from fabriclab.results import read_sweep
from fabriclab.run import PointState, RunContext, RunResult, Sweep, run_sweep
from fabriclab.run.engines import EngineName


def sweep(
    lab_directory: Path,
    matrix: str | None,
    seed: int,
    settings: Sequence[str],
    jobs: int | None,
    out: Path | None,
    engine: EngineName,
    stall_s: float,
) -> int:
    """Run what is not done of a matrix, write its report; returns the exit status."""
    lab = parse_lab(lab_directory)
    name = _matrix_name(lab, matrix)
    plans = _plans(lab, name, parse_settings(settings), seed)
    directory = out or Path("runs") / lab.name / name
    _refuse_other_directories(directory)
    artefacts = fit_engine(engine, lab.directory, plans)
    points = Sweep(directory, lab.name, name, plans[0].title, plans, artefacts)
    points.recall()
    context = RunContext(lab.directory, artefacts, tuple(sys.argv), ingest, lab.report, stall_s=stall_s)
    _run(points, context, jobs or (len(usable_cpus()) if engine == "vm" else 1))
    return _conclude(points)


def _matrix_name(lab: Lab, matrix: str | None) -> str:
    names = list(lab.matrices)
    if not names:
        raise BadInputError(f"{lab.directory}: the experiment has no matrix; `fabriclab run` runs a single point")
    if matrix is None:
        return names[0]
    if matrix not in names:
        raise BadInputError(f"--matrix {matrix!r}: the experiment has {', '.join(names)}")
    return matrix


def _plans(lab: Lab, matrix: str, settings: dict[str, str], seed: int) -> list[Plan]:
    # A key on the command line that the matrix varies fixes it: points that become equal run once.
    plans = [resolve_plan(lab, {**point, **settings}, seed) for point in lab.points(matrix)]
    return list({plan.model_dump_json(): plan for plan in plans}.values())


def _refuse_other_directories(directory: Path) -> None:
    if directory.exists() and (not directory.is_dir() or (any(directory.iterdir()) and not (directory / "sweep.json").is_file())):
        raise BadInputError(f"--out {directory}: is there already and is no sweep directory; choose another one")


def _run(points: Sweep, context: RunContext, jobs: int) -> None:
    console = Console(stderr=True)
    waiting = sum(not point.reused for point in points.points)
    if waiting < len(points.points):
        console.print(f"{len(points.points) - waiting} of {len(points.points)} points are done already", highlight=False)
    with interrupting(context.interrupt), RunProgress(console) as progress:
        progress.count(waiting)

        def ended(point: PointState, result: RunResult) -> None:
            progress.done(_name(point))
            show_result(console, _name(point), result)

        run_sweep(points, context, jobs, lambda point, event: progress.show(_name(point), point.plan, event), ended)


def _name(point: PointState) -> str:
    return ", ".join(f"{key} {value}" for key, value in point.plan.settings.items()) or point.plan.lab


def _conclude(points: Sweep) -> int:
    console = Console()
    measured = read_sweep(points.directory)
    if measured.runs:
        console.print(summary_table(measured))
        report = points.directory / "report.html"
        write_report([points.directory], report)
        console.print(f"report: {report}", highlight=False, soft_wrap=True)
    holds = show_checks(console, measured.runs)
    statuses = ["interrupted" if point.status == "waiting" else point.status for point in points.points]
    left = sum(status not in ("complete", "limit") for status in statuses)
    if left:
        console.print(f"{left} of {len(statuses)} points are not done; the same command goes on with them", style="yellow", highlight=False)
    return exit_status(statuses, holds)
