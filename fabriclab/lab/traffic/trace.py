"""`kind: trace`: a flow trace that the user brings, in the lab's directory (traffic/README.md)."""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath

from fabriclab.formats.plan.traffic import TraceTraffic
from fabriclab.lab.reading.files import LARGEST_TRACE_BYTES, UnreadableError, open_lab_file
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.scope import Scope, complain_unreadable

KEYS = ("kind", "file")


def read_trace(section: Section, name: str, scope: Scope) -> TraceTraffic | None:
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
    return TraceTraffic(name=name, file=str(PurePosixPath(file.value)), sha256=digest)
