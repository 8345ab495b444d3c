"""A run's raw logs to results, with what that needs imported when a run has ended:
a command that runs must begin soon."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

from fabriclab.cli.host.signals import mortal
from fabriclab.engine.interrupt import Interrupt
from fabriclab.runs import IngestError


def ingest_until(interrupt: Interrupt) -> Callable[[Path], None]:
    """Return `ingest` as a command does it: SIGTERM ends it at once, and loses nothing: the raw logs go last."""

    def cut_off(directory: Path) -> None:
        with mortal(interrupt):
            ingest(directory)

    return cut_off


def ingest(directory: Path) -> None:
    """Turn a run's raw logs into results. Raises IngestError, OSError."""
    from polars.exceptions import PolarsError

    from fabriclab.results import ResultsError, ingest_run

    try:
        ingest_run(directory)
    except (ResultsError, PolarsError) as error:
        raise IngestError(str(error)) from error


class Preloading:
    """Loads what draws the report while a machine runs: that is a process of its own,
    and this one only waits for it."""

    def __init__(self) -> None:
        """Load nothing yet."""
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin, unless that was done already."""
        if self._thread is None:
            self._thread = Thread(target=_load_report, daemon=True)
            self._thread.start()


def _load_report() -> None:
    # Who needs it imports it once more, and meets what went wrong.
    with suppress(Exception):
        importlib.import_module("fabriclab.cli.commands.outcome")
        importlib.import_module("fabriclab.report.page").page_template()
