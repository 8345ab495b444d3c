"""One run: write the inputs, run the engine, turn the logs into results, say in the manifest how it ended."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from fabriclab.compile import TraceError
from fabriclab.compile.cut import Cut, one_part
from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.containers import ContainerLab, Stay
from fabriclab.engine.events import EventCallback
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.watch import Outcome, Status
from fabriclab.files import explain, no_room, write_all
from fabriclab.formats.job import Live
from fabriclab.formats.plan import plan_json
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.run_directory import LAB, MANIFEST, MODULES
from fabriclab.runs.audit import Audit, audit_run
from fabriclab.runs.directory import write_inputs
from fabriclab.runs.engines import EngineName, MadeFrom, engine_name, execute, has_stock_qdiscs_only, keep_modules
from fabriclab.runs.manifest import hash_files, kernel_release, new_manifest, utc_now
from fabriclab.runs.own_commands import with_places
from fabriclab.runs.parts import execute_parts, merge_logs
from fabriclab.runs.record import Record

DONE = ("complete", "limit")
"""A run that ended so ends so again: it is not repeated."""
Keep = Literal["all", "results"]
"""What a run directory holds in the end: everything, or what reports and comparisons read."""
_NOT_RESULTS = ("machine", "nodes", "traffic", "logs", "collect")
"""What the engine was given, which the plan gives again, and what programs said."""


class IngestError(Exception):
    """What was logged can't be turned into results; the text says why."""


@dataclass(frozen=True)
class LiveRun:
    """A run that stays up."""

    held_by: socket.socket | Stay
    """The machine's end of the socket by which it is paced; of containers, how long they stay."""
    idle: bool
    """Whether the plan's own traffic is left out."""
    gather: Callable[[Path], None]
    """Puts what was started by hand among the run's logs, when the machine has ended."""


@dataclass(frozen=True)
class RunContext:
    """What is the same for all runs of a command."""

    lab_directory: Path
    artefacts: MadeFrom
    """It also says which engine runs."""
    command: tuple[str, ...]
    ingest: Callable[[Path], None]
    """Turns a run directory's raw logs into results; raises IngestError."""
    report: Mapping[str, Any] = field(default_factory=dict)
    """The experiment's wishes for the report: they go with the run."""
    collect: Sequence[tuple[str, str, Sequence[str]]] = ()
    """What else is asked in a node at the end: the output's name, the node, the command."""
    interrupt: Interrupt = field(default_factory=Interrupt)
    stall_s: float = 120.0
    live: LiveRun | None = None
    lab_files: Mapping[str, bytes] = field(default_factory=dict)
    """The lab's own files by their names, which are kept beside what the run was made of."""
    keep: Keep = "all"
    """What of a run that ended well stays."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """What the manifest says of the host beside what every run says: which worker of a cluster it is."""
    cut: Cut | None = None
    """Into which machines the lab is cut; None: it runs in one."""
    modules: Mapping[tuple[str, str], bytes] | None = None
    """The user's own algorithms as the kernel takes them, by name and file; None: they are compiled here."""

    @property
    def machines(self) -> Cut | None:
        """Into which machines the lab is cut that run at once; None: it runs in one."""
        return self.cut if self.cut is not None and len(self.cut.parts) > 1 else None


@dataclass(frozen=True)
class RunResult:
    """How a run ended; `message` is empty when there is nothing to say."""

    directory: Path
    status: Status
    message: str
    wall_s: float = 0.0
    virtual_ns: int = 0
    full: bool = False
    """Whether the disk had no room for it: what is run next will fail, too."""
    engine: EngineName = "vm"
    """The one that ran it: it says which clock `virtual_ns` is of."""


def run_point(plan: Plan, directory: Path, context: RunContext, on_event: EventCallback) -> RunResult:
    """Run a plan; everything goes into `directory`, which is made. What can be kept is kept, whatever happens.

    Raises TraceError for a bad flow trace, OSError when the directory can't be made or written to: nothing is in it
    then.
    """
    directory.mkdir(parents=True, exist_ok=True)
    context = replace(context, cut=_cut(plan, context))
    engine = engine_name(context.artefacts)
    text = plan_json(plan)
    manifest = new_manifest(plan, context.artefacts, context.command, context.report)
    manifest.host.update(context.where)
    try:
        record = Record(directory, manifest, text)
    except OSError as error:
        return _refused(directory, error)
    with record:
        try:
            stock = has_stock_qdiscs_only(engine)
            live: Live | None = None if context.live is None else {"idle": context.live.idle}
            write_inputs(
                *(plan, context.lab_directory, directory),
                stock=stock,
                collect=context.collect,
                live=live,
                cut=context.cut,
                text=text,
            )
            write_all({directory / LAB / name: content for name, content in context.lab_files.items()})
        except TraceError as error:
            record.note("failed", str(error))
            raise
        except OSError as error:
            # Half of the inputs are of no use, and make room.
            empty_run(directory)
            return _refused(directory, error)
        try:
            _put_modules(plan, context, directory)
            outcome = _execute(plan, context, directory, on_event)
            if context.live is not None:
                context.live.gather(directory)
        except (EngineError, OSError) as error:
            outcome = Outcome("failed", explain(error) if isinstance(error, OSError) else str(error), 0, 0.0)
            if not (directory / "events.jsonl").exists():  # it never began
                record.note(outcome.status, outcome.message)
                full = isinstance(error, OSError) and no_room(error)
                return RunResult(directory, outcome.status, outcome.message, full=full, engine=engine)
        return replace(_finish(plan, directory, record, outcome, context), engine=engine)


