"""Draws of flow sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabriclab.formats.plan.traffic import DistributedSize, FixedSize, Size
from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.workload.randomness import Floats, Integers, Stream, rounded


def draw_sizes(size: Size, stream: Stream, count: int) -> Integers:
    """Return the bytes of `count` flows. Of a distribution none is smaller than 4 bytes or larger than its cap."""
    if isinstance(size, FixedSize):
        return np.full(count, size.size_bytes, dtype=np.int64)
    if isinstance(size, DistributedSize):
        drawn = quantiles(size, stream.uniforms(count))
        return np.clip(drawn, SMALLEST_BYTES, size.cap_bytes)
    return stream.below(size.largest_bytes - size.smallest_bytes + 1, count) + size.smallest_bytes


def mean_size(size: Size) -> float:
    """Return the mean bytes of a flow."""
    if isinstance(size, FixedSize):
        return float(size.size_bytes)
    if isinstance(size, DistributedSize):
        return size.mean_bytes
    return (size.smallest_bytes + size.largest_bytes) / 2


def quantiles(size: DistributedSize, shares: Floats) -> Integers:
    """Return the sizes below which these shares (0 to less than 1) of the flows lie:
    the inverse of the distribution's CDF, not cut."""
    sizes, probabilities = _columns(size.points)
    # The first point whose probability is greater; there is one, as the last point's is 1.
    upper = np.searchsorted(probabilities, shares, side="right")
    if size.interpolation == "step":
        return sizes[upper].astype(np.int64)
    lower = upper - 1
    share = (shares - probabilities[lower]) / (probabilities[upper] - probabilities[lower])
    return rounded(sizes[lower] + share * (sizes[upper] - sizes[lower]))


def _columns(points: Sequence[tuple[int, float]]) -> tuple[Floats, Floats]:
    return np.array([size for size, _ in points], dtype=np.float64), np.array(
        [probability for _, probability in points], dtype=np.float64
    )
