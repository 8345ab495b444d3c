"""Flows of an open loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic.drawn import Arrivals, Pairs, Size
from fabriclab.formats.plan.traffic.record import PLAIN, Carrier, Mode, TrafficRecord


@dataclass(frozen=True, kw_only=True)
class ArrivalsTraffic(TrafficRecord):
    """Open-loop flows: each sender starts flows by an arrival process, whatever becomes of those before."""

    kind: Literal["arrivals"] = "arrivals"
    pairs: Pairs
    size: Size
    arrivals: Arrivals
    start_ns: Annotated[int, ranges.DURATION]
    stop_ns: Annotated[int, ranges.LASTING]
    """No flow starts at this time or later."""
    deadline_ns: Annotated[int, ranges.LASTING] | None = None
    """The deadline of each flow in nanoseconds, counted from its start; None: there is none."""
    mode: Mode = "push"
    carrier: Carrier = PLAIN

    @property
    def flows(self) -> int:
        """How many flows it is, about."""
        return len(self.pairs.senders) * (1 + (self.stop_ns - self.start_ns) // self.arrivals.interval_ns)

    def sending(self, every: Iterable[str]) -> frozenset[str]:
        """Return the nodes that send data, whoever asks for them."""
        return frozenset(self.pairs.senders)

    def receiving(self) -> frozenset[str]:
        """Return the nodes that receive data."""
        return frozenset(self.pairs.receivers)

    @property
    def drawn_size(self) -> Size | None:
        """The sizes that its flows are drawn of."""
        return self.size

    def contradictions(self) -> Iterator[str]:
        """Yield that nobody sends, or nobody receives."""
        if not (self.pairs.senders and self.pairs.receivers):
            yield ".pairs: no host is named"
