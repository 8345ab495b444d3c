"""Single flows of one size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabriclab.formats.plan.traffic.record import PLAIN, Carrier, FanIn, Mode


@dataclass(frozen=True, kw_only=True)
class FlowsTraffic(FanIn):
    """Single flows of a given size, one from each sender to the receiver, `interval_ns` apart."""

    kind: Literal["flows"] = "flows"
    size_bytes: int
    count: int
    """Flows of each sender."""
    start_ns: int
    interval_ns: int
    jitter_ns: int = 0
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
