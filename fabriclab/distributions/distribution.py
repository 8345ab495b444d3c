"""A distribution of flow sizes: points of its cumulative distribution function, and what lies between two of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from fabriclab.formats.trace import SMALLEST_BYTES

Interpolation = Literal["linear", "step"]
Points = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Distribution:
    """Flow sizes by points of their cumulative distribution function (CDF)."""

    name: str
    points: Points
    """Pairs of bytes and cumulative probability, neither ever falling, the last one's probability 1. Two points of one
    size are an atom: so much probability on exactly that size."""
    interpolation: Interpolation
    """`linear`: the CDF is piecewise linear, its first probability is 0. `step`: only the points' own sizes occur."""
    source: str
    """Where the figures come from; empty where the file does not say."""

    @property
    def mean_bytes(self) -> float:
        """The mean of the distribution itself, neither cut nor raised."""
        return _mean(self.points, self.interpolation, 0, self.points[-1][0])

    @property
    def raised_share(self) -> float:
        """The share of flows that is smaller than `SMALLEST_BYTES`, and so is raised to it."""
        if self.interpolation == "step":
            return max((probability for size, probability in self.points if size < SMALLEST_BYTES), default=0.0)
        return sum(mass * _share_below(low, high, SMALLEST_BYTES) for low, high, mass in _pieces(self.points))


def mean_bytes(points: Points, interpolation: Interpolation, cap_bytes: int | None) -> float:
    """Return the mean of the sizes that are drawn: none smaller than `SMALLEST_BYTES`,
    larger ones cut to `cap_bytes` (None: not cut)."""
    return _mean(points, interpolation, SMALLEST_BYTES, points[-1][0] if cap_bytes is None else cap_bytes)


def _mean(points: Points, interpolation: Interpolation, low: int, high: int) -> float:
    """Return the mean of max(low, min(high, size)).

    Summed in the order of the points, so it is the same everywhere to the last bit.
    """
    mean = 0.0
    if interpolation == "step":
        before = 0.0
        for size, probability in points:
            mean += max(low, min(high, size)) * (probability - before)
            before = probability
        return mean
    for first, last, mass in _pieces(points):
        mean += mass * _clamped_mean(first, last, low, high)
    return mean


def _pieces(points: Points) -> Iterator[tuple[int, int, float]]:
    """Yield each piece of a linear CDF: its two sizes and the probability between them."""
    for (first, before), (last, after) in pairwise(points):
        yield first, last, after - before


def _clamped_mean(first: int, last: int, low: int, high: int) -> float:
    """Return the mean of max(low, min(high, size)) for sizes uniform between `first` and `last`."""
    if first == last:
        return float(max(low, min(high, first)))
    start, end = max(first, min(low, last)), min(last, max(high, first))
    middle = (start + end) / 2 * (end - start) if end > start else 0.0
    below = low * (start - first) if low > first else 0
    above = high * (last - end) if high < last else 0
    return (below + middle + above) / (last - first)


def _share_below(first: int, last: int, bound: int) -> float:
    """Return the share of sizes uniform between `first` and `last` that is below `bound`."""
    if first == last:
        return 1.0 if first < bound else 0.0
    return (min(last, max(first, bound)) - first) / (last - first)
