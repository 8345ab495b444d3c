"""One run of one point of a lab."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fabriclab.api.cancel import HasIsSet, carried_out
from fabriclab.api.cores import paying_parts
from fabriclab.api.engine import fit_engine
from fabriclab.api.failures import FAILED, RunFailed
from fabriclab.api.idle_wishes import unseen_before_runs
from fabriclab.api.ingest import ingest_run_logs
from fabriclab.api.kept_lab import kept_files
from fabriclab.api.lab import Lab, PathLike, Settings, check_seed, loaded, written_settings
from fabriclab.api.own_algorithms import compile_own
from fabriclab.api.progress import Begun, Ended, Notice, ProgressCallback, RunTeller, ignored
from fabriclab.api.warnings import sentences_before_runs
from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.interrupt import Interrupt
from fabriclab.errors import ArgumentError
from fabriclab.formats.plan import Plan
from fabriclab.lab.reading.document import ScalarValue
from fabriclab.resolve import Resolver
from fabriclab.resolve.where_clauses import told_of_idle_clauses
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.runs.claim import claimed, new_directory
from fabriclab.runs.engines import EngineName, MadeFrom, plan_for
from fabriclab.runs.parts import MOST_PARTS, Parts, parts_for
from fabriclab.runs.point import empty_run
from fabriclab.runs.sweep import slug

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabriclab.api.measured import Run


def run(
    lab: Lab | PathLike,
    *,
    set: Settings | None = None,
    seed: int | None = None,
    out: PathLike | None = None,
    force: bool = False,
    engine: EngineName = "vm",
    stall_s: float = 120.0,
    cores: int | Literal["auto"] = "auto",
    trust: bool = False,
    progress: ProgressCallback | None = None,
    cancel: Interrupt | HasIsSet | None = None,
) -> Run:
    """Run one point of a lab, wait until it has ended, and return it.

    `lab` is a Lab, a directory, or the name of a lab. `set` changes parameters, `variant`, or any key of the
    experiment. `seed` determines everything random: the same seed gives the same run, bit by bit. Everything is written
    to the directory `out`, by default a new one below `runs/`; `force` replaces an existing run. `stall_s` is the wall
    time in seconds without progress after which a virtual machine counts as hung. `cores`: the lab is divided into this
    number of parts, which run in step, each in its own virtual machine (docs/cores.md); the bits are the same for each.
    "auto" uses as many as this host has and the lab gains from. With `trust`, code that the lab
    brings and that runs outside its nodes may run (docs/trust.md): algorithms in C, and containers. A trusted lab does
    not need it.
    `progress` is called with events (`Begun`, `Notice`, `Progress`, `Ended`). `cancel` stops the run: a `Cancel`, or an
    event of `threading`; the returned run then has the status `interrupted`. Without `cancel`, Ctrl-C stops the run in
    order and then raises KeyboardInterrupt.

    Raises LabError for mistakes in the lab or in `set`, ConsentError if the lab brings code that is not trusted,
    ArgumentError for other arguments, TraceError for an unusable flow trace of the user, EngineError if this host can't
    run the lab, RunFailed if the run fails, OSError. Nothing is printed.
    """
    tell = progress or ignored
    check_seed(seed)
    chosen = loaded(lab)
    written = chosen.written
    resolver = Resolver(written)

    def planned(wanted: Mapping[str, str | ScalarValue]) -> Plan:
        return plan_for(resolver.resolve(wanted, seed), engine)

    plan = planned(written_settings(chosen, set))
    idle = told_of_idle_clauses(written, resolver, plan.parameters)
    made_from = fit_engine(engine, written, [plan], trust)
    parts = _parts(plan, cores, made_from, written.directory)
    if isinstance(made_from, Artefacts):
        compile_own([plan], made_from, written.directory)
    warnings = [
        *sentences_before_runs(written.topology, [plan.warnings]),
        *unseen_before_runs(written, [plan], planned),
        *idle,
    ]
    directory = Path(out) if out is not None else new_run_directory(plan.lab, f"{{time}}-{slug(plan.settings)}")

    def work(interrupt: Interrupt) -> RunResult:
        teller = RunTeller(plan.lab, plan, tell)
        command, ingest = tuple(sys.argv), teller.around(ingest_run_logs)
        context = RunContext(
            *(written.directory, made_from, command, ingest, written.report),
            interrupt=interrupt,
            stall_s=stall_s,
            lab_files=kept_files(written),
            cut=parts.cut,
        )
        return run_point(plan, directory, context, teller.event)

    with claimed(directory, ours=out is None):
        _make_room(directory, force)
        tell(Begun(directory, engine, tuple(warnings), 1, 0))
        if parts.why and (cores != "auto" or (parts.cut is not None and len(parts.cut.parts) > 1)):
            tell(Notice(parts.why))
        result = carried_out(work, cancel)
        tell(Ended(plan.lab, result, 1, 1))
    if result.status in FAILED:
        raise RunFailed(result)
    from fabriclab.api.measured import Run

    return Run(result.directory)


def _parts(plan: Plan, cores: int | str, made_from: MadeFrom, lab_directory: Path) -> Parts:
    if cores == "auto":
        can = isinstance(made_from, Artefacts)
        return paying_parts(plan, len(os.sched_getaffinity(0)), lab_directory) if can else Parts(None)
    if isinstance(cores, str) or not 1 <= cores <= MOST_PARTS:
        raise ArgumentError(
            "{cores} {0}: a lab can be divided into 1 to {1} parts; write such a number or auto", cores, MOST_PARTS
        )
    if not isinstance(made_from, Artefacts):
        raise ArgumentError("{cores} {0}: containers run on all cores by themselves, in real time", cores)
    return parts_for(plan, cores, lab_directory)


def new_run_directory(lab: str, name: str) -> Path:
    """Make a new directory for one or several runs below `runs/`; its name begins with the time and is unique."""
    return new_directory(Path("runs") / lab / name.format(time=datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")))


def _make_room(directory: Path, force: bool) -> None:
    if not any(directory.iterdir()):
        return
    if not force:
        raise ArgumentError("{out} {0} already exists; choose another one, or replace it with {force}", directory)
    try:
        empty_run(directory)
    except FileExistsError:
        text = "{out} {0}: is not a run directory, so {force} does not replace it; choose another one"
        raise ArgumentError(text, directory) from None
