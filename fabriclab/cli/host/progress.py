"""Progress in the engine's time.

On a terminal a bar for each run, else nothing but what the commands print themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from fabriclab.api.progress import TRAFFIC
from fabriclab.api.progress import Progress as RunningProgress
from fabriclab.formats.clock import Clock

_MOST_BARS = 12
"""So many runs have a bar of their own; the others are counted."""


class _EngineClock(ProgressColumn):
    """The engine's time, and its phase before the traffic."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def render(self, task: Task) -> Text:
        phase = task.fields.get("phase", "")
        if phase:
            return Text(phase, style="dim")
        end = f" of {task.total / 1e9:.2f}" if task.total else ""
        return Text(f"{task.completed / 1e9:.2f}{end} s {self._clock}", style="cyan")


class RunProgress:
    """Bars of the runs that are under way. Its methods may be called from several threads."""

    def __init__(self, console: Console, clock: Clock) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            _EngineClock(clock),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._runs: dict[str, TaskID | None] = {}
        """Those under way; None: without a bar."""
        self._overall: TaskID | None = None
        self._total = 0
        self._walls_s: list[float] = []
        self._lock = threading.Lock()

    def __enter__(self) -> RunProgress:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def count(self, total: int) -> None:
        """Show a bar of runs done as well."""
        self._total = total
        self._overall = self._progress.add_task("sweep", total=total, phase=f"0 of {total} runs")

    def show(self, event: RunningProgress) -> None:
        """Show how a run gets on."""
        with self._lock:
            if event.run not in self._runs:
                bars = sum(task is not None for task in self._runs.values())
                self._runs[event.run] = (
                    self._progress.add_task(event.run, total=event.end_ns, phase="boot") if bars < _MOST_BARS else None
                )
                self._tell_overall()
            task = self._runs[event.run]
        if task is None:
            return
        if event.stage == TRAFFIC:
            self._progress.update(task, phase="", completed=event.time_ns)
        else:
            self._progress.update(task, phase=event.stage)

    def done(self, name: str, wall_s: float) -> None:
        """Take a run's bar away, and count it."""
        with self._lock:
            task = self._runs.pop(name, None)
            if task is not None:
                self._progress.remove_task(task)
            self._walls_s.append(wall_s)
            self._tell_overall()

    def _tell_overall(self) -> None:
        if self._overall is None:
            return
        done, running = len(self._walls_s), len(self._runs)
        words = [f"{done} of {self._total} runs", *([f"{running} running"] if running > _MOST_BARS else [])]
        if done and running and (left_s := left_seconds(self._walls_s, self._total - done, running)) is not None:
            words.append(in_words(left_s))
        self._progress.update(self._overall, completed=done, phase=", ".join(words))


def left_seconds(walls_s: Sequence[float], left: int, running: int) -> float | None:
    """Return how long the rest of a sweep takes, from what its runs took so far; None where they tell nothing.

    Of `left` runs `running` are under way, half done on average; as many are under way to the end.
    """
    known = [wall_s for wall_s in walls_s if wall_s > 0]
    if not known:
        return None
    return sum(known) / len(known) * max(left - running / 2, running / 2) / running


def in_words(left_s: float) -> str:
    """Return what is left of a time, as roughly as it is known."""
    if left_s < 60:
        return "less than a minute to go"
    minutes = round(left_s / 60)
    return f"about {minutes} min to go" if minutes < 120 else f"about {round(minutes / 60)} h to go"
