"""Confidence intervals by the percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
chapters 13 and 8.4).

What is resampled
  flows   of one run: each value alike. Flows of one run meet in the same queues, so they are correlated, and such an
          interval is too narrow: it says how well the sample fixes the statistic of this one run.
  runs    of several runs that differ only in their seed: whole runs, with all their flows (a cluster bootstrap). The
          runs are independent.

How
  percentile of flows   the k-th smallest of n resampled values is not above the j-th smallest value exactly when k or
                        more of n draws fall on the first j: a binomial tail with p = j/n. Its quantiles are the
                        interval, exactly; nothing is drawn.
  mean of flows         RESAMPLES resamples up to MOST_RESAMPLED values. Beyond, the quantiles of the resampled mean by
                        the Cornish-Fisher expansion to order 1/n of its exact mean, variance, skewness and kurtosis
                        (Hall, The Bootstrap and Edgeworth Expansion, 1992, section 2.5): what is left out is less there
                        than what RESAMPLES resamples scatter (1 % of the interval against 3 %, measured with log-normal
                        values of sigma 1 to 2).
  of runs               RESAMPLES resamples, weighing each value by how often its run was drawn.

Draws are raw words of PCG64 with a fixed seed, sums are exactly rounded or in a fixed order: an interval is the same on
every machine to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fabriclab.results.statistics import nearest_rank

CONFIDENCE_PERCENT = 95
RESAMPLES = 2_000
MOST_RESAMPLED = 1_000
"""Values of one run whose mean is resampled one by one."""
_TAIL_PERCENT = (100 - CONFIDENCE_PERCENT) / 2
_NORMAL_QUANTILE = 1.959963984540054
"""The quantile of the normal distribution at 97.5 %."""
_SEED = 20_101_004
_NEGLIGIBLE = 1e-20
"""The share of a binomial sum's largest term below which others are left out;
far below what 64 bits resolve in the sum."""

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Estimate:
    """A statistic and its confidence interval; None where there is nothing to say."""

    value: float | None
    low: float | None = None
    high: float | None = None


NOTHING = Estimate(None)


@dataclass(frozen=True)
class Sample:
    """Values in ascending order and, of each, the number of its run, from 0; runs None: all of one run."""

    values: Numbers
    runs: Numbers | None = None

    @classmethod
    def of(cls, values: pl.Series, runs: pl.Series | None = None) -> Sample:
        """Return the sample of a series without nulls.

        Runs with no value are not part of it: they would only repeat the others.
        """
        order = values.arg_sort()
        ordered = values.gather(order).to_numpy()
        if runs is None:
            return cls(ordered)
        _, numbers = np.unique(runs.gather(order).to_numpy(), return_inverse=True)
        return cls(ordered, numbers)

    @property
    def run_count(self) -> int:
        """How many runs have values."""
        return 0 if not len(self.values) else 1 if self.runs is None else int(self.runs.max()) + 1


def mean_estimate(sample: Sample) -> Estimate:
    """Return the mean of all values (of a pool: of all flows, not of the runs' means)."""
    if not len(sample.values):
        return NOTHING
    mean = exact_sum(sample.values) / len(sample.values)
    if sample.runs is not None:
        return _interval(mean, _mean_of_runs(sample.values, sample.runs)) if sample.run_count > 1 else Estimate(mean)
    if len(sample.values) <= MOST_RESAMPLED:
        return _interval(mean, _running_sums(sample.values[_draws(len(sample.values))]) / len(sample.values))
    return _cornish_fisher(sample.values.astype(np.float64), mean)


def percentile_estimate(sample: Sample, percent: float) -> Estimate:
    """Return the nearest-rank percentile."""
    count = len(sample.values)
    if not count:
        return NOTHING
    rank = nearest_rank(count, percent)
    value = float(sample.values[rank - 1])
    if sample.runs is None:
        low, high = order_statistic_interval(count, rank)
        return Estimate(value, float(sample.values[low - 1]), float(sample.values[high - 1]))
    if sample.run_count < 2:
        return Estimate(value)
    return _interval(value, sample.values[_percentile_of_runs(sample.runs, percent)])


def ratio_estimate(values: Numbers, references: Numbers) -> Estimate:
    """Return the mean of values over the mean of references, of one run each in the same order; resampled are these
    pairs.

    Resamples whose references are all 0 are left out; without any other there is no interval.
    """
    picks = _draws(len(values))
    sums, bases = _running_sums(values[picks].astype(np.float64)), _running_sums(references[picks].astype(np.float64))
    ratio = exact_sum(values) / exact_sum(references)
    known = bases != 0
    return _interval(ratio, sums[known] / bases[known]) if known.any() else Estimate(ratio)


def standard_deviation(values: Numbers) -> float | None:
    """Return the standard deviation of a sample (divisor n - 1); None of fewer than two values."""
    if len(values) < 2:
        return None
    deviations = values.astype(np.float64) - exact_sum(values) / len(values)
    return math.sqrt(exact_sum(deviations * deviations) / (len(values) - 1))


def exact_sum(values: Numbers) -> float:
    """Return the sum of integers as it is, of floats correctly rounded, whatever their order."""
    return float(sum(values.tolist())) if values.dtype.kind in "iu" else math.fsum(values.tolist())


@lru_cache(maxsize=4096)
def order_statistic_interval(count: int, rank: int) -> tuple[int, int]:
    """Return the ranks, from 1, of the values that bound the bootstrap interval of the value of a
    rank, of `count` values."""
    return _rank_reaching(count, rank, _TAIL_PERCENT / 100), _rank_reaching(count, rank, 1 - _TAIL_PERCENT / 100)


def _rank_reaching(count: int, rank: int, probability: float) -> int:
    """Return the smallest j such that the resampled value of `rank` is not above the j-th value with at
    least that probability."""

    def is_reached(successes: int) -> bool:
        return binomial_tail(count, successes, rank) >= probability

    # The normal approximation says where to look; the answer is the same wherever the search begins.
    spread = math.sqrt(rank * (count - rank) / count)
    near = rank + NormalDist().inv_cdf(probability) * spread
    width = 3 + spread / 100
    low, high = min(max(1, math.floor(near - width)), count), min(max(1, math.ceil(near + width)), count)
    if not is_reached(high):
        low, high = high + 1, count
    elif low > 1 and is_reached(low - 1):
        low, high = 1, low - 1
    while low < high:
        middle = (low + high) // 2
        if is_reached(middle):
            high = middle
        else:
            low = middle + 1
    return low


def binomial_tail(count: int, successes: int, least: int) -> float:
    """Return the probability of `least` or more of `count` draws that each succeed with probability successes / count.

    Terms are summed outwards from the largest by their ratios, and divided by the sum of all: no logarithm, no
    factorial.
    """
    if successes >= count:
        return 1.0
    odds = successes / (count - successes)
    above = below = 0.0
    term, hits = 1.0, successes
    while hits <= count and term > _NEGLIGIBLE:
        above, below = (above + term, below) if hits >= least else (above, below + term)
        term *= (count - hits) / (hits + 1) * odds
        hits += 1
    term, hits = successes / ((count - successes + 1) * odds), successes - 1
    while hits >= 0 and term > _NEGLIGIBLE:
        above, below = (above + term, below) if hits >= least else (above, below + term)
        term *= hits / ((count - hits + 1) * odds)
        hits -= 1
    return above / (above + below)


def share_intervals(counts: Numbers, totals: Numbers) -> tuple[Numbers, Numbers]:
    """Return lower and upper bounds of pooled shares, each of shape (values,).

    `counts` has shape (runs, values), how many flows of each run a value covers; `totals` (runs,) all flows of each.
    """
    weights = _run_weights(len(totals))
    # Whole numbers far below 2^53: exact in whatever order they are added.
    covered = weights.astype(np.float64) @ counts.astype(np.float64)
    shares = np.sort(covered / (weights @ totals)[:, None], axis=0)
    return shares[nearest_rank(RESAMPLES, _TAIL_PERCENT) - 1], shares[nearest_rank(RESAMPLES, 100 - _TAIL_PERCENT) - 1]


def _interval(value: float, resampled: Numbers) -> Estimate:
    ordered = np.sort(resampled)
    low, high = (ordered[nearest_rank(len(ordered), percent) - 1] for percent in (_TAIL_PERCENT, 100 - _TAIL_PERCENT))
    return Estimate(value, float(low), float(high))


def _cornish_fisher(values: Numbers, mean: float) -> Estimate:
    count = len(values)
    deviations = values - mean
    squares = deviations * deviations
    variance = exact_sum(squares) / count
    if variance == 0:
        return Estimate(mean, mean, mean)
    skewness = exact_sum(squares * deviations) / count / (variance * math.sqrt(variance)) / math.sqrt(count)
    kurtosis = (exact_sum(squares * squares) / count / (variance * variance) - 3) / count

    def quantile(z: float) -> float:
        standard = (
            z
            + (z * z - 1) * skewness / 6
            + (z * z - 3) * z * kurtosis / 24
            - (2 * z * z - 5) * z * skewness * skewness / 36
        )
        return mean + standard * math.sqrt(variance / count)

    return Estimate(mean, quantile(-_NORMAL_QUANTILE), quantile(_NORMAL_QUANTILE))


def _mean_of_runs(values: Numbers, runs: Numbers) -> Numbers:
    counts = np.bincount(runs)
    of_runs = np.split(values[np.argsort(runs, kind="stable")], np.cumsum(counts)[:-1])
    sums = np.array([exact_sum(of_run) for of_run in of_runs])
    picks = _draws(len(sums))
    return _running_sums(sums[picks]) / _running_sums(counts[picks])


def _percentile_of_runs(runs: Numbers, percent: float) -> Numbers:
    """Return the position, from 0, of each resample's percentile among the pooled values in ascending order; shape
    (RESAMPLES,).

    `runs` tells each value's run. A resample is a weight of each run; what is sought is where the weights up to a value
    reach the rank. Blocks of values are counted run by run first, so that each resample looks at one block alone.
    """
    run_count, size = int(runs.max()) + 1, math.isqrt(len(runs)) + 1
    blocks = -(-len(runs) // size)
    table = np.bincount(np.arange(len(runs)) // size * run_count + runs, minlength=blocks * run_count).reshape(
        blocks, run_count
    )
    weights = _run_weights(run_count)
    # Whole numbers far below 2^53: exact in whatever order they are added.
    reached = np.cumsum(table.astype(np.float64) @ weights.T.astype(np.float64), axis=0)
    ranks = np.array([nearest_rank(int(total), percent) for total in reached[-1]])
    block = (reached < ranks).sum(axis=0)
    before = np.where(block > 0, reached[block - 1, np.arange(RESAMPLES)], 0)
    within = block[:, None] * size + np.arange(size)
    padded = np.append(runs, np.full(blocks * size - len(runs), run_count))
    own = np.take_along_axis(
        np.hstack((weights, np.zeros((RESAMPLES, 1), dtype=weights.dtype))), padded[within], axis=1
    )
    place: Numbers = block * size + (before[:, None] + np.cumsum(own, axis=1) < ranks[:, None]).sum(axis=1)
    return place


@lru_cache(maxsize=4)
def _run_weights(count: int) -> Numbers:
    """Return how often each of `count` runs is part of each resample, shape (RESAMPLES, count)."""
    rows = np.arange(RESAMPLES)[:, None] * count
    return np.bincount((rows + _draws(count)).ravel(), minlength=RESAMPLES * count).reshape(RESAMPLES, count)


def _draws(count: int) -> Numbers:
    """Return RESAMPLES times `count` draws of 0 .. count - 1."""
    words = np.random.PCG64(_SEED).random_raw(RESAMPLES * count).reshape(RESAMPLES, count)
    uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (uniform * count).astype(np.int64)


def _running_sums(rows: Numbers) -> Numbers:
    """Return the sum of each row, added from left to right."""
    sums: Numbers = np.cumsum(rows, axis=1)[:, -1]
    return sums
