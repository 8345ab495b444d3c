"""A user's flow trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.formats import names
from fabriclab.formats.plan.traffic.record import Direction, TrafficRecord


@dataclass(frozen=True, kw_only=True)
class TraceTraffic(TrafficRecord):
    """A flow trace that the user brings (`traffic/README.md`); its text is part of the run directory,
    its hash part of the plan."""

    kind: Literal["trace"] = "trace"
    file: Annotated[str, names.LAB_PATH]
    sha256: Annotated[str, names.SHA256]

    has_coflows: ClassVar[bool] = True

    @property
    def flows(self) -> int:
        """Its flows are counted when the run's own trace is made."""
        return 0

    def sending(self, every: Iterable[str]) -> frozenset[str]:
        """Return all hosts: the trace may name any."""
        return frozenset(every)

    def directions(self, every: Iterable[str]) -> Iterator[Direction]:
        """Yield everybody to everybody, in the usual mode."""
        everybody = self.sending(every)
        yield Direction("push", everybody, everybody)
