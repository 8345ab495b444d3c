"""The events that a callback gets during runs. The library prints nothing itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fabriclab.engine.events import CLOCK, Event
from fabriclab.formats.plan.model import Plan
from fabriclab.runs.engines import EngineName
from fabriclab.runs.point import RunResult

TRAFFIC: Literal["traffic"] = "traffic"
"""The stage in which flows run."""
RESULTS: Literal["results"] = "results"
"""The stage in which logs become tables."""
ENDING: Literal["ending"] = "ending"
"""The stage after it: the files' hashes are written down."""


@dataclass(frozen=True)
class Begun:
    """The runs are about to begin: the lab was read, every point is planned, and the engine can run them."""

    directory: Path
    """What they are written to: a run directory, or one that holds several."""
    engine: EngineName
    warnings: tuple[str, ...]
    """What is probably not meant, a sentence each."""
    points: int
    """How many runs belong to this."""
    done: int
    """How many of them an earlier call has made already."""


@dataclass(frozen=True)
class Progress:
    """The progress of one run; there are a few of these per second."""

    run: str
    """Which run: what its point sets, in words."""
    stage: str
    """`boot`, the phases of the engine, `traffic`, `results` (its logs become tables), `ending`."""
    time_ns: int
    """The engine's time since the traffic began, in nanoseconds; 0 in other stages."""
    end_ns: int | None
    """When the traffic ends by what the lab says; None where it ends when it is done."""
    wall_s: float
    """Seconds of this computer's time since the run began."""


@dataclass(frozen=True)
class Ended:
    """A run has ended, successfully or not."""

    run: str
    result: RunResult
    done: int
    """How many of the runs are made now, those of earlier calls included."""
    points: int


@dataclass(frozen=True)
class Notice:
    """A note about runs in progress: the number of parts of a divided lab, or workers of a cluster that joined, were
    lost or were left out, and why."""

    text: str


ProgressEvent = Begun | Progress | Ended | Notice
"""What a callback is given.

It is called by the threads that run: one after the other for a run, from several at once for a sweep.
"""
ProgressCallback = Callable[[ProgressEvent], None]


def ignored(_event: ProgressEvent) -> None:
    """Take no notice: what is told to nobody."""


def known_end_ns(plan: Plan) -> int | None:
    """Return when the traffic will end, None when it ends when it is done.

    What arrives until then takes a little longer.
    """
    stops = [traffic.ends_ns for traffic in plan.traffic if traffic.ends_ns is not None]
    return max(stops) if len(stops) == len(plan.traffic) and stops else None


class RunTeller:
    """Tells a callback how one run gets on, from the events of its engine."""

    def __init__(self, run: str, plan: Plan, tell: ProgressCallback) -> None:
        """Begin to count the wall time now; nothing is told yet."""
        self._run = run
        self._end_ns = known_end_ns(plan)
        self._tell = tell
        self._began_s = time.monotonic()
        self._told = False

    def event(self, event: Event) -> None:
        """Tell what an event of the engine says of the run's progress, if it does."""
        if event.name == "phase" and event.text("phase") != "traffic":
            self.stage(event.text("phase"))
        elif event.name == "epoch":
            self.stage(TRAFFIC)
        elif event.name in ("progress", CLOCK):
            self.stage(TRAFFIC, max(0, event.t_ns))
        elif not self._told:
            self.stage("boot")

    def around(self, ingest: Callable[[Path], None]) -> Callable[[Path], None]:
        """Return what turns logs into results so that its beginning and its end are told as stages, too."""

        def told(directory: Path) -> None:
            self.stage(RESULTS)
            try:
                ingest(directory)
            finally:
                self.stage(ENDING)

        return told

    def stage(self, stage: str, time_ns: int = 0) -> None:
        """Tell the stage that the run is in."""
        self._told = True
        self._tell(Progress(self._run, stage, time_ns, self._end_ns, time.monotonic() - self._began_s))
