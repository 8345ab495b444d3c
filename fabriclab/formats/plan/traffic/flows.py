"""Single flows of one size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic.record import PLAIN, Carrier, FanIn, Mode


@dataclass(frozen=True, kw_only=True)
class FlowsTraffic(FanIn):
    """Single flows of a given size, one from each sender to the receiver, `interval_ns` apart."""

    kind: Literal["flows"] = "flows"
    size_bytes: Annotated[int, ranges.FLOW_BYTES]
    count: Annotated[int, ranges.REPEATS]
    """Flows of each sender."""
    start_ns: Annotated[int, ranges.DURATION]
    interval_ns: Annotated[int, ranges.DURATION]
    jitter_ns: Annotated[int, ranges.DURATION] = 0
    """Each flow starts a uniform draw of [0, jitter_ns) later."""
    mode: Mode
    carrier: Carrier = PLAIN

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        return self.start_ns + (self.count - 1) * self.interval_ns + self.jitter_ns

    @property
    def flows(self) -> int:
        """How many flows it is."""
        return len(self.senders) * self.count
