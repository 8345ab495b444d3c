"""Long flows of iperf3's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic.record import PLAIN, Carrier, FanIn


@dataclass(frozen=True, kw_only=True)
class Iperf3Traffic(FanIn):
    """Long flows that iperf3 sends instead of our replay, one from each sender to the receiver."""

    kind: Literal["iperf3"] = "iperf3"
    start_ns: Annotated[int, ranges.DURATION]
    stop_ns: Annotated[int, ranges.LASTING]
    carrier: Carrier = PLAIN

    is_long: ClassVar[bool] = True

    @property
    def flows(self) -> int:
        """How many flows it is."""
        return len(self.senders)
