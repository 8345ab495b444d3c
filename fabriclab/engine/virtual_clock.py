"""The clock of a running machine, read from outside: User-Mode Linux is a program of this host's, at fixed addresses.

A machine speaks every 100 virtual ms. Where it simulates so much that these take minutes, its clock alone says that it
gets on, and how far it is.
"""

from __future__ import annotations

import re
import subprocess
from functools import lru_cache
from os import environ
from pathlib import Path

from fabriclab.engine.process import MachineProcess

OVERDUE_NS = 500_000_000
"""A machine whose clock went on by more than this without a word is not well: PID 1, which speaks every 100 virtual ms,
never ran."""

_CLOCK = "time_travel_time"
"""The kernel's virtual clock, a variable of arch/um/kernel/time.c. It counts what CLOCK_MONOTONIC counts."""
_TOOL_PATIENCE_S = 60


class VirtualClock:
    """The clock of one machine."""

    def __init__(self, process: MachineProcess, kernel: Path) -> None:
        """Read that of a machine that runs this kernel."""
        self._process = process
        self._kernel = kernel

    def now_ns(self) -> int | None:
        """Return its virtual time in ns since the boot; None where the kernel's symbols are gone or it has ended."""
        address = _address(self._kernel, _CLOCK)
        return None if address is None else self._process.word_at(address)


class Silence:
    """What the clock of a machine says while the machine says nothing."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._first_ns: int | None = None
        self._mark_ns: int | None = None

    def ends(self) -> None:
        """Note that the machine spoke."""
        self._first_ns = self._mark_ns = None

    def now_ns(self) -> int | None:
        """Return the machine's virtual time in ns since the boot, as `VirtualClock.now_ns`; the first call after the
        machine spoke begins the silence."""
        now_ns = self._clock.now_ns()
        if self._first_ns is None:
            self._first_ns = self._mark_ns = now_ns
        return now_ns

    def has_progress(self) -> bool:
        """Return whether the clock went on since the last call, but not past when the machine ought to have spoken."""
        now_ns, mark_ns = self.now_ns(), self._mark_ns
        if now_ns is None or mark_ns is None or self._first_ns is None:
            return False
        self._mark_ns = now_ns
        return mark_ns < now_ns <= self._first_ns + OVERDUE_NS


@lru_cache(maxsize=8)
def _address(program: Path, name: str) -> int | None:
    """Return where a variable of a program lies; None where its symbols are gone."""
    found = re.search(rf"^([0-9a-f]+) \w {name}$", said(["nm", str(program)]), re.MULTILINE)
    return None if found is None else int(found[1], 16)


def said(argv: list[str]) -> str:
    """Return what a tool of binutils says; nothing where it is missing."""
    try:
        done = subprocess.run(
            argv,
            env={**environ, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            timeout=_TOOL_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
