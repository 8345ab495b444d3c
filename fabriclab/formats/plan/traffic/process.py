"""When the flows, or the queries, of an open loop start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fabriclab.constraints import Record
from fabriclab.formats import ranges

Process = Literal["poisson", "fixed", "jittered", "bursty"]


@dataclass(frozen=True, kw_only=True)
class Arrivals(Record):
    """When the flows (or queries) of one sender start.

    `fixed`: every interval_ns. `jittered`: so too, each moved by a uniform draw of [0, jitter_ns). `poisson`:
    exponential gaps. `bursty`: bursts of burst_flows at one instant, exponential gaps of mean burst_flows x interval_ns
    between them.
    """

    process: Process
    interval_ns: Annotated[int, ranges.LASTING]
    """Mean time from one start of a sender to its next."""
    jitter_ns: Annotated[int, ranges.DURATION] = 0
    burst_flows: Annotated[int, ranges.REPEATS] = 1
    load_ppm: Annotated[int, ranges.LOAD_PPM] | None = None
    """The load that interval_ns was computed of, in millionths of the sender's line rate:
    interval = 8 x mean size / (load x rate)."""
