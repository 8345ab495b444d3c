"""Progress in the engine's time.

On a terminal a bar for each run, else nothing but what the commands print themselves.
"""

from __future__ import annotations

import threading

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
        self._runs: dict[str, TaskID] = {}
        self._overall: TaskID | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> RunProgress:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def count(self, total: int) -> None:
        """Show a bar of runs done as well."""
        self._overall = self._progress.add_task("sweep", total=total, phase=f"0 of {total} runs")

    def show(self, event: RunningProgress) -> None:
        """Show how a run gets on."""
        with self._lock:
            if event.run not in self._runs:
                self._runs[event.run] = self._progress.add_task(event.run, total=event.end_ns, phase="boot")
            task = self._runs[event.run]
        if event.stage == TRAFFIC:
            self._progress.update(task, phase="", completed=event.time_ns)
        else:
            self._progress.update(task, phase=event.stage)

    def done(self, name: str) -> None:
        """Take a run's bar away, and count it."""
        with self._lock:
            task = self._runs.pop(name, None)
            if task is not None:
                self._progress.remove_task(task)
            if self._overall is not None:
                self._progress.advance(self._overall)
                overall = next(task for task in self._progress.tasks if task.id == self._overall)
                self._progress.update(self._overall, phase=f"{overall.completed:.0f} of {overall.total:.0f} runs")
