"""A sweep's points to the workers of a cluster, and their run directories back to the sweep.

Every worker that has joined has as many points as it has threads, and one more while many wait, so that it never waits
for a message. So the scheduler knows a few points a worker, however many the sweep has, and whoever is lost with a
worker is known: it goes elsewhere.
"""

from __future__ import annotations

import queue
import shutil
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.cluster import on_worker, results_transfer
from fabriclab.cluster.admission import Admission, packed_plan
from fabriclab.cluster.messages import (
    DaskClient,
    DaskFuture,
    PointAnswer,
    PointTask,
    SweepContext,
    UnknownSweepError,
    let_go,
)
from fabriclab.cluster.workers import Worker, Workers
from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.events import Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.files import explain, no_room
from fabriclab.runs import PointState, RunResult, Sweep
from fabriclab.runs.point import DONE

MOST_FAILURES = 2
"""So often a point fails before it is reported as failed."""
MOST_LOSSES = 4
"""So many workers are lost under a point before it counts as what kills them."""
_WAIT_S = 0.1
_LOOKS_S = 0.5
"""How often it is asked which workers there are."""
_GIVES_UP_S = 15.0
"""How long the scheduler may be silent."""
_FETCHERS = 4


@dataclass(eq=False)
class _Course:
    """A point, and what became of it so far."""

    number: int
    point: PointState
    failures: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    worker: Worker | None = None
    future: DaskFuture | None = None
    part: Path | None = None
    started: bool = False
    fetched: bool = False
    """Whether its run directory is on its way back."""


