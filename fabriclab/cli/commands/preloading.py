"""What shows results, loaded while a machine runs: a command that runs must begin soon, and must not wait for it at the
end."""

from __future__ import annotations

import importlib
from contextlib import suppress
from threading import Thread


class Preloading:
    """Loads what draws the report while a machine runs: that is a process of its own, this one only waits."""

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
        importlib.import_module("fabriclab.api.measured")
        # What is asked for the first time loads these: `np.unique` the one, a page the templates that it is made of.
        importlib.import_module("numpy.ma")
        pages = importlib.import_module("fabriclab.report.page_parts").template("report.html").environment
        for name in pages.list_templates():
            pages.get_template(name)
