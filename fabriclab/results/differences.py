"""How far two experiments lie apart in one number, and whether that could be the seeds' doing alone.

Both have one value a seed. Runs of the same seed have the same drawn arrivals and sizes, so what these do drops out of
the difference of a pair. Of equal experiments such a difference is as often above 0 as below, by as much: Student's t
holds for it with few pairs too, heavy tails make it careful (`tests/unit/results/test_differences.py` counts how
often). Where no seeds pair, Welch's t compares two means with variances of their own (Biometrika 34, 1947).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

Numbers = npt.NDArray[np.float64]

FEWEST = 3
"""Two pairs can agree by chance where a value has a few places only, such as one timeout or none."""


@dataclass(frozen=True)
class Difference:
    """A metric's mean here and there.

    `pairs` counts the seeds that both have, and means are of these; 0: all runs of both were taken, `runs` of each. The
    standard error is None where fewer than FEWEST pairs, or runs of each, tell it.
    """

    base: float
    other: float
    pairs: int
    runs: tuple[int, int]
    error: float | None = None
    """The standard error of `change`."""
    freedom: float | None = None
    """Degrees of freedom of Student's t."""
    is_same: bool = False
    """Whether every seed of both has the same value, to the bit."""

    @property
    def change(self) -> float:
        """The mean there less the mean here."""
        return self.other - self.base

    @property
    def ratio(self) -> float | None:
        """The change as a part of the base's mean; None where that is 0."""
        return self.change / abs(self.base) if self.base else None

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Return the ends of the change's confidence interval; None where there is no standard error."""
        if self.error is None or self.freedom is None:
            return None
        reach = float(stdtrit(self.freedom, (1 + level) / 2)) * self.error
        return self.change - reach, self.change + reach

    @cached_property
    def p_value(self) -> float | None:
        """How likely equal experiments lie at least as far apart, either way; None where nothing can tell."""
        if self.error is None:
            return None
        return min(1.0, 2 * self.p_beyond(0.0) if self.change > 0 else 2 * self.p_below(0.0))

    def p_beyond(self, margin: float) -> float:
        """Return how likely a change of no more than `margin` looks like this one or a larger one. Needs an error."""
        return self._tail(self.change - margin)

    def p_below(self, margin: float) -> float:
        """Return how likely a change of no less than `-margin` looks like this one or a smaller one. Needs an error."""
        return self._tail(-self.change - margin)

    def _tail(self, distance: float) -> float:
        assert self.error is not None
        assert self.freedom is not None
        if self.error == 0:
            return 0.0 if distance > 0 else 1.0
        return float(stdtr(self.freedom, -distance / self.error))


def difference(base: Mapping[int, float], other: Mapping[int, float], *, is_count: bool = False) -> Difference | None:
    """Return how far two experiments lie apart, each a value by its seed; None where one has none.

    Counts that happen to differ by the same whole number in a few pairs are not more certain than others: a count is
    taken for rounded, and brings the variance of rounding with it.
    """
    if not base or not other:
        return None
    seeds = sorted(base.keys() & other.keys())
    is_same = base.keys() == other.keys() and all(base[seed] == other[seed] for seed in seeds)
    if len(seeds) > 1 or is_same:
        before, after = (np.array([values[seed] for seed in seeds], dtype=np.float64) for values in (base, other))
        error, freedom = _paired(after - before, is_count)
        return Difference(
            float(before.mean()), float(after.mean()), len(seeds), (len(base), len(other)), error, freedom, is_same
        )
    before, after = (np.array([values[seed] for seed in sorted(values)], dtype=np.float64) for values in (base, other))
    error, freedom = _welch(before, after, is_count)
    # One run of the same seed each is a pair, but tells nothing of what the seed does.
    pairs = len(seeds) if len(base) == len(other) == 1 else 0
    return Difference(float(before.mean()), float(after.mean()), pairs, (len(base), len(other)), error, freedom)


def holm(p_values: Sequence[float], level: float = 0.95) -> list[bool]:
    """Return which of several hypotheses fall, so that with probability `level` none of them falls that is true.

    Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6, 1979: it asks
    nothing of how the values hang together.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    falls = [False] * len(p_values)
    for done, index in enumerate(order):
        if p_values[index] > (1 - level) / (len(p_values) - done):
            break
        falls[index] = True
    return falls


def _paired(differences: Numbers, is_count: bool) -> tuple[float | None, float | None]:
    count = len(differences)
    if count < FEWEST:
        return None, None
    # Two numbers, each rounded to a whole one.
    variance = max(float(differences.var(ddof=1)), 2 / 12 if is_count and differences.any() else 0.0)
    return float(np.sqrt(variance / count)), count - 1.0


def _welch(base: Numbers, other: Numbers, is_count: bool) -> tuple[float | None, float | None]:
    if min(len(base), len(other)) < FEWEST:
        return None, None
    least = 1 / 12 if is_count else 0.0
    parts = [max(float(values.var(ddof=1)), least) / len(values) for values in (base, other)]
    variance = sum(parts)
    if variance == 0:
        return 0.0, float(min(len(base), len(other)) - 1)
    freedom = variance**2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, (base, other), strict=True))
    return float(np.sqrt(variance)), freedom
