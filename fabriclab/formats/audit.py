"""What became of every frame: the counters that PID 1 of a virtual machine reads when the traffic begins and when it
ends (`images/machine/init/src/audit.rs`), one file a machine.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from fabriclab.files import read_text
from fabriclab.formats.run_directory import COLLECT
from fabriclab.formats.table import Table

AUDIT = Table("audit", 1, {"moment": "text", "node": "text", "device": "text", "counter": "text", "frames": "unsigned"})
_FILE = f"{COLLECT}/audit.csv"
LAST = "rows"
"""The moment in the last row, which has the number of those before it."""
NOT_AUDITED = "not audited"
"""The moment in the only row of a file of a kernel that does not count; its counter says why."""
LOST = "lost "
"""Begins the counter of frames that the kernel dropped; the reason's name follows
(`include/net/dropreason-core.h`)."""
_MOMENTS = ("begin", "end")
_LARGEST_BYTES = 1 << 28


class AuditError(Exception):
    """The counters are not all there; the text says which file, and what is wrong with it."""


class Place(NamedTuple):
    """Where something was counted. No device: the node is known alone; no node: not even that."""

    node: str
    device: str

    def __str__(self) -> str:
        """Return `node:device` as all messages have it."""
        return ":".join(filter(None, self)) or "an unknown node"


class Counted(NamedTuple):
    """A counter of a place."""

    place: Place
    counter: str


class Counters(NamedTuple):
    """What was counted at the beginning and at the end; what is 0 may be missing."""

    begin: Counter[Counted]
    end: Counter[Counted]
    why_not: str = ""
    """Why the kernel did not count; empty: it did."""

    def grown(self, place: Place, *names: str) -> int:
        """Return by how much counters of a place have grown together; below 0 where one began again."""
        keys = [Counted(place, name) for name in names]
        return sum(self.end[key] - self.begin[key] for key in keys)


def audit_files(directory: Path, parts: int | None) -> list[Path]:
    """Return the files of a run in one machine (None), or in several."""
    path = directory / _FILE
    return [path] if parts is None else [path.with_stem(f"{path.stem}-{part}") for part in range(parts)]


def read_counters(files: Iterable[Path]) -> Counters:
    """Return what all machines of a run counted. Raises AuditError."""
    counters = Counters(Counter(), Counter())
    for path in files:
        try:
            text = read_text(path, _LARGEST_BYTES)
        except (OSError, ValueError) as error:
            raise AuditError(f"{path.name}: {error}") from error
        why_not = _add(counters, text, path.name)
        counters = counters._replace(why_not=counters.why_not or why_not)
    return counters


def _add(counters: Counters, text: str, name: str) -> str:
    """Add a file's rows to the counters; return why its kernel did not count."""
    if not text.startswith(AUDIT.head):
        raise AuditError(f"{name}:1: it does not begin with {AUDIT.first_line} and its columns")
    rows = list(csv.reader(io.StringIO(text.removeprefix(AUDIT.head))))
    *counted, last = rows or [[]]
    if last != [LAST, "", "", "", str(len(counted))]:
        raise AuditError(f"{name}:{len(rows) + 2}: it is cut short: the last row is to say how many there are")
    if len(counted) == 1 and counted[0][0] == NOT_AUDITED:
        return counted[0][3]
    for line, row in enumerate(counted, 3):
        try:
            moment, node, device, counter, frames = row
            side = (counters.begin, counters.end)[_MOMENTS.index(moment)]
            side[Counted(Place(node, device), counter)] += int(frames)
        except ValueError as error:
            raise AuditError(f"{name}:{line}: {','.join(row)!r} is not a row of {AUDIT.header}") from error
    if {row[0] for row in counted} != set(_MOMENTS):
        raise AuditError(f"{name}: it has no counters of the beginning or of the end")
    return ""
