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

from fabriclab.engine.events import Event
from fabriclab.formats.clock import Clock
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import ArrivalsTraffic, Iperf3Traffic, LongTraffic, QueryTraffic

_STOPPING = (LongTraffic, Iperf3Traffic, ArrivalsTraffic, QueryTraffic)


def known_end_ns(plan: Plan) -> int | None:
    """Return when the traffic will end, None when it ends when it is done.

    What arrives until then takes a little longer.
    """
    stops = [traffic.stop_ns for traffic in plan.traffic if isinstance(traffic, _STOPPING)]
    return max(stops) if len(stops) == len(plan.traffic) and stops else None


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

    def show(self, name: str, plan: Plan, event: Event) -> None:
        """Show a run's event."""
        with self._lock:
            if name not in self._runs:
                self._runs[name] = self._progress.add_task(name, total=known_end_ns(plan), phase="boot")
            task = self._runs[name]
        if event.name == "phase" and event.text("phase") != "traffic":
            self._progress.update(task, phase=event.text("phase"))
        elif event.name in ("epoch", "progress"):
            self._progress.update(task, phase="", completed=max(0, event.t_ns) if event.name == "progress" else 0)

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
