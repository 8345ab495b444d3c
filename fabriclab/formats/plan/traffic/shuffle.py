"""The network phases of a MapReduce job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.formats import ranges
from fabriclab.formats.names import NodeName
from fabriclab.formats.plan.traffic.record import PLAIN, Carrier, Direction, TrafficRecord


@dataclass(frozen=True, kw_only=True)
class ShuffleTraffic(TrafficRecord):
    """A MapReduce job's network phases as dependent flows: input, shuffle, output. Data that stay on their host are no
    flow.

    input: each mapper pulls its share of `size_bytes` from one of the sources. shuffle: each reducer pulls its
    partition, size_bytes / (mappers x reducers), from every mapper, parallel_copies at a time. output: each reducer
    writes what it received through a chain of replicas - 1 hosts.
    """

    kind: Literal["shuffle"] = "shuffle"
    sources: tuple[NodeName, ...] = ()
    """Empty: mappers read what lies on their own disks."""
    mappers: tuple[NodeName, ...]
    reducers: tuple[NodeName, ...]
    size_bytes: Annotated[int, ranges.FLOW_BYTES]
    """The size of the job's input in bytes; as much is shuffled and written (TeraSort)."""
    parallel_copies: Annotated[int, ranges.REPEATS]
    replicas: Annotated[int, ranges.REPLICAS]
    start_ns: Annotated[int, ranges.DURATION]
    carrier: Carrier = PLAIN

    has_coflows: ClassVar[bool] = True
    is_job: ClassVar[bool] = True

    @property
    def flows(self) -> int:
        """How many flows it is at most: data that stay on their host are none."""
        inputs = len(self.mappers) if self.sources else 0
        return inputs + len(self.reducers) * (len(self.mappers) + self.replicas - 1)

    def sending(self, every: Iterable[str]) -> frozenset[str]:
        """Return the nodes that send data, whoever asks for them."""
        return frozenset((*self.sources, *self.mappers, *self.reducers))

    def directions(self, every: Iterable[str]) -> Iterator[Direction]:
        """Yield the phases: input, shuffle, output."""
        mappers, reducers, all_of_them = frozenset(self.mappers), frozenset(self.reducers), self.sending(every)
        yield Direction("pull", frozenset(self.sources), mappers)
        yield Direction("pull", mappers, reducers)
        if self.replicas > 1:
            yield Direction("push", reducers if self.replicas == 2 else all_of_them, all_of_them)
