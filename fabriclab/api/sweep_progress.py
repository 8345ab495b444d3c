"""How a sweep gets on, told to a callback from what its runs tell."""

from __future__ import annotations

import threading
from pathlib import Path

from fabriclab.api.ingest import ingest_run_logs
from fabriclab.api.progress import Ended, Notice, ProgressCallback, RunTeller
from fabriclab.engine.events import Event
from fabriclab.formats.plan import Plan
from fabriclab.runs import PointState, RunResult


class SweepTeller:
    """Tells a callback how the runs of a sweep get on. Its methods are called from several threads."""

    def __init__(self, tell: ProgressCallback, points: int, done: int) -> None:
        self._tell = tell
        self._points = points
        self._done = done
        self._runs: dict[Path, RunTeller] = {}
        self._lock = threading.Lock()

    def event(self, point: PointState, event: Event) -> None:
        """Tell an event of a point's engine."""
        with self._lock:
            if point.directory not in self._runs:
                self._runs[point.directory] = RunTeller(point_in_words(point.plan), point.plan, self._tell)
        self._runs[point.directory].event(event)

    def ingest(self, directory: Path) -> None:
        """Turn a point's logs into results, and tell that."""
        teller = self._runs.get(directory)
        (ingest_run_logs if teller is None else teller.around(ingest_run_logs))(directory)

    def ended(self, point: PointState, result: RunResult) -> None:
        """Tell how a point's run ended."""
        with self._lock:
            self._done += 1
            done = self._done
        self._tell(Ended(point_in_words(point.plan), result, done, self._points))

    def say(self, text: str) -> None:
        """Tell what happened to the cluster."""
        self._tell(Notice(text))


def point_in_words(plan: Plan) -> str:
    """Return what a point of a matrix sets, in words; the lab's name where it sets nothing."""
    return ", ".join(f"{key} {value}" for key, value in plan.settings.items()) or plan.lab
