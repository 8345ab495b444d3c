"""Synchronised rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic.record import PLAIN, Carrier, Connection, FanIn, Mode


@dataclass(frozen=True, kw_only=True)
class RoundsTraffic(FanIn):
    """Synchronised rounds: every sender sends `size_bytes` to the receiver;
    a round starts when the one before is complete (in-cast)."""

    kind: Literal["rounds"] = "rounds"
    size_bytes: Annotated[int, ranges.FLOW_BYTES]
    rounds: Annotated[int, ranges.REPEATS]
    start_ns: Annotated[int, ranges.DURATION]
    jitter_ns: Annotated[int, ranges.DURATION] = 0
    """Each flow of a round starts a uniform draw of [0, jitter_ns) after the round."""
    connection: Connection
    mode: Mode
    carrier: Carrier = PLAIN

    has_coflows: ClassVar[bool] = True

    @property
    def flows(self) -> int:
        """How many flows it is."""
        return len(self.senders) * self.rounds
