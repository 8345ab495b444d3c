"""Ctrl-C and SIGTERM while machines run, and while their logs become results."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from fabriclab.cli.host.failure import say
from fabriclab.engine.interrupt import Interrupt

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupting(interrupt: Interrupt) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP ask to stop in order, a second one at once;
    a third one ends the process whatever it does."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        interrupt.request()
        if not interrupt.at_once:
            say("stopping; measurements are kept (press Ctrl-C again to stop at once)")
            return
        say("stopping at once (press Ctrl-C again to skip the results; the logs are kept)")
        for number in _NUMBERS:
            signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, handle) for number in _NUMBERS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def mortal(interrupt: Interrupt) -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the process within the block, and Ctrl-C where something was asked to stop before.

    For work in native code that loses nothing when it is cut off: Python's handlers wait until that code returns, and
    it may hang. A sweep's other threads need none of this: there the main thread only waits, and handles signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGHUP, *((signal.SIGINT,) if interrupt.requested else ()))
    before = {number: signal.signal(number, signal.SIG_DFL) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
