"""Stopping runs: by a token, by any event of a library, or by Ctrl-C, without a signal handler of ours."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from fabriclab.engine.interrupt import Interrupt

Outcome = TypeVar("Outcome")
_WAIT_S = 0.2


class HasIsSet(Protocol):
    """An event of `threading`, `multiprocessing` or `asyncio`."""

    def is_set(self) -> bool:
        """Return whether the runs should stop."""


class Cancel(Interrupt):
    """A token that stops runs. `request()` once stops in order and keeps the results; twice stops at once.

    It may be called from any thread, and given to several runs.
    """


class _Watched(Interrupt):
    """Is requested when somebody's event is set."""

    def __init__(self, event: HasIsSet) -> None:
        super().__init__()
        self._event = event

    @property
    def requested(self) -> bool:
        return self._event.is_set() or super().requested


def carried_out(work: Callable[[Interrupt], Outcome], cancel: Interrupt | HasIsSet | None) -> Outcome:
    """Return what `work` does with the token that stops it.

    Without a token of the caller's, Ctrl-C in the main thread is one: the first stops what runs in order, the second at
    once, and KeyboardInterrupt is raised when it has ended. The work is done in a thread of its own for that, so that
    no signal is handled here.
    """
    if cancel is not None:
        return work(cancel if isinstance(cancel, Interrupt) else _Watched(cancel))
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        return work(interrupt)
    return _interruptible(work, interrupt)


def _interruptible(work: Callable[[Interrupt], Outcome], interrupt: Interrupt) -> Outcome:
    future: Future[Outcome] = Future()

    def fill() -> None:
        try:
            future.set_result(work(interrupt))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=fill, name="fabriclab-run").start()
    pressed: KeyboardInterrupt | None = None
    while not future.done():
        try:
            # Short waits: a signal that another thread was given is handled between two of them.
            future.exception(timeout=_WAIT_S)
        except TimeoutError:
            continue
        except KeyboardInterrupt as error:
            interrupt.request()
            pressed = error
    if pressed is not None and future.exception() is None:
        raise pressed
    return future.result()
