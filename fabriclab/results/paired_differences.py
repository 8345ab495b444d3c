"""How much a metric changes from one experiment to another, both repeated with several seeds.

Runs of the same seed are a pair: they have the same drawn groups, arrivals and sizes, so what these do to the metric is
in both and drops out of the comparison. An interval resamples pairs; what resampling is: `fabriclab.results.bootstrap`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fabriclab.results.bootstrap import Estimate, ratio_estimate
from fabriclab.results.sweep import Pool


@dataclass(frozen=True)
class Change:
    """A metric's mean over runs, divided by its mean over the runs of the base: 1 is not a change.

    `pairs` counts the seeds that both have; with none of them all runs are compared, and with fewer than two there is
    no interval.
    """

    ratio: Estimate
    pairs: int


def paired_change(base: Pool, pool: Pool, metric: str) -> Change | None:
    """Return by how much the metric differs from the base's; None where one of both did not measure it,
    or the base's mean is 0."""
    return change_by_seed(_by_seed(base, metric), _by_seed(pool, metric))


def change_by_seed(before: Mapping[int, float], after: Mapping[int, float]) -> Change | None:
    """Return by how much numbers differ, each from that of its own seed; None where there are none, or their mean
    before is 0."""
    seeds = sorted(before.keys() & after.keys())
    values, references = (
        np.array([numbers[seed] for seed in (seeds or sorted(numbers))], dtype=np.float64)
        for numbers in (after, before)
    )
    if not len(values) or not len(references) or references.mean() == 0:
        return None
    if len(seeds) < 2:
        return Change(Estimate(float(values.mean() / references.mean())), len(seeds))
    return Change(ratio_estimate(values, references), len(seeds))


def _by_seed(pool: Pool, metric: str) -> Mapping[int, float]:
    values = {point.seed: point.results.summary.get(metric) for point in pool.points if point.results is not None}
    return {seed: float(value) for seed, value in values.items() if value is not None}
