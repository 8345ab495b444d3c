"""Long flows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.formats import ranges
from fabriclab.formats.names import NodeName
from fabriclab.formats.plan.traffic.drawn import Pairs
from fabriclab.formats.plan.traffic.record import PLAIN, Carrier, Mode, TrafficRecord


@dataclass(frozen=True, kw_only=True)
class LongTraffic(TrafficRecord):
    """Long flows, one from each sender (all-to-all: one to each of its receivers), that start `stagger_ns` apart, each
    a draw of [0, jitter_ns) later, and stop together."""

    kind: Literal["long"] = "long"
    senders: tuple[NodeName, ...]
    receiver: NodeName | None = None
    """The one receiver of all flows; exactly one of receiver and pairs is given."""
    pairs: Pairs | None = None
    start_ns: Annotated[int, ranges.DURATION]
    stop_ns: Annotated[int, ranges.LASTING]
    stagger_ns: Annotated[int, ranges.DURATION]
    jitter_ns: Annotated[int, ranges.DURATION] = 0
    mode: Mode = "push"
    """`read`: its receivers read (RDMA READ)."""
    carrier: Carrier = PLAIN

    is_long: ClassVar[bool] = True

    @property
    def flows(self) -> int:
        """How many flows it is."""
        if self.pairs is None or self.pairs.pattern != "all-to-all":
            return len(self.senders)
        return sum(receiver != sender for sender in self.senders for receiver in self.pairs.receivers)

    def sending(self, every: Iterable[str]) -> frozenset[str]:
        """Return the nodes that send data, whoever asks for them."""
        return frozenset(self.senders)

    def receiving(self) -> frozenset[str]:
        """Return the nodes that receive data."""
        one = () if self.receiver is None else (self.receiver,)
        return frozenset(one).union(() if self.pairs is None else self.pairs.receivers)

    def long_flows(self) -> Counter[str]:
        """Return how many long flows each host sends."""
        to_all = self.pairs is not None and self.pairs.pattern == "all-to-all"
        each = len(self.pairs.receivers) if self.pairs is not None and to_all else 1
        return Counter(dict.fromkeys(self.senders, each))

    def contradictions(self) -> Iterator[str]:
        """Yield that it has no receiver, or two kinds of them."""
        if (self.receiver is None) == (self.pairs is None):
            yield ": must have exactly one of receiver and pairs"
