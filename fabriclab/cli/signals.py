"""Ctrl-C and SIGTERM while machines run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from fabriclab.cli.failure import say
from fabriclab.engine.interrupt import Interrupt


@contextmanager
def interrupting(interrupt: Interrupt) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP ask to stop in order, and a second one at once."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        interrupt.request()
        say("stopping at once" if interrupt.at_once else "stopping: what was measured is kept (again: at once)")

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
