"""How many threads this user may still start, and how much memory this shell allows, found out before a command loads
anything.

Libraries that meet the limit of threads hang, abort, or print a thousand lines a second: Polars, its allocator,
OpenBLAS.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

_FAILED = 1
_NEEDED = 24
_NEEDED_PER_CPU = 4
_LOW = 4096
"""A limit from there on is not tried: that would cost every command some milliseconds."""
_CGROUPS = Path("/sys/fs/cgroup")


def needed_threads() -> int:
    """Return how many threads a command with results needs on this host.

    Measured on two CPUs with Polars 2.1 and numpy 2: with 16 a report hangs or aborts, with 18 it is made. Polars and
    OpenBLAS have a thread for each CPU; the others are ours, and the machine's processes.
    """
    return _NEEDED + _NEEDED_PER_CPU * len(os.sched_getaffinity(0))


def refuse_too_few() -> None:
    """End the command where a limit leaves too few threads."""
    limits = [limit for limit in _limits() if limit[1] < _LOW]
    if not limits:
        return
    needed = needed_threads()
    startable = _startable(needed)
    if startable >= needed:
        return
    name, limit = min(limits, key=lambda each: each[1])
    sys.stderr.write(
        f"{name} {limit}: {startable} more threads or processes can be started here, but fabriclab needs {needed}. "
        "Raise the limit, or end other programs of this user; nothing was started\n"
    )
    sys.exit(_FAILED)


def _limits() -> Iterator[tuple[str, int]]:
    """Yield the limits of this user's and of this control group's threads, each with its name."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if soft != resource.RLIM_INFINITY:
        yield "ulimit -u", soft
    try:
        group = Path("/proc/self/cgroup").read_text().rpartition("0::/")[2].strip()
        file = _CGROUPS / group / "pids.max"
        text = file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return
    if text.isdecimal():
        yield str(file), int(text)


def _startable(most: int) -> int:
    """Start threads that do nothing, at most so many, and return how many there were."""
    is_over = Event()
    started: list[Thread] = []
    try:
        while len(started) < most:
            thread = Thread(target=is_over.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError:  # can't start new thread
        pass
    finally:
        is_over.set()
        for thread in started:
            thread.join()
    return len(started)


def refuse_limits() -> None:
    """End the command where `ulimit -v` leaves too little: Polars aborts where it gets no memory."""
    from fabriclab.cli.host import failure
    from fabriclab.engine import address_space

    with failure.reported():
        address_space.refuse_too_little()