class Dispatch:
    """Runs the points of a sweep that are not done on a cluster."""

    def __init__(
        self,
        sweep: Sweep,
        client: DaskClient,
        context: SweepContext,
        admission: Admission,
        interrupt: Interrupt,
        jobs: int | None,
        on_event: Callable[[PointState, Event], None],
        on_end: Callable[[PointState, RunResult], None],
        say: Callable[[str], None],
    ) -> None:
        """Take what is told to whom: `on_event` and `on_end` as `run_sweep` has them, `say` takes sentences."""
        self._sweep, self._client, self._context = sweep, client, context
        self._interrupt, self._jobs, self._say = interrupt, jobs, say
        self._on_event, self._on_end = on_event, on_end
        self._courses = [_Course(number, point) for number, point in enumerate(sweep.points)]
        self._waiting = deque(course for course in self._courses if not course.point.reused)
        self._open = len(self._waiting)
        self._running: set[_Course] = set()
        self._news: queue.SimpleQueue[tuple[_Course, DaskFuture, RunResult | Exception | None]] = queue.SimpleQueue()
        """Runs that have ended on their workers (None), and those whose run directories are here."""
        self._fetchers = ThreadPoolExecutor(_FETCHERS, thread_name_prefix="fabriclab-fetch")
        self._workers = Workers(client, admission, say)
        self._heard_s = time.monotonic()
        self._looks_s = 0.0
        self._stopping = False

    def run(self) -> None:
        """Run the points. Raises EngineError where no worker can, or the scheduler is gone."""
        self._sweep.directory.mkdir(parents=True, exist_ok=True)
        results_transfer.clear_parts(self._sweep.directory / "points")
        self._sweep.write()
        self._client.subscribe_topic(self._context.topic, self._hear)
        try:
            while self._open and not self._interrupt.at_once:
                self._look_around()
                if (self._interrupt.requested or self._sweep.full) and not self._stopping:
                    self._stop()
                if self._stopping and not self._running:
                    break
                if self._is_connected():
                    self._hand_out()
                self._collect()
        finally:
            self._sweep.conclude()
            self._close()
            results_transfer.clear_parts(self._sweep.directory / "points")

    def _close(self) -> None:
        for course in list(self._running):
            self._forget(course)
        self._workers.close()
        self._fetchers.shutdown(wait=True, cancel_futures=True)
        if not self._is_connected():
            return
        self._client.unsubscribe_topic(self._context.topic)
        if self._workers.addresses():
            self._client.run(on_worker.leave, self._context.id, workers=self._workers.addresses(), on_error="ignore")

    def _is_connected(self) -> bool:
        return bool(self._client.status == "running")

    def _look_around(self) -> None:
        """See which workers have come and gone. Raises EngineError where nothing can go on."""
        now_s = time.monotonic()
        if now_s - self._looks_s < _LOOKS_S:
            return
        self._looks_s = now_s
        try:
            # `scheduler_info` may have no workers: what is asked now and then in the background overwrites its answer.
            present: dict[str, int] = dict(self._client.nthreads())
            self._heard_s = time.monotonic()
        except Exception as error:  # of a class that Dask's versions do not share
            self._lost_scheduler(str(error) or "nobody answers")
            return
        if not self._is_connected():
            self._lost_scheduler("the connection is closed")
            return
        for worker in self._workers.look(present):
            self._lose(worker)
        if not self._workers.can_go_on(present) and not self._running:
            reasons = "; ".join(self._workers.reasons()[:3])
            raise EngineError(
                f"no worker of the cluster can run points: {reasons}; finished points are kept, and the same command "
                "continues"
            )

    def _lost_scheduler(self, why: str) -> None:
        if time.monotonic() - self._heard_s > _GIVES_UP_S or self._client.status in ("closed", "closing"):
            raise EngineError(
                f"the cluster's scheduler no longer answers ({why}); finished points are kept, and the same "
                "command continues when it is back"
            )

    def _stop(self) -> None:
        """Let runs end in task; nothing new begins."""
        self._stopping = True
        self._waiting.clear()
        if self._running:
            self._fetchers.submit(
                self._client.run, on_worker.stop, self._context.id, workers=self._workers.addresses(), on_error="ignore"
            )

    def _lose(self, worker: Worker) -> None:
        """A worker is gone: what it had goes to others, ahead of what has not begun."""
        running = [course for course in self._running if course.worker is worker]
        if running:
            self._say(f"{worker} is lost; its points run again elsewhere: {_points(len(running))}")
        for course in running:
            if course.fetched and course.future is not None:
                let_go(course.future)  # what is here already counts, and the rest can't be had: `_settle` sees
            else:
                self._begin_again(course, worker)

    def _begin_again(self, course: _Course, worker: Worker) -> None:
        """A worker was lost that had a point."""
        was_running = course.started
        self._forget(course)
        if was_running:
            course.lost.append(str(worker))
        if len(course.lost) >= MOST_LOSSES:
            text = f"{MOST_LOSSES} workers were lost while they ran this point: {', '.join(course.lost)}"
            self._end(course, RunResult(course.point.directory, "failed", text))
        elif not self._stopping:
            self._waiting.appendleft(course)

    def _forget(self, course: _Course) -> None:
        """Take a point from its worker, whatever that does with it."""
        self._running.discard(course)
        if course.future is not None:
            let_go(course.future)
        if course.worker is not None:
            course.worker.has -= 1
        course.future, course.worker, course.started, course.fetched = None, None, False, False
        course.point.status = "waiting"

    def _hand_out(self) -> None:
        """Give waiting points to workers, to the one first that has the fewest for its threads."""
        for worker in self._workers.free(ahead=len(self._waiting) > self._workers.threads):
            if not self._waiting or (self._jobs is not None and len(self._running) >= self._jobs):
                return
            course = self._next_for(worker)
            if course is not None:
                self._submit(course, worker)

    def _next_for(self, worker: Worker) -> _Course | None:
        """Return the next point for a worker; one that failed there waits for another worker, if there is one."""
        for course in self._waiting:
            if str(worker) not in course.failures or len(self._workers.ready) == 1:
                self._waiting.remove(course)
                return course
        return None

    def _submit(self, course: _Course, worker: Worker) -> None:
        directory = course.point.directory
        course.part = directory.with_name(f"{directory.name}{results_transfer.PART}-{uuid.uuid4().hex[:8]}")
        directory.parent.mkdir(parents=True, exist_ok=True)
        part = str(course.part.resolve()) if worker.shares else ""
        task = PointTask(self._context.id, course.number, packed_plan(course.point.plan), part)
        course.worker, course.started = worker, False
        worker.has += 1
        self._running.add(course)
        self._sweep.note(course.point, "running")
        future = self._client.submit(
            on_worker.run_point_task,
            task,
            workers=[worker.address],
            allow_other_workers=False,
            pure=False,
            key=f"{directory.name}-{uuid.uuid4().hex[:8]}",
        )
        course.future = future
        future.add_done_callback(lambda done: self._news.put((course, done, None)))

    def _hear(self, event: tuple[float, Any]) -> None:
        """Pass on what a worker tells of a run. Called by Dask, in a thread of its own."""
        number, name, time_ns, phase = event[1]
        course = self._courses[number]
        if course.worker is not None:
            course.started = True
            self._on_event(course.point, Event(name, time_ns, {"phase": phase} if phase else {}))

    def _collect(self) -> None:
        """Wait a moment for what ends, and bring its run directory here."""
        for course, future, outcome in _drained(self._news, _WAIT_S):
            if course.future is not future:
                continue  # it was taken from its worker meanwhile
            if outcome is None:
                course.fetched = True
                self._fetchers.submit(self._fetch, course, future)
            else:
                self._settle(course, outcome)

    def _fetch(self, course: _Course, future: DaskFuture) -> None:
        """Bring a run directory here, to a place beside its own. Runs in a thread of its own."""
        outcome: RunResult | Exception
        try:
            answer: PointAnswer = future.result()
            outcome = RunResult(
                *(course.point.directory, answer.status, answer.message, answer.wall_s, answer.virtual_ns),
                full=answer.full,
            )
            if course.worker is not None and course.part is not None and (answer.archive or answer.rest_path):
                results_transfer.unpack(self._pieces(answer, course.worker.address), course.part)
        except Exception as error:  # Dask raises whatever the worker did; `_settle` tells it, this thread has no caller
            outcome = error
        self._news.put((course, future, outcome))

    def _pieces(self, answer: PointAnswer, address: str) -> Iterator[bytes]:
        if answer.archive:
            yield answer.archive
            return
        offset = 0
        while True:
            piece: bytes = self._client.run(on_worker.read_piece, answer.rest_path, offset, workers=[address])[address]
            if not piece:
                return
            yield piece
            offset += len(piece)

    def _settle(self, course: _Course, outcome: RunResult | Exception) -> None:
        """Decide what becomes of a point whose run has ended, or of which Dask says that it can't be had."""
        worker, part = course.worker, course.part
        if worker is None or part is None:
            raise AssertionError("a point that has ended had a worker")
        if isinstance(outcome, UnknownSweepError):
            self._workers.start_again(worker)
            self._again(course)
        elif isinstance(outcome, Exception) and (self._is_gone(worker) or _is_dasks(outcome)):
            self._begin_again(course, worker)
        elif isinstance(outcome, OSError) and no_room(outcome):
            self._sweep.full = True
            self._forget(course)
            self._end(course, RunResult(course.point.directory, "failed", explain(outcome), full=True))
        elif isinstance(outcome, RunResult) and outcome.full:
            self._workers.leave_out(worker, outcome.message)
            self._again(course)
        else:
            self._conclude(course, worker, part, outcome)

    def _is_gone(self, worker: Worker) -> bool:
        return self._workers.by_address.get(worker.address) is not worker

    def _conclude(self, course: _Course, worker: Worker, part: Path, outcome: RunResult | Exception) -> None:
        if isinstance(outcome, Exception):
            text = f"{type(outcome).__name__}: {outcome}"
            outcome = RunResult(course.point.directory, "failed", text)
        if outcome.status in DONE or self._stopping or len(course.failures) + 1 >= MOST_FAILURES:
            if course.failures:
                told = "it failed before" if outcome.status in DONE else "it failed twice"
                message = f"{outcome.message}\n({told}: on {', then on '.join([*course.failures])})".strip()
                outcome = RunResult(*_fields(outcome, message))
            self._forget(course)
            self._end(course, self._put(part, outcome))
            return
        course.failures.append(str(worker))
        shutil.rmtree(part, ignore_errors=True)
        self._say(f"{course.point.directory.name} failed on {worker}, and is run once more: {outcome.message}")
        self._again(course)

    def _put(self, part: Path, result: RunResult) -> RunResult:
        """Put a run directory in its place, where there is one."""
        if not part.is_dir():
            return result
        try:
            results_transfer.settle(part, result.directory)
        except OSError as error:
            self._sweep.full = self._sweep.full or no_room(error)
            return RunResult(result.directory, "failed", explain(error), full=no_room(error))
        return result

    def _again(self, course: _Course) -> None:
        self._forget(course)
        if not self._stopping:
            self._waiting.append(course)

    def _end(self, course: _Course, result: RunResult) -> None:
        self._open -= 1
        if result.status == "interrupted" and not result.directory.is_dir():
            return  # it never began
        self._sweep.note(course.point, result.status, result.message)
        self._on_end(course.point, result)


def _fields(result: RunResult, message: str) -> tuple[Any, ...]:
    return result.directory, result.status, message, result.wall_s, result.virtual_ns, result.full, result.engine


def _is_dasks(error: Exception) -> bool:
    """Return whether an error is about a worker that can't be had, and not of the run."""
    return type(error).__module__.startswith(("distributed.", "asyncio.", "concurrent."))


def _points(count: int) -> str:
    return "1 point" if count == 1 else f"{count} points"


def _drained(items: queue.SimpleQueue[Any], wait_s: float) -> Iterator[Any]:
    """Yield what a queue holds, after waiting a while for the first."""
    try:
        yield items.get(timeout=wait_s)
        while True:
            yield items.get_nowait()
    except queue.Empty:
        return
