"""A sign of life on a terminal while something takes its time: what is done, and for how long already."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def waiting(what: str) -> Iterator[Callable[[str], None]]:
    """Show `what` on standard error until the end of the block, where that is a terminal; the block may say what comes
    next.

    Nothing may be written to the terminal within the block. Commands begin it before they import what they need.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from fabriclab.cli.host.console import Console

    console = Console(stderr=True)
    spinner = SpinnerColumn("dots" if console.encoding.startswith("utf") else "line")
    columns = (spinner, TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        task = progress.add_task(what, total=None)
        yield lambda text: progress.update(task, description=text)
