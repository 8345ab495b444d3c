"""Bundles: runs are packed into one file, opened, and run again to see whether the bits agree."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.api.cancel import HasIsSet, carried_out
from fabriclab.api.engine import fit_recorded
from fabriclab.api.failures import FAILED, RunFailed
from fabriclab.api.ingest import ingest_run_logs
from fabriclab.api.measured import PathLike, Run, Sweep
from fabriclab.api.progress import Begun, Ended, ProgressCallback, RunTeller, ignored
from fabriclab.api.sweep_progress import point_in_words
from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.interrupt import Interrupt
from fabriclab.errors import ArgumentError
from fabriclab.formats.plan import PlanError
from fabriclab.formats.plan.runnable import check_runnable
from fabriclab.formats.run_directory import LAB, PLAN, SWEEP
from fabriclab.results import Results, ResultsError, read_run
from fabriclab.results.damage import reading
from fabriclab.run_bundles.bundle import CONTENT, About, read_about, runs_of, unpack_bundle, write_bundle
from fabriclab.run_bundles.same_bits import Agreement, agreements, made_otherwise
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.runs.claim import claimed

ENDING = ".fabriclab.zip"


@dataclass(frozen=True)
class Bundle:
    """An opened bundle."""

    about: About
    directory: Path
    """Where it was unpacked."""
    content: Run | Sweep
    """The run or sweep in it, as `open_run` and `open_sweep` give it."""


@dataclass(frozen=True)
class Reproduced:
    """A run of a bundle, compared with the same run made here."""

    point: str
    """The run's settings in words."""
    run: Run
    """What was run here."""
    tables: tuple[Agreement, ...]
    made_otherwise: tuple[str, ...]
    """What the two were made with that is not the same."""

    @property
    def agrees(self) -> bool:
        """Whether every table and the summary have the same bits."""
        return all(table.is_same for table in self.tables)


def bundle(run: Run | Sweep | PathLike, out: PathLike | None = None, *, force: bool = False) -> Path:
    """Pack a run or a sweep into one file and return it: `out`, or NAME.fabriclab.zip in the working directory.

    Raises ResultsError if it is not a run or sweep, ArgumentError if the file exists already, OSError.
    """
    directory = run.directory if isinstance(run, Run | Sweep) else Path(run)
    file = Path(f"{directory.resolve().name}{ENDING}") if out is None else Path(out)
    if file.exists() and not force:
        raise ArgumentError("{out} {0} already exists; choose another one, or replace it with {force}", file)
    write_bundle(directory, file)
    return file


def open_bundle(file: PathLike, out: PathLike | None = None) -> Bundle:
    """Unpack a bundle into a new directory and return it. The directory has the file's name by default.

    If `file` is the directory of an unpacked bundle, that bundle is returned.

    Raises ArchiveError if the file is not a bundle or may not be unpacked, ArgumentError if the directory exists,
    OSError.
    """
    path = Path(file)
    about = read_about(path)
    if path.is_dir():
        return _opened(about, path, path / CONTENT)
    directory = Path(path.name.removesuffix(ENDING).removesuffix(".zip") or "bundle") if out is None else Path(out)
    if directory.exists() or directory.is_symlink():
        raise ArgumentError("{out} {0} already exists; name a new directory", directory)
    return _opened(about, directory, unpack_bundle(path, directory))


def _opened(about: About, directory: Path, content: Path) -> Bundle:
    return Bundle(about, directory, Sweep(content) if (content / SWEEP).is_file() else Run(content))


def reproduce(
    opened: Bundle,
    *,
    out: PathLike | None = None,
    stall_s: float = 120.0,
    trust: bool = False,
    progress: ProgressCallback | None = None,
    cancel: Interrupt | HasIsSet | None = None,
) -> Sequence[Reproduced]:
    """Repeat every run of a bundle from its plan, and return for each run whether the bits agree.

    The engine's input is made from the plan here. An algorithm in C in the plan is compiled, and runs in the virtual
    machine's kernel, if `trust` is true or that code is trusted already.

    The runs go into the directory `out`, `again` beside the bundle's content by default. Raises ConsentError if the
    plans bring code that is not trusted, EngineError if this host can't run them, ArgumentError for runs in containers,
    RunFailed, ResultsError, OSError.
    """
    with reading(opened.content.directory):
        runs = runs_of(opened.content.directory)
    tell = progress or ignored
    place = opened.directory / "again" if out is None else Path(out)
    for run in runs:
        if run.manifest.engine != "vm":
            raise ArgumentError("{0}: was measured in real time, so there are no bits to compare", run.directory)
        try:
            check_runnable(run.plan)
        except PlanError as error:
            raise ResultsError(f"{run.directory / PLAN}: {error}") from error
    made_from = fit_recorded({run.directory: run.plan for run in runs}, opened.content.directory, trust)
    tell(Begun(place, "vm", (), len(runs), 0))
    found = []
    for number, earlier in enumerate(runs, start=1):
        directory = place / f"{number}" if len(runs) > 1 else place
        result = _run_again(earlier, directory, made_from, stall_s, tell, cancel)
        tell(Ended(point_in_words(earlier.plan), result, number, len(runs)))
        if result.status == "interrupted":
            break
        if result.status in FAILED:
            raise RunFailed(result)
        later = read_run(directory)
        point = point_in_words(earlier.plan)
        with reading(earlier.directory, directory):
            tables, others = tuple(agreements(earlier, later)), tuple(made_otherwise(earlier, later))
        found.append(Reproduced(point, Run(directory), tables, others))
    return found


def _lab_files(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(directory.glob("*")) if file.is_file()}


def _run_again(
    earlier: Results,
    directory: Path,
    made_from: Artefacts,
    stall_s: float,
    tell: ProgressCallback,
    cancel: Interrupt | HasIsSet | None,
) -> RunResult:
    def work(interrupt: Interrupt) -> RunResult:
        teller = RunTeller(earlier.plan.lab, earlier.plan, tell)
        context = RunContext(
            *(
                earlier.directory / LAB,
                made_from,
                tuple(sys.argv),
                teller.around(ingest_run_logs),
                earlier.manifest.report,
            ),
            interrupt=interrupt,
            stall_s=stall_s,
            lab_files=_lab_files(earlier.directory / LAB),
        )
        return run_point(earlier.plan, directory, context, teller.event)

    with claimed(directory):
        if any(directory.iterdir()):
            raise ArgumentError("{out} {0} already exists; name a new directory", directory)
        return carried_out(work, cancel)
