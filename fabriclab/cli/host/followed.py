"""Runs on a terminal, from the reading of their lab to their end: a spinner, warnings, bars, and Ctrl-C."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from types import TracebackType

from fabriclab.api.progress import RESULTS, Begun, Ended, Progress, ProgressEvent
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.progress import RunProgress
from fabriclab.cli.host.signals import interrupting, mortal
from fabriclab.cli.host.waiting import waiting
from fabriclab.engine.interrupt import Interrupt
from fabriclab.formats.clock import clock_of
from fabriclab.runs import RunResult
from fabriclab.runs.engines import EngineName


class FollowedRuns:
    """Shows what a function of the API tells. Use as a context manager around that function's call."""

    def __init__(self, what: str, engine: EngineName) -> None:
        """Take what is done before the runs begin, in words."""
        self.interrupt = Interrupt()
        """Requested by Ctrl-C and SIGTERM once the runs have begun."""
        self.console = Console(stderr=True)
        self.progress = RunProgress(self.console, clock_of(engine))
        self.begun: Begun | None = None
        self.ended: list[RunResult] = []
        self._what = what
        self._open = ExitStack()
        self._ingesting = ExitStack()

    def __enter__(self) -> FollowedRuns:
        self._open.enter_context(waiting(self._what))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ingesting.close()
        self._open.__exit__(kind, error, traceback)

    def show(self, event: ProgressEvent) -> None:
        """Show an event. It may be called from several threads."""
        if isinstance(event, Begun):
            self.begun = event
            self._open.close()
            for sentence in event.warnings:
                print(f"warning: {sentence}", file=sys.stderr)
            self._open.enter_context(interrupting(self.interrupt))
            self._open.enter_context(self.progress)
        elif isinstance(event, Progress):
            self._follow_ingestion(event)
            self.progress.show(event)
        elif isinstance(event, Ended):
            self.ended.append(event.result)
            self.progress.done(event.run, event.result.wall_s)
        else:
            self.console.print(event.text, style="dim", highlight=False, markup=False, soft_wrap=True)

    def _follow_ingestion(self, event: Progress) -> None:
        """Let SIGTERM end the process while logs become tables: nothing is lost by it, for the raw logs go last."""
        if threading.current_thread() is not threading.main_thread():
            return
        if event.stage == RESULTS:
            self._ingesting.enter_context(mortal(self.interrupt))
        else:
            self._ingesting.close()
