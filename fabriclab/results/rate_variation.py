"""How steadily long flows send: the coefficient of variation of a flow's throughput."""

from __future__ import annotations

import numpy as np
import polars as pl

from fabriclab.results.acknowledged import acknowledged, counter_at, long_lives
from fabriclab.results.bootstrap import exact_sum

WINDOW_NS = 10_000_000
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
