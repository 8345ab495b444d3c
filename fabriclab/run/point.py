"""One run: write the inputs, run the engine, turn the logs into results, say in the manifest how it ended."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.compile import TraceError
from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.events import EventCallback
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.watch import Outcome, Status
from fabriclab.plan.model import Plan
from fabriclab.run.directory import RUN_MARK, write_inputs, write_json
from fabriclab.run.engines import MadeFrom, engine_name, execute, has_stock_qdiscs_only
from fabriclab.run.manifest import hash_files, kernel_release, new_manifest, utc_now

_FULL = (errno.ENOSPC, errno.EDQUOT)


class IngestError(Exception):
    """What was logged can't be turned into results; the text says why."""


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


@dataclass(frozen=True)
class RunResult:
    """How a run ended; `message` is empty when there is nothing to say."""

    directory: Path
    status: Status
    message: str
    wall_s: float = 0.0
    virtual_ns: int = 0


def run_point(plan: Plan, directory: Path, context: RunContext, on_event: EventCallback) -> RunResult:
    """Run a plan; everything goes into `directory`, which is made. What can be kept is kept, whatever happens.

    Raises TraceError for a bad flow trace, OSError when the directory can't be made.
    """
    directory.mkdir(parents=True, exist_ok=True)
    manifest = new_manifest(plan, context.artefacts, context.command, context.report)
    try:
        write_json(directory / RUN_MARK, manifest)
        stock = has_stock_qdiscs_only(engine_name(context.artefacts))
        write_inputs(plan, context.lab_directory, directory, stock=stock, collect=context.collect)
        outcome = execute(plan, context.artefacts, directory, on_event, context.interrupt, context.stall_s)
    except (EngineError, TraceError, OSError) as error:
        message = str(error)
        if isinstance(error, OSError) and error.errno in _FULL:
            message = f"the disk that holds {directory} is full; nothing was run"
        _note_what_fits(directory, manifest, "failed", message)
        if isinstance(error, TraceError):
            raise
        return RunResult(directory, "failed", message)
    return _finish(directory, manifest, outcome, context.ingest)


def _finish(directory: Path, manifest: dict[str, Any], outcome: Outcome, ingest: Callable[[Path], None]) -> RunResult:
    status, message = outcome.status, outcome.message
    manifest["ended"] = utc_now()
    manifest["wall_s"] = round(outcome.wall_s, 3)
    manifest["virtual_s"] = outcome.virtual_ns / 1e9
    manifest["versions"]["kernel"] = kernel_release(directory)
    manifest.update(outcome.figures)
    try:
        # The results depend on how the run ended, so the manifest is first; their hashes come after.
        _write_status(directory, manifest, status, message)
        if any((directory / "raw").glob("**/*.csv")):
            try:
                ingest(directory)
            except IngestError as error:
                status, message = _worse(status), _join(message, f"the logs can't be turned into results: {error}")
        manifest["files"] = hash_files(directory)
        _write_status(directory, manifest, status, message)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        status, message = _worse(status), _join(message, f"the disk that holds {directory} is full; the raw logs are kept")
        _note_what_fits(directory, manifest, status, message)
    return RunResult(directory, status, message, outcome.wall_s, outcome.virtual_ns)


def _write_status(directory: Path, manifest: dict[str, Any], status: Status, message: str) -> None:
    manifest["status"], manifest["message"] = status, message
    write_json(directory / RUN_MARK, manifest)


def _note_what_fits(directory: Path, manifest: dict[str, Any], status: Status, message: str) -> None:
    """Write the manifest, on a full disk perhaps: what was half written makes room. Should it not fit, the first one stands: unfinished."""
    for partial in [*directory.glob("*.part"), *directory.glob("*.partial")]:
        partial.unlink(missing_ok=True)
    try:
        _write_status(directory, manifest, status, message)
    except OSError:
        (directory / f"{RUN_MARK}.partial").unlink(missing_ok=True)


def _worse(status: Status) -> Status:
    return "failed" if status in ("complete", "limit", "starved", "stopped") else status


def _join(first: str, second: str) -> str:
    return f"{first}\n{second}" if first and second not in first else second


def remove_run(directory: Path) -> None:
    """Remove a run directory of ours; anything else is left alone. Raises FileExistsError for a directory that is not one."""
    if directory.exists():
        empty_run(directory)
        directory.rmdir()


def empty_run(directory: Path) -> None:
    """Remove all that a run directory of ours holds, but not itself: it may be held (`claimed`). Raises FileExistsError likewise."""
    if any(directory.iterdir()) and not (directory / RUN_MARK).is_file():
        raise FileExistsError(f"{directory} exists and is no run directory: choose another one (--out)")
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
