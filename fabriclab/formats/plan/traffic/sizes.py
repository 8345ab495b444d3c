"""How large flows are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from fabriclab.constraints import Finite, Record
from fabriclab.formats import names, ranges


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
