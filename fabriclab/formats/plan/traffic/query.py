"""Queries of partition and aggregate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.formats import ranges
from fabriclab.formats.names import NodeName
from fabriclab.formats.plan.traffic.drawn import Arrivals, Size
from fabriclab.formats.plan.traffic.record import PLAIN, Carrier, Connection, Mode, TrafficRecord


@dataclass(frozen=True, kw_only=True)
class QueryTraffic(TrafficRecord):
    """Partition/aggregate: an aggregator asks `fan_out` workers; complete when all have answered (DCTCP,
    SIGCOMM'10, section 2)."""

    kind: Literal["query"] = "query"
    aggregators: tuple[NodeName, ...]
    workers: tuple[NodeName, ...]
    fan_out: Annotated[int, ranges.REPEATS]
    """Workers of a query, drawn for each query; never the aggregator itself."""
    request_bytes: Annotated[int, ranges.FLOW_BYTES]
    response: Size
    arrivals: Arrivals
    """Queries of one aggregator."""
    start_ns: Annotated[int, ranges.DURATION]
    stop_ns: Annotated[int, ranges.LASTING]
    """No query starts at this time or later."""
    jitter_ns: Annotated[int, ranges.DURATION] = 0
    """Each request leaves a uniform draw of [0, jitter_ns) after its query's start."""
    deadline_ns: Annotated[int, ranges.LASTING] | None = None
    """The deadline of the whole query in nanoseconds, counted from its start; None: there is none."""
    connection: Connection
    carrier: Carrier = PLAIN

    has_coflows: ClassVar[bool] = True
    mode: ClassVar[Mode] = "pull"

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        return self.stop_ns + self.jitter_ns

    @property
    def flows(self) -> int:
        """How many flows it is, about."""
        return len(self.aggregators) * self.fan_out * (1 + (self.stop_ns - self.start_ns) // self.arrivals.interval_ns)

    def sending(self, every: Iterable[str]) -> frozenset[str]:
        """Return the nodes that send data, whoever asks for them."""
        return frozenset(self.workers)

    def receiving(self) -> frozenset[str]:
        """Return the nodes that receive data."""
        return frozenset(self.aggregators)

    @property
    def drawn_size(self) -> Size | None:
        """The sizes that its flows are drawn of."""
        return self.response

    def contradictions(self) -> Iterator[str]:
        """Yield that a query asks more workers than there are."""
        if self.fan_out > len(self.workers):
            yield f".fan_out: {self.fan_out} of {len(self.workers)} workers"
