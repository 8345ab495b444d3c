"""What a worker of a cluster does: these functions are called there, by Dask.

A worker is any process with this package of the same version. What it is told of a sweep, it keeps in memory; what it
writes lies in Dask's own directory for it, which Dask removes when the worker is gone, however it went.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import shutil
import threading
import time
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

from distributed import get_worker

from fabriclab.cluster import artefact_transfer, results_transfer
from fabriclab.cluster.messages import (
    Artefact,
    PointAnswer,
    PointTask,
    SweepContext,
    UnfitError,
    UnknownSweepError,
    WorkerFacts,
)
from fabriclab.engine.artefacts import PROCESSOR, wrong_processor
from fabriclab.engine.events import CLOCK, Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.errors import FabriclabError
from fabriclab.files import below, explain, no_room
from fabriclab.formats.plan import Plan, PlanError, parse_plan_json
from fabriclab.formats.plan.reading import LARGEST_PLAN_BYTES
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.runs.record import recorded

MOST_AT_ONCE_BYTES = 64 << 20
"""A larger run directory is sent in pieces."""
_LIBRARIES = ("polars", "numpy")
_ASKED_S = 0.2


@dataclass
class _Known:
    """A sweep that this worker takes part in."""

    context: SweepContext
    scratch: Path
    where: Mapping[str, Any]
    stopping: bool = False
    running: dict[str, Interrupt] = field(default_factory=dict)

    @property
    def lab(self) -> Path:
        """The directory that stands for the lab's: its flow traces lie there."""
        return self.scratch / "lab"


_known: dict[str, _Known] = {}
_lock = threading.Lock()


class _Released(Interrupt):
    """Is requested when the sweep stops; at once when nobody waits for the run any more."""

    def __init__(self, worker: Any, key: str) -> None:
        super().__init__()
        self._worker, self._key = worker, key
        self._asked_s = 0.0
        self._is_released = False

    @property
    def requested(self) -> bool:
        return super().requested or self._released()

    @property
    def at_once(self) -> bool:
        return super().at_once or self._released()

    def _released(self) -> bool:
        # Cancelled, or its client is gone: Dask forgets the task, or waits for nothing but its end.
        if not self._is_released and time.monotonic() - self._asked_s > _ASKED_S:
            self._asked_s = time.monotonic()
            task = self._worker.state.tasks.get(self._key)
            self._is_released = task is None or task.state not in ("executing", "long-running")
        return self._is_released


def look(context: SweepContext) -> WorkerFacts:
    """Hear of a sweep, and tell what this worker is like. Raises UnfitError."""
    if processor := wrong_processor():
        raise UnfitError(f"its processor is {processor}; the virtual machine runs only on {PROCESSOR}")
    worker = get_worker()
    scratch = Path(worker.local_directory) / context.id
    try:
        (scratch / "lab").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnfitError(explain(error)) from error
    where = {"name": platform.node(), "worker": worker.address, "worker_name": str(worker.name)}
    with _lock:
        _known[context.id] = _Known(context, scratch, where)
    missing = artefact_transfer.lacking(context.artefacts)
    return WorkerFacts(
        platform.node(), sources_hash(), library_versions(), missing, _reads(context.shared) == context.id
    )


def library_versions() -> dict[str, str]:
    """Return the versions of what writes results."""
    return {"Python": platform.python_version(), **{name: metadata.version(name) for name in _LIBRARIES}}


