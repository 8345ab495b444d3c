"""What something took: wall time, and processor time, which a busy host changes less."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import NamedTuple

_PARENT, _OWN_AND_WAITED_FOR = 1, slice(11, 15)
"""The fields of /proc/PID/stat, counted from the state behind the name (proc_pid_stat(5)): ppid; utime,
stime, cutime, cstime."""


class Spent(NamedTuple):
    """Seconds of wall time and of processor time."""

    wall: float
    cpu: float

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.wall - other.wall, self.cpu - other.cpu)

    def text(self, of_s: float = 1) -> str:
        """Return both, as a share of so many seconds."""
        return f"{self.wall / of_s:8.3f} wall {self.cpu / of_s:8.3f} cpu"


def spent() -> Spent:
    """Return what has been spent until now; a difference of two tells something."""
    return Spent(time.monotonic(), descendants_cpu_s())


def descendants_cpu_s() -> float:
    """Return the processor seconds, user and system, of all that this process has started: what lives,
    and what has been waited for."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    processes = _processes()
    found, ticks = {os.getpid()}, 0
    while children := {process for process, (parent, _) in processes.items() if parent in found} - found:
        found |= children
        ticks += sum(processes[child][1] for child in children)
    return ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def _processes() -> dict[int, tuple[int, int]]:
    """Return each process's parent and the clock ticks that it and those that it has waited for took."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It has ended.
        found[int(entry.name)] = int(fields[_PARENT]), sum(map(int, fields[_OWN_AND_WAITED_FOR]))
    return found
