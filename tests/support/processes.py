"""What tests ask of processes that come and go in real time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest


def live_processes(mark: str) -> list[int]:
    """Return the processes whose command line holds `mark`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(entry.name))
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for something that will happen; the bound only keeps a failing test from waiting for ever."""
    pause = threading.Event()
    for _ in range(3000):
        if condition():
            return
        pause.wait(0.02)
    pytest.fail("it never happened")
