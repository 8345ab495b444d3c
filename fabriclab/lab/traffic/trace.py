"""`kind: trace`: a flow trace that the user brings, in the lab's directory (traffic/README.md)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import PurePosixPath

from fabriclab.lab.reading.files import LARGEST_TRACE_BYTES, UnreadableError, open_lab_file
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.scope import Scope, complain_unreadable

KEYS = ("kind", "file")


@dataclass(frozen=True)
class WrittenTrace:
    """A flow trace in the lab's directory."""

    name: str
    file: str
    sha256: str

    @property
    def last_time_ns(self) -> int:
        """Its instants stand in the trace, which is read when the run's own trace is made."""
        return 0

    @property
    def flows(self) -> int:
        """Its flows are counted when the run's own trace is made."""
        return 0


def read_trace(section: Section, name: str, scope: Scope) -> WrittenTrace | None:
    """Return the trace's name and hash; None after recording what is wrong."""
    section.require("file", example="file: a flow trace in the lab's directory (traffic/README.md)")
    file = section.scalar("file", "a file's name")
    if file is None:
        return None
    try:
        with open_lab_file(scope.directory, file.value, LARGEST_TRACE_BYTES) as trace:
            digest = hashlib.file_digest(trace, "sha256").hexdigest()
    except UnreadableError as error:
        complain_unreadable(file, section, scope.directory, error, "*.csv")
        return None
    return WrittenTrace(name, str(PurePosixPath(file.value)), digest)
