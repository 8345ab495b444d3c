"""What is drawn for the flows of a traffic: how large they are, who sends to whom, and when they start."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from fabriclab.constraints import Finite, Record
from fabriclab.formats import names, ranges
from fabriclab.formats.names import NodeName


@dataclass(frozen=True, kw_only=True)
class FixedSize(Record):
    """Every flow has as many bytes."""

    kind: Literal["fixed"] = "fixed"
    size_bytes: Annotated[int, ranges.FLOW_BYTES]

    @property
    def mean(self) -> Fraction:
        """The mean in bytes."""
        return Fraction(self.size_bytes)


@dataclass(frozen=True, kw_only=True)
class UniformSize(Record):
    """Whole numbers of bytes, all equally likely, both ends included."""

    kind: Literal["uniform"] = "uniform"
    smallest_bytes: Annotated[int, ranges.FLOW_BYTES]
    largest_bytes: Annotated[int, ranges.FLOW_BYTES]

    @property
    def mean(self) -> Fraction:
        """The mean in bytes."""
        return Fraction(self.smallest_bytes + self.largest_bytes, 2)


@dataclass(frozen=True, kw_only=True)
class DistributedSize(Record):
    """A distribution of flow sizes given by points of its cumulative distribution function."""

    kind: Literal["distribution"] = "distribution"
    name: Annotated[str, names.LINE]
    """The name of a distribution in `traffic/workloads`, or of a file in the lab's directory."""
    points: tuple[tuple[Annotated[int, ranges.POINT_BYTES], Annotated[float, Finite(0, 1)]], ...]
    """Pairs of bytes and cumulative probability, ascending, the last one's 1."""
    interpolation: Literal["linear", "step"]
    """Between two points: piecewise linear, or only the points themselves occur."""
    cap_bytes: Annotated[int, ranges.FLOW_BYTES] | None
    """Larger flows are cut to this size. A run with a cap must say so wherever it is shown."""
    mean_bytes: Annotated[float, Finite(0, 2.0**62)]
    """The mean of the sizes that are drawn, cap included, in bytes: what a load is computed with."""

    @property
    def mean(self) -> Fraction:
        """The mean in bytes, cap included."""
        return Fraction(self.mean_bytes)


Size = FixedSize | UniformSize | DistributedSize


Pattern = Literal["permutation", "random", "all-to-all", "in-rack", "out-of-rack", "hot-spot"]


@dataclass(frozen=True, kw_only=True)
class Pairs(Record):
    """Who sends to whom. A host never sends to itself.

    `permutation`: each sender has one receiver, each receiver at most one sender more than any other. `random`: drawn
    for each flow. `all-to-all`: each sender takes all receivers in turn, in an order of its own. `in-rack`,
    `out-of-rack`: drawn among those behind the same first switch, behind another. `hot-spot`: a share of the flows goes
    to the hot spots, the others at random to the rest.
    """

    pattern: Pattern
    senders: tuple[NodeName, ...]
    receivers: tuple[NodeName, ...]
    hot_spots: tuple[NodeName, ...] = ()
    hot_share_ppm: Annotated[int, ranges.PPM] = 0


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
