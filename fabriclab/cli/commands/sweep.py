"""`fabriclab sweep`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from fabriclab.cli.arguments.engine import fit_engine
from fabriclab.cli.arguments.lab_names import find_lab
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.commands.ingesting import ingest_until
from fabriclab.cli.host.failure import BadInputError
from fabriclab.cli.host.progress import RunProgress
from fabriclab.cli.host.signals import interrupting
from fabriclab.cli.host.waiting import waiting
from fabriclab.cli.text.unmeasured import unseen_before_runs
from fabriclab.cli.text.warnings import lines_before_runs
from fabriclab.engine.cpu import usable_cpus
from fabriclab.engine.interrupt import Interrupt
from fabriclab.formats.clock import clock_of
from fabriclab.formats.plan.model import Plan
from fabriclab.lab import Lab, parse_lab
from fabriclab.lab.axes import MOST_POINTS, expand_numbers
from fabriclab.lab.experiment import LARGEST_SEED
from fabriclab.lab.reading.problems import nearest
from fabriclab.lab.study import SEED
from fabriclab.resolve import Resolver, resolve_plan
from fabriclab.runs import PointState, RunContext, RunResult, Sweep, run_sweep
from fabriclab.runs.claim import claimed
from fabriclab.runs.engines import EngineName, engine_name, plan_for
from fabriclab.units import format_count

SEEDS = "seeds"
"""The name of the sweep of a lab without a matrix over `--seeds`."""
_MOST_LINES = 40
"""The longest sweep of which the terminal shows each run. Of a longer one it shows only the runs that are not as they
should be, and the bar; a log has every run."""


def sweep(
    lab_directory: Path,
    matrix: str | None,
    seed: int | None,
    seeds: str | None,
    settings: Sequence[str],
    jobs: int | None,
    out: Path | None,
    engine: EngineName,
    stall_s: float,
) -> int:
    """Run what is not done of a matrix, write its report; returns the exit status."""
    numbers = () if seeds is None else parse_seeds(seeds)
    if seed is not None and numbers:
        raise BadInputError("--seed and --seeds: write one of the two, one seed for all points or several for each")
    lab_directory = find_lab(lab_directory)
    with waiting(f"reading {lab_directory}") as tell:
        lab = parse_lab(lab_directory, every_point=False)
        name = _matrix_name(lab, matrix, bool(numbers))
        points = lab.points(None if not lab.matrices else name, numbers)
        tell(f"resolving {format_count(len(points), 'point')}")
        _check_points(lab, name)
        plans = [plan_for(plan, engine) for plan in _plans(lab, points, parse_settings(settings), seed)]
        artefacts = fit_engine(engine, lab.directory, plans)
        unseen = unseen_before_runs(lab, plans, lambda others: plan_for(resolve_plan(lab, others, seed), engine))
    directory = out or Path("runs") / lab.name / name
    interrupt = Interrupt()
    context = RunContext(
        lab.directory,
        artefacts,
        tuple(sys.argv),
        ingest_until(interrupt),
        lab.report,
        interrupt=interrupt,
        stall_s=stall_s,
    )
    with claimed(directory):
        _refuse_other_directories(directory)
        runs = Sweep(directory, lab.name, name, plans[0].title, plans, artefacts)
        runs.recall()
        for line in (*lines_before_runs(lab.topology, [plan.warnings for plan in plans]), *unseen):
            print(line, file=sys.stderr)
        _run(runs, context, jobs or (len(usable_cpus()) if engine == "vm" else 1))
        return _conclude(runs)


def parse_seeds(text: str) -> range:
    """Return the seeds of `--seeds`: a number means from 1 on. Raises BadInputError."""
    try:
        seeds = expand_numbers(text if ".." in text or text.strip() == "0" else f"1..{text}")
    except ValueError as error:
        raise BadInputError(f"--seeds {text!r}: {error}") from error
    if seeds is None or seeds[-1] > LARGEST_SEED:
        raise BadInputError(
            f"--seeds {text!r}: write how many, such as 200, or a range such as 1..1000 (to {LARGEST_SEED} at most)"
        )
    return seeds


def _matrix_name(lab: Lab, matrix: str | None, with_seeds: bool) -> str:
    names = list(lab.matrices)
    if not names and with_seeds and matrix is None:
        return SEEDS
    if not names:
        raise BadInputError(
            f"{lab.directory}: the experiment has no matrix; `fabriclab run` runs a single point, --seeds 20 repeats it"
        )
    if matrix is None:
        return names[0]
    if matrix not in names:
        raise BadInputError(f"--matrix {matrix!r}: the experiment has {', '.join(names)}{_near(matrix, names)}")
    return matrix


def _near(matrix: str, names: Sequence[str]) -> str:
    near = nearest(matrix, names)
    return "" if near is None else f"; did you mean {near!r}?"


def _check_points(lab: Lab, matrix: str) -> None:
    """Raise LabError with the line of each mistake in the matrix as it stands in the file."""
    for _ in lab.checked_points([matrix] if lab.matrices else []):
        pass


def _plans(lab: Lab, points: Sequence[dict[str, str]], settings: dict[str, str], seed: int | None) -> list[Plan]:
    if len(points) > MOST_POINTS:
        raise BadInputError(f"--seeds: {len(points)} points with these seeds; a sweep has at most {MOST_POINTS}")
    # What the command line says of something that the matrix varies fixes it: points that become equal run once.
    resolver = Resolver(lab)
    plans = [resolver.resolve({**point, **settings, **_fixed_seed(point, seed)}, seed) for point in points]
    return list({plan.model_dump_json(): plan for plan in plans}.values())


def _fixed_seed(point: dict[str, str], seed: int | None) -> dict[str, str]:
    """Return what `--seed` changes of a point that has a seed among its settings."""
    return {} if seed is None or SEED not in point else {SEED: str(seed)}


def _refuse_other_directories(directory: Path) -> None:
    if any(directory.iterdir()) and not (directory / "sweep.json").is_file():
        raise BadInputError(f"--out {directory}: is there already and is no sweep directory; choose another one")


def _run(points: Sweep, context: RunContext, jobs: int) -> None:
    console = Console(stderr=True)
    waiting = sum(not point.reused for point in points.points)
    if waiting < len(points.points):
        console.print(
            f"{len(points.points) - waiting} of {len(points.points)} points are done already", highlight=False
        )
    with interrupting(context.interrupt), RunProgress(console, clock_of(engine_name(context.artefacts))) as progress:
        progress.count(waiting)

        def ended(point: PointState, result: RunResult) -> None:
            from fabriclab.cli.commands.outcome import show_result

            progress.done(_name(point))
            if waiting <= _MOST_LINES or result.status != "complete" or not console.is_terminal:
                show_result(console, _name(point), result)

        run_sweep(points, context, jobs, lambda point, event: progress.show(_name(point), point.plan, event), ended)


def _name(point: PointState) -> str:
    return ", ".join(f"{key} {value}" for key, value in point.plan.settings.items()) or point.plan.lab


def _conclude(points: Sweep) -> int:
    console = Console()
    with waiting("reading the results"):
        from fabriclab.cli.commands import outcome
        from fabriclab.report import write_report
        from fabriclab.results import read_sweep

        measured = read_sweep(points.directory)
    if measured.runs:
        outcome.show_summary(console, measured)
        report = points.directory / "report.html"
        with waiting("writing the report"):
            write_report([points.directory], report)
        console.print(f"report: {report}", highlight=False, soft_wrap=True)
    holds = outcome.show_checks(console, measured.runs)
    left_out = "failed" if points.full else "interrupted"
    statuses = [left_out if point.status == "waiting" else point.status for point in points.points]
    left = sum(status not in ("complete", "limit") for status in statuses)
    if left:
        console.print(
            f"{left} of {len(statuses)} points are not done; the same command goes on with them",
            style="yellow",
            highlight=False,
        )
    return outcome.exit_status(statuses, holds)
