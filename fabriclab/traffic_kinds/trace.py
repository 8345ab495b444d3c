"""`kind: trace`: a flow trace that the user brings, in the lab's directory (traffic/README.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriclab.formats.plan.traffic import TraceTraffic
from fabriclab.keys.mappings import Key
from fabriclab.keys.values import Text
from fabriclab.lab.reading.files import LARGEST_TRACE_BYTES, UnreadableError, open_lab_file, own_name
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.keys import keys_of_kind
from fabriclab.lab.traffic.scope import Scope, complain_unreadable
from fabriclab.traffic_kinds.kind import Kind

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site

FILE = Key(
    "file",
    Text("a file's name"),
    "A flow trace in the lab's directory (traffic/README.md describes its columns).",
    examples=("mine.csv",),
    required=True,
)
KEYS = keys_of_kind(
    "trace",
    "Flows from your own file.",
    FILE,
)


class Trace(Kind[TraceTraffic]):
    """A user's flow trace."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> TraceTraffic | None:
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
        return TraceTraffic(name=name, file=own_name(scope.directory, file.value), sha256=digest)

    def flows(self, traffic: TraceTraffic, site: Site) -> pl.DataFrame:
        """Raise: such flows are read (`fabriclab.workload.user_trace`), not drawn."""
        raise AssertionError("a user's trace is read, not generated")

    def sentences(self, traffic: TraceTraffic, plan: Plan) -> Iterator[str]:
        """Yield the file and its hash."""
        yield f"{traffic.file}, SHA-256 {traffic.sha256[:12]}"


KIND = Trace()
