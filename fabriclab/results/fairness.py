"""How fairly long flows share what they share, how soon after one comes or goes, and how steadily each sends.

A phase is the time between two changes of which long flows run. A flow's throughput within it is what was acknowledged
to its sender, by the TCP samples; an index over flows' whole lives says little where they live at different times.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from fabriclab.results.acknowledged import Array, acknowledged, counter_at, long_lives
from fabriclab.results.bootstrap import exact_sum

FAIR = 0.95
"""A Jain index from which on a division counts as fair: of two flows one has at most 1.6 times the other's share."""
SHORTEST_PHASE_NS = 100_000_000
"""Shorter phases are none: starts some milliseconds apart are one change."""
_SCHEMA = {"begin_ns": pl.Int64, "end_ns": pl.Int64, "flows": pl.Int64, "jain": pl.Float64, "fair_after_ns": pl.Int64}


def phase_table(flows: pl.LazyFrame, tcp: pl.LazyFrame | None) -> pl.DataFrame:
    """Return one row for each phase in which at least two sampled long flows ran, in the order of time. Columns:

    begin_ns, end_ns  ns after the epoch
    flows             sampled long flows that ran
    jain              Jain's index of their throughputs
    fair_after_ns     time from the phase's begin after which Jain's index of what each has got since then stays at FAIR
    or above;
                      the phase's whole length where it never comes to that
    """
    if tcp is None:
        return pl.DataFrame(schema=_SCHEMA)
    lives = long_lives(flows, tcp)
    counters = acknowledged(tcp, lives)
    sampled = lives.filter(pl.col("flow").is_in(list(counters)))
    rows = [_row(begin, end, [counters[flow] for flow in running]) for begin, end, running in _phases(sampled)]
    return pl.DataFrame([row for row in rows if row is not None], schema=_SCHEMA)


def fairness_metrics(flows: pl.LazyFrame, tcp: pl.LazyFrame | None) -> dict[str, float | None]:
    """Return jain_phase_mean, jain_phase_min and fair_after_mean_ns over the phases of a run; None without any."""
    phases = phase_table(flows, tcp)
    if phases.is_empty():
        return {"jain_phase_mean": None, "jain_phase_min": None, "fair_after_mean_ns": None}
    return {
        "jain_phase_mean": exact_sum(phases["jain"].to_numpy()) / phases.height,
        "jain_phase_min": float(np.min(phases["jain"].to_numpy())),
        "fair_after_mean_ns": int(phases["fair_after_ns"].sum()) / phases.height,
    }


def _phases(lives: pl.DataFrame) -> Iterator[tuple[int, int, list[int]]]:
    """Yield begin, end and flows of every phase that is long enough."""
    for begin, end in pairwise(sorted({*lives["start_ns"], *lives["end_ns"]})):
        if end - begin >= SHORTEST_PHASE_NS:
            running = lives.filter((pl.col("start_ns") <= begin) & (pl.col("end_ns") >= end))["flow"].to_list()
            if len(running) > 1:
                yield begin, end, running


def _row(begin: int, end: int, counters: list[pl.DataFrame]) -> dict[str, Any] | None:
    """Return a row of the table; None where no sample was taken or no flow got anything."""
    times = np.unique(np.concatenate([counter["time_ns"].to_numpy() for counter in counters]))
    times = times[(times > begin) & (times <= end)]
    if not len(times):
        return None
    got = np.array([counter_at(counter, times) - counter_at(counter, np.array([begin])) for counter in counters])
    jain = _jain_over_time(got)
    if jain[-1] == 0:
        return None
    fair_from = len(jain) - int(np.argmin(np.append(jain[::-1] >= FAIR, False)))
    settled = begin if fair_from == 0 else end if fair_from == len(jain) else int(times[fair_from])
    return {
        "begin_ns": begin,
        "end_ns": end,
        "flows": len(counters),
        "jain": float(jain[-1]),
        "fair_after_ns": settled - begin,
    }


def _jain_over_time(got: Array) -> Array:
    """Return Jain's index of each column (flows down, times across); 0 where nobody has got anything yet."""
    squares = len(got) * (got * got).sum(axis=0)
    result: Array = np.divide(got.sum(axis=0) ** 2, squares, out=np.zeros(got.shape[1]), where=squares > 0)
    return result


WINDOW_NS = 10_000_000
"""What the coefficient of variation of a flow's throughput is of."""
SETTLED_NS = 100_000_000
"""A flow's first 100 ms are its start, not its steadiness."""
LEAST_WINDOWS = 10


def rate_variation(flows: pl.LazyFrame, tcp: pl.LazyFrame | None) -> dict[str, float | None]:
    """Return `rate_variation`: standard deviation over mean of a long flow's throughput in windows of 10 ms, the mean
    over flows; None without a sampled long flow that ran for ten windows after its first 100 ms."""
    variations = [] if tcp is None else list(_variations(flows, tcp))
    return {"rate_variation": exact_sum(np.array(variations)) / len(variations) if variations else None}


def _variations(flows: pl.LazyFrame, tcp: pl.LazyFrame) -> list[float]:
    lives = long_lives(flows, tcp)
    counters = acknowledged(tcp, lives)
    found = []
    for flow, start, end in lives.select("flow", "start_ns", "end_ns").iter_rows():
        edges = np.arange(start + SETTLED_NS, end + 1, WINDOW_NS)
        if flow not in counters or len(edges) <= LEAST_WINDOWS:
            continue
        gained = np.diff(counter_at(counters[flow], edges))
        if gained.mean() > 0:
            found.append(float(gained.std() / gained.mean()))
    return found