def _reads(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


@cache
def sources_hash() -> str:
    """Return a hash of the package's own sources: two of one version number may differ."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if not name.startswith("shipped/"):
            digest.update(f"{name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def take_artefact(sweep: str, artefact: Artefact, *pieces: bytes) -> None:
    """Put an artefact that came in pieces into this worker's cache. Raises UnfitError."""
    artefact_transfer.unpack(artefact, pieces, _known_as(sweep).scratch)


def take_trace(sweep: str, name: str, content: bytes) -> None:
    """Keep a flow trace of the lab's. Raises UnfitError."""
    try:
        path = below(_known_as(sweep).lab, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise UnfitError(explain(error)) from error


def prove(sweep: str, plan: bytes) -> dict[str, str]:
    """Run the reference point; return the hash of each file that it leaves. Raises UnfitError where it does not run."""
    known = _known_as(sweep)
    directory = known.scratch / f"known-{uuid.uuid4().hex[:8]}"
    try:
        result = _run(known, plan_of(plan), directory, Interrupt(), ignore)
        if result.status != "complete":
            raise UnfitError(f"the reference point ended with {result.status}: {result.message}")
        return recorded(directory).files
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def ignore(_event: Event) -> None:
    """Take no notice."""


def run_point_task(task: PointTask) -> PointAnswer:
    """Run one point. Raises UnknownSweepError where this worker does not know the sweep."""
    known = _known_as(task.sweep)
    worker = get_worker()
    key = str(worker.get_current_task())
    teller = _Teller(known.context, task.number, worker)
    if known.stopping:
        return PointAnswer("interrupted", "", 0.0, 0, full=False)
    interrupt = _Released(worker, key)
    known.running[key] = interrupt
    teller.tell("started", 0, "")
    directory = known.scratch / f"run-{uuid.uuid4().hex[:8]}"
    try:
        result = _run(known, plan_of(task.plan), directory, interrupt, teller.event, teller)
        return _sent(result, directory, task, known)
    except OSError as error:
        return PointAnswer("failed", explain(error), 0.0, 0, full=no_room(error))
    except PlanError as error:
        return PointAnswer("failed", str(error), 0.0, 0, full=False)
    finally:
        known.running.pop(key, None)
        shutil.rmtree(directory, ignore_errors=True)


def _run(
    known: _Known, plan: Plan, directory: Path, interrupt: Interrupt, tell: Any, teller: _Teller | None = None
) -> RunResult:
    """Run a plan; what the package itself refuses is a failed run, as in a sweep on this host."""
    shared = known.context
    context = RunContext(
        *(known.lab, artefact_transfer.placed(shared.artefacts), shared.command),
        ingest=shared.ingest if teller is None else partial(teller.around, shared.ingest),
        report=shared.report,
        interrupt=interrupt,
        stall_s=shared.stall_s,
        lab_files=shared.lab_files,
        keep=shared.keep,
        where=known.where,
        modules=shared.modules,
    )
    try:
        return run_point(plan, directory, context, tell)
    except FabriclabError as error:
        return RunResult(directory, "failed", str(error))


def _sent(result: RunResult, directory: Path, task: PointTask, known: _Known) -> PointAnswer:
    """Return what is sent of a run."""
    answer = partial(PointAnswer, result.status, result.message, result.wall_s, result.virtual_ns)
    if result.full:
        return answer(full=True)
    if task.part:
        _copy(directory, Path(task.part))
        return answer(full=False)
    archive = known.scratch / f"{directory.name}.tar.gz"
    try:
        with archive.open("wb") as file:
            results_transfer.pack(directory, file)
        if archive.stat().st_size > MOST_AT_ONCE_BYTES:
            return answer(full=False, rest_path=str(archive))
        content = archive.read_bytes()
    except BaseException:
        archive.unlink(missing_ok=True)
        raise
    archive.unlink()
    return answer(full=False, archive=content)


def _copy(directory: Path, part: Path) -> None:
    """Copy a run directory. Raises OSError; nothing is left then."""
    try:
        shutil.copytree(directory, part)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        full = next((code for code in (errno.ENOSPC, errno.EDQUOT) if f"[Errno {code}]" in str(error)), None)
        if full is not None and error.errno is None:  # what copytree collects of all files
            raise OSError(full, os.strerror(full), str(part.parent)) from error
        raise


def read_piece(path: str, offset: int) -> bytes:
    """Return a piece of a large run directory's archive; at its end, nothing, and the archive is removed."""
    with Path(path).open("rb") as file:
        file.seek(offset)
        piece = file.read(artefact_transfer.PIECE_BYTES)
    if not piece:
        Path(path).unlink()
    return piece


def stop(sweep: str) -> None:
    """Stop a sweep's runs in order; those that come after do not begin."""
    known = _known.get(sweep)
    if known is not None:
        known.stopping = True
        for interrupt in list(known.running.values()):
            interrupt.request()


def leave(sweep: str) -> None:
    """Forget a sweep, and remove what is left of it here."""
    with _lock:
        known = _known.pop(sweep, None)
    if known is not None:
        shutil.rmtree(known.scratch, ignore_errors=True)


class _Teller:
    """Tells the sweep how a run gets on, not too often."""

    def __init__(self, context: SweepContext, number: int, worker: Any) -> None:
        self._context, self._number, self._worker = context, number, worker
        self._told_s = 0.0

    def event(self, event: Event) -> None:
        """Tell an event that says how far the run is."""
        is_progress = event.name in ("progress", CLOCK)
        if is_progress and time.monotonic() - self._told_s < self._context.tell_s:
            return
        if is_progress or event.name in ("phase", "epoch"):
            self.tell(event.name, event.t_ns, event.text("phase"))

    def around(self, ingest: Any, directory: Path) -> None:
        """Turn logs into results, which is told as a phase."""
        self.tell("phase", 0, "results")
        ingest(directory)

    def tell(self, name: str, t_ns: int, phase: str) -> None:
        """Tell it now."""
        self._told_s = time.monotonic()
        self._worker.log_event(self._context.topic, [self._number, name, t_ns, phase])


def _known_as(sweep: str) -> _Known:
    known = _known.get(sweep)
    if known is None:
        raise UnknownSweepError(sweep)
    return known


def plan_of(content: bytes) -> Plan:
    """Return the plan of an task. Raises PlanError."""
    try:
        return parse_plan_json(zlib.decompressobj().decompress(content, LARGEST_PLAN_BYTES + 1))
    except zlib.error as error:
        raise PlanError(f"the plan was damaged in transfer: {error}") from error
