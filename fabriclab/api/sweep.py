"""The points of a lab's matrix, several at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabriclab.api.cancel import HasIsSet, carried_out
from fabriclab.api.clusters import run_on_cluster
from fabriclab.api.engine import fit_engine
from fabriclab.api.idle_wishes import unseen_before_runs
from fabriclab.api.kept_lab import kept_files
from fabriclab.api.lab import Lab, PathLike, Settings, check_seed, loaded, written_settings
from fabriclab.api.progress import Begun, ProgressCallback, ignored
from fabriclab.api.sweep_progress import SweepTeller
from fabriclab.api.warnings import sentences_before_runs
from fabriclab.cluster import LOCAL, Keep, parse_place
from fabriclab.engine.cpu import usable_cpus
from fabriclab.engine.interrupt import Interrupt
from fabriclab.errors import ArgumentError
from fabriclab.formats import ranges
from fabriclab.formats.plan import Plan
from fabriclab.formats.run_directory import SWEEP
from fabriclab.keys.wording import nearest
from fabriclab.lab import Lab as WrittenLab
from fabriclab.lab.axes import MOST_POINTS
from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.study_keys import SEED
from fabriclab.resolve import Resolver
from fabriclab.resolve.where_clauses import refuse_idle_clauses
from fabriclab.runs import RunContext, run_sweep
from fabriclab.runs import Sweep as SweepDirectory
from fabriclab.runs.claim import claimed
from fabriclab.runs.engines import EngineName, plan_for

if TYPE_CHECKING:
    from fabriclab.api.measured import Sweep

SEEDS = "seeds"
"""The name of the sweep of a lab without a matrix over several seeds."""


def sweep(
    lab: Lab | PathLike,
    matrix: str | None = None,
    *,
    set: Settings | None = None,
    seed: int | None = None,
    seeds: int | Sequence[int] | None = None,
    jobs: int | None = None,
    out: PathLike | None = None,
    engine: EngineName = "vm",
    on: str | Any = LOCAL,
    keep: Keep = "all",
    stall_s: float = 120.0,
    trust: bool = False,
    progress: ProgressCallback | None = None,
    cancel: Interrupt | HasIsSet | None = None,
) -> Sweep:
    """Run the missing points of a lab's matrix, by default its first one, and return the sweep when they have ended.

    `seeds` repeats every point with the seeds 1 to that number, or with those of a sequence. `jobs` is the number of
    runs at a time, by default one per CPU (one in real time). `out` is the sweep's directory, by default
    `runs/LAB/MATRIX`; points that are complete there are not run again.

    `on` is the place where the points run: this host, or a cluster (docs/cluster.md), named as on the command line or
    given as Dask's Client or Cluster. `keep="results"` keeps only the files that reports and comparisons read.

    All other arguments, and the effect of Ctrl-C, are those of `run`. A point that fails does not stop the others and
    raises nothing: its status is among the sweep's `statuses`.

    Raises LabError for mistakes in the lab, in its points or in `set`, ConsentError as `run` does, ArgumentError for
    other arguments, EngineError if this host or the cluster can't run the points, ResultsError if the directory holds
    unreadable results, OSError. Nothing is printed.
    """
    numbers = _seeds(seed, seeds)
    place = parse_place(on) if isinstance(on, str) else on
    if place is not None and engine != "vm":
        raise ArgumentError(
            "{on} {0}: containers run only on this host; on a cluster only the virtual machine runs", on
        )
    chosen, tell = loaded(lab), progress or ignored
    written = chosen.written
    name = _matrix_name(written, matrix, bool(numbers))
    points = written.points(None if not written.matrices else name, numbers)
    for _ in written.checked_points([name] if written.matrices else []):
        pass  # raises LabError with the line of each mistake in the matrix as it stands in the file
    settings = written_settings(chosen, set)
    resolver = Resolver(written)
    plans = [plan_for(plan, engine) for plan in _plans(resolver, points, settings, seed)]
    refuse_idle_clauses(written, resolver, [plan.parameters for plan in plans])
    made_from = fit_engine(engine, written, plans, trust)

    def planned(others: Mapping[str, str | ScalarValue]) -> Plan:
        return plan_for(resolver.resolve(others, seed), engine)

    warnings = sentences_before_runs(written.topology, [plan.warnings for plan in plans])
    warnings += unseen_before_runs(written, plans, planned)
    directory = Path(out) if out is not None else Path("runs") / written.name / name
    with claimed(directory):
        _refuse_other_directories(directory)
        runs = SweepDirectory(directory, written.name, name, plans[0].title, plans, made_from)
        runs.recall()
        done = sum(point.reused for point in runs.points)
        tell(Begun(directory, engine, tuple(warnings), len(runs.points), done))
        teller = SweepTeller(tell, len(runs.points), done)

        def work(interrupt: Interrupt) -> None:
            context = RunContext(
                *(written.directory, made_from, tuple(sys.argv), teller.ingest, written.report),
                interrupt=interrupt,
                stall_s=stall_s,
                lab_files=kept_files(written),
                keep=keep,
            )
            if place is not None:
                run_on_cluster(place, runs, context, jobs, teller)
                return
            at_a_time = jobs or (len(usable_cpus()) if engine == "vm" else 1)
            run_sweep(runs, context, at_a_time, teller.event, teller.ended)

        carried_out(work, cancel)
    left_out = "failed" if runs.full else "interrupted"
    statuses = [left_out if point.status == "waiting" else point.status for point in runs.points]
    from fabriclab.api.measured import Sweep

    return Sweep(directory, statuses)


def _seeds(seed: int | None, seeds: int | Sequence[int] | None) -> Sequence[int]:
    check_seed(seed)
    if seeds is None:
        return ()
    if seed is not None:
        raise ArgumentError("{seed} and {seeds}: write one of the two, one seed for all points or several for each")
    numbers = range(1, seeds + 1) if isinstance(seeds, int) else seeds
    if not numbers or min(numbers) < 0 or max(numbers) > ranges.SEED.most:
        text = "{seeds} {0!r}: write how many, such as 200, or a range such as 1..1000 (to {1} at most)"
        raise ArgumentError(text, seeds, ranges.SEED.most)
    return numbers


def _matrix_name(lab: WrittenLab, matrix: str | None, with_seeds: bool) -> str:
    names = list(lab.matrices)
    if not names and with_seeds and matrix is None:
        return SEEDS
    if not names:
        text = "{0}: the experiment has no matrix; `fabriclab run` runs a single point, {seeds} 20 repeats it"
        raise ArgumentError(text, os.fspath(lab.directory))
    if matrix is None:
        return names[0]
    if matrix not in names:
        near = nearest(matrix, names)
        meant = "" if near is None else f"; did you mean {near!r}?"
        raise ArgumentError("{matrix} {0!r}: the experiment has {1}{2}", matrix, ", ".join(names), meant)
    return matrix


def _plans(
    resolver: Resolver, points: Sequence[dict[str, str]], settings: Mapping[str, str | ScalarValue], seed: int | None
) -> list[Plan]:
    if len(points) > MOST_POINTS:
        raise ArgumentError("{seeds}: {0} points with these seeds; a sweep has at most {1}", len(points), MOST_POINTS)
    # What the caller says of something that the matrix varies fixes it: points that become equal run once.
    plans = [resolver.resolve({**point, **settings, **_fixed_seed(point, seed)}, seed) for point in points]
    return list({plan.model_dump_json(): plan for plan in plans}.values())


def _fixed_seed(point: dict[str, str], seed: int | None) -> dict[str, str]:
    """Return what one seed for all changes of a point that has a seed among its settings."""
    return {} if seed is None or SEED not in point else {SEED: str(seed)}


def _refuse_other_directories(directory: Path) -> None:
    if any(directory.iterdir()) and not (directory / SWEEP).is_file():
        raise ArgumentError("{out} {0} already exists and is not a sweep directory; choose another one", directory)
