"""A sweep: the points of a matrix, several at a time, each a run; what is done is not run again."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriclab.compile import TraceError
from fabriclab.engine.events import Event
from fabriclab.files import explain, no_room
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.run_directory import SUMMARY, SWEEP, SWEEP_FORMAT
from fabriclab.formats.where_clause import Scalar
from fabriclab.runs.directory import write_json
from fabriclab.runs.engines import MadeFrom
from fabriclab.runs.point import DONE, RunContext, RunResult, remove_run, run_point
from fabriclab.runs.record import recorded

SWEEP_MARK = SWEEP

_SLUG_CHARACTERS = 60
_WAIT_S = 0.2
_RESTS = 30
"""How many times as long as it took to write sweep.json it is left alone."""


@dataclass
class PointState:
    """A point of the matrix: its plan, its run directory, and how it stands (`waiting`,
    `running`, or a run's status)."""

    plan: Plan
    directory: Path
    status: str = "waiting"
    message: str = ""
    reused: bool = False
    """Whether it was done before."""


class Sweep:
    """The sweep directory and its points."""

    def __init__(
        self, directory: Path, lab: str, matrix: str, title: str, plans: Sequence[Plan], artefacts: MadeFrom
    ) -> None:
        self.directory = directory
        self._head = {"format": SWEEP_FORMAT, "lab": lab, "matrix": matrix, "title": title}
        self.points = [PointState(plan, directory / "points" / point_name(plan, artefacts)) for plan in plans]
        self.full = False
        """Whether the disk has no room for a point, nor for those that follow."""
        self._lock = threading.Lock()
        self._rest_until_s = 0.0

    def recall(self) -> None:
        """Mark the points that an earlier sweep has done."""
        for point in self.points:
            manifest = recorded(point.directory)
            if manifest.status in DONE and (point.directory / SUMMARY).is_file():
                point.status, point.message, point.reused = manifest.status, manifest.message, True

    def note(self, point: PointState, status: str, message: str = "") -> None:
        """Note how a point stands, and write it down where there is room: an older sweep.json says that
        the point is missing.

        A file of many points is not written for each of them: what that takes stays a small part of the time.
        """
        with self._lock:
            point.status, point.message = status, message
            began_s = time.monotonic()
            if status == "running" or began_s < self._rest_until_s:
                return
            self._write_if_room()
            self._rest_until_s = time.monotonic() + _RESTS * (time.monotonic() - began_s)

    def conclude(self) -> None:
        """Write down how all points stand, where there is room. Raises OSError for other reasons."""
        with self._lock:
            self._write_if_room()

    def _write_if_room(self) -> None:
        try:
            self.write()
        except OSError as error:
            if not no_room(error):
                raise

    def write(self) -> None:
        """Write sweep.json, whole or not at all."""
        write_json(self.directory / SWEEP_MARK, {**self._head, "points": [self._entry(point) for point in self.points]})

    def _entry(self, point: PointState) -> dict[str, Any]:
        # Whoever finds the file finds no `running` that nobody runs any more.
        status = "missing" if point.status in ("waiting", "running") else point.status
        return {
            "settings": dict(point.plan.settings),
            "seed": point.plan.seed,
            "run": point.directory.relative_to(self.directory).as_posix(),
            "status": status,
        }


def run_sweep(
    sweep: Sweep,
    context: RunContext,
    jobs: int,
    on_event: Callable[[PointState, Event], None],
    on_end: Callable[[PointState, RunResult], None],
) -> None:
    """Run the points that are not done, `jobs` at a time. A point that fails does not stop the others; an interrupt and
    a full disk do.

    The callbacks are called from several threads.
    """
    sweep.directory.mkdir(parents=True, exist_ok=True)
    sweep.write()

    def work(point: PointState) -> None:
        if context.interrupt.requested or sweep.full:
            return
        sweep.note(point, "running")
        try:
            remove_run(point.directory)
            result = run_point(point.plan, point.directory, context, lambda event: on_event(point, event))
        except TraceError as error:
            result = RunResult(point.directory, "failed", str(error))
        except OSError as error:
            result = RunResult(point.directory, "failed", explain(error), full=no_room(error))
        if result.full:
            sweep.full = True
            with suppress(OSError):
                point.directory.rmdir()
        sweep.note(point, result.status, result.message)
        on_end(point, result)

    try:
        with ThreadPoolExecutor(max_workers=jobs) as workers:
            pending = {workers.submit(work, point) for point in sweep.points if not point.reused}
            while pending:
                # Short waits: a signal is handled between two of them.
                done, pending = wait(pending, timeout=_WAIT_S)
                for future in done:
                    future.result()
    finally:
        sweep.conclude()


def point_name(plan: Plan, artefacts: MadeFrom) -> str:
    """Return the name of a point's directory: its settings for people, a hash of plan and artefacts for certainty."""
    content = plan.model_dump_json() + json.dumps(artefacts.hashes(), sort_keys=True)
    return f"{slug(plan.settings)}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def slug(settings: dict[str, Scalar]) -> str:
    """Return the settings as part of a file name: `cubic-senders-16`."""
    words = [str(value) if key == "variant" else f"{key}-{value}" for key, value in settings.items()]
    text = re.sub(r"[^A-Za-z0-9.-]+", "", "-".join(words))
    return text[:_SLUG_CHARACTERS].strip(".-") or "default"