def _cut(plan: Plan, context: RunContext) -> Cut | None:
    """Return into which machines the lab is cut; None: it runs in containers."""
    return (context.cut or one_part(plan)) if isinstance(context.artefacts, Artefacts) else None


def _execute(plan: Plan, context: RunContext, directory: Path, on_event: EventCallback) -> Outcome:
    if context.machines is None or not isinstance(context.artefacts, Artefacts):
        held_by = None if context.live is None else context.live.held_by
        return execute(plan, context.artefacts, directory, on_event, context.interrupt, context.stall_s, held_by)
    outcome = execute_parts(
        *(plan, context.machines, context.artefacts, directory), on_event, context.interrupt, context.stall_s
    )
    merge_logs(plan, directory, context.lab_directory)
    return outcome


def _put_modules(plan: Plan, context: RunContext, directory: Path) -> None:
    if context.modules is None:
        keep_modules(plan, context.artefacts, context.lab_directory, directory)
        return
    for algorithm in plan.algorithms:
        module = directory / MODULES / f"{algorithm.module}.ko"
        module.write_bytes(context.modules[algorithm.module, algorithm.file])


def keep_results(directory: Path) -> None:
    """Remove of a run directory what no report and no comparison reads. Raises OSError."""
    for name in _NOT_RESULTS:
        shutil.rmtree(directory / name, ignore_errors=True)


def _refused(directory: Path, error: OSError) -> RunResult:
    """Return the result of a run for whose inputs there was no room. Raises the error if it is another one."""
    if not no_room(error):
        raise error
    return RunResult(directory, "failed", f"{explain(error)}; nothing was run, and no file of it is left", full=True)


def _finish(plan: Plan, directory: Path, record: Record, outcome: Outcome, context: RunContext) -> RunResult:
    status, message, full = outcome.status, with_places(outcome.message, plan), outcome.full
    manifest = record.manifest
    manifest.ended = utc_now()
    manifest.wall_s = round(outcome.wall_s, 3)
    manifest.virtual_s = outcome.virtual_ns / 1e9
    manifest.versions["kernel"] = kernel_release(directory)
    manifest.add(outcome.figures)
    audit = _audit(plan, directory, status, context)
    manifest.add(audit.figures())
    status = _worse(status) if audit.missing else status
    message = "\n".join(filter(None, [message, audit.message()]))
    try:
        # The results depend on how the run ended, so the manifest is first; their hashes come after.
        record.note(status, message)
        if any((directory / "raw").glob("**/*.csv")):
            try:
                context.ingest(directory)
            except IngestError as error:
                status, message = _worse(status), _join(message, f"the logs can't be turned into results: {error}")
        if context.keep == "results" and status in DONE:
            keep_results(directory)
        manifest.files = hash_files(directory)
        record.note(status, message)
    except (OSError, MemoryError) as error:
        status, message = _worse(status), _join(message, _kept(directory, error))
        full = full or (isinstance(error, OSError) and no_room(error))
        manifest.files = {}
        # Should even this fail, the manifest says how the machine ended.
        with suppress(OSError):
            record.note(status, message)
    return RunResult(directory, status, message, outcome.wall_s, outcome.virtual_ns, full)


def _audit(plan: Plan, directory: Path, status: Status, context: RunContext) -> Audit:
    if isinstance(context.artefacts, ContainerLab):
        return Audit(why_not="the host's kernel does not count the frames that it drops")
    if context.live is not None:
        return Audit(why_not="a lab that stays up may be changed in any way")
    if status not in ("complete", "limit", "stopped"):
        return Audit(why_not="the run did not come to its end")
    return audit_run(plan, directory, context.cut)


def _kept(directory: Path, error: OSError | MemoryError) -> str:
    """Return what became of the results, and what the user can do."""
    why = explain(error) if isinstance(error, OSError) else "there is not enough memory"
    return f"{why}; the raw logs are kept, and `fabriclab report {directory}` makes the results when this is repaired"


def _worse(status: Status) -> Status:
    return "failed" if status in ("complete", "limit", "starved", "stopped") else status


def _join(first: str, second: str) -> str:
    return f"{first}\n{second}" if first and second not in first else second


def remove_run(directory: Path) -> None:
    """Remove a run directory of ours; anything else is left alone.

    Raises FileExistsError for a directory that is not one.
    """
    if directory.exists():
        empty_run(directory)
        directory.rmdir()


def empty_run(directory: Path) -> None:
    """Remove all that a run directory of ours holds, but not itself: it may be held (`claimed`).

    Raises FileExistsError likewise.
    """
    if any(directory.iterdir()) and not (directory / MANIFEST).is_file():
        raise FileExistsError(f"{directory} exists and is not a run directory; choose another one (--out)")
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
