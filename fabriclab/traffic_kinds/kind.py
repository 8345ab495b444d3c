"""What every kind of traffic does: it is read, drawn and told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from fabriclab.formats.plan.traffic import TrafficRecord
from fabriclab.keys.mappings import Keys
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.scope import Scope

if TYPE_CHECKING:
    # Who reads a lab alone does not wait for Polars: what draws flows is loaded where they are drawn.
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site

RecordT = TypeVar("RecordT", bound=TrafficRecord)


class Kind(ABC, Generic[RecordT]):
    """A kind of traffic."""

    keys: ClassVar[Keys]
    """What a lab may write for it."""

    @abstractmethod
    def read(self, section: Section, name: str, scope: Scope) -> RecordT | None:
        """Return the traffic as written; None after recording what is wrong."""

    @abstractmethod
    def flows(self, traffic: RecordT, site: Site) -> pl.DataFrame:
        """Return its flows, not numbered yet, in the order of their starts (`fabriclab.workload.flows.flow_table`).

        What is drawn comes of `site.stream`, by a purpose of its own: it moves nothing else. Raises TraceError.
        """

    @abstractmethod
    def sentences(self, traffic: RecordT, plan: Plan) -> Iterator[str]:
        """Yield who sends to whom, then what is sent and when."""

    def drawn(self, traffic: RecordT, flows: pl.DataFrame, site: Site) -> Iterator[str]:
        """Yield what its flows came to, beside what is told of any traffic (`fabriclab trace --summary`)."""
        yield from ()
