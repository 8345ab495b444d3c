"""How fairly long flows share what they share, and how soon after one comes or goes.

A phase is the time between two changes of which long flows run. A flow's throughput within it is what was acknowledged
to its sender, by the TCP samples; an index over flows' whole lives says little where they live at different times.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fabriclab.results.bootstrap import exact_sum

FAIR = 0.95
"""A Jain index from which on a division counts as fair: of two flows one has at most 1.6 times the other's share."""
SHORTEST_PHASE_NS = 100_000_000
"""Shorter phases are none: starts some milliseconds apart are one change."""
_SCHEMA = {"begin_ns": pl.Int64, "end_ns": pl.Int64, "flows": pl.Int64, "jain": pl.Float64, "fair_after_ns": pl.Int64}

Array = npt.NDArray[np.float64]


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
    lives = _lives(flows, tcp)
    counters = _acknowledged(tcp, lives)
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


def _lives(flows: pl.LazyFrame, tcp: pl.LazyFrame) -> pl.DataFrame:
    """Return flow, src, start_ns and end_ns of the long flows that were not broken off.

    One that got nothing through ran none the less: it ends when it was stopped, at the last sample in a run that was
    cut, not at the last byte that arrived.
    """
    last_ns = tcp.select(pl.col("time_ns").max()).collect(engine="streaming").item()
    ran = flows.filter(
        pl.col("stop_ns").is_not_null() & pl.col("start_ns").is_not_null() & (pl.col("status") == "stopped")
    )
    end = pl.min_horizontal("stop_ns", pl.lit(last_ns, pl.Int64)).alias("end_ns")
    return ran.select("flow", "src", "start_ns", end).collect(engine="streaming")


def _phases(lives: pl.DataFrame) -> Iterator[tuple[int, int, list[int]]]:
    """Yield begin, end and flows of every phase that is long enough."""
    for begin, end in pairwise(sorted({*lives["start_ns"], *lives["end_ns"]})):
        if end - begin >= SHORTEST_PHASE_NS:
            running = lives.filter((pl.col("start_ns") <= begin) & (pl.col("end_ns") >= end))["flow"].to_list()
            if len(running) > 1:
                yield begin, end, running


def _acknowledged(tcp: pl.LazyFrame, lives: pl.DataFrame) -> dict[int, pl.DataFrame]:
    """Return time_ns and bytes_acked of each flow's sender; of MPTCP the sum over subflows."""
    senders = lives.lazy().select("flow", pl.col("src").alias("node"))
    rows = tcp.join(senders, on=["flow", "node"], how="semi", maintain_order="left").filter(
        pl.col("bytes_acked").is_not_null()
    )
    subflow = pl.col("subflow").fill_null(-1) if "subflow" in tcp.collect_schema().names() else pl.lit(-1)
    gained = (
        pl.col("bytes_acked")
        .cast(pl.Int64)
        .diff()
        .fill_null(pl.col("bytes_acked").cast(pl.Int64))
        .over("flow", "subflow")
    )
    sums = rows.select("time_ns", "flow", "bytes_acked", subflow.alias("subflow")).select(
        "time_ns", "flow", gained.alias("gained")
    )
    table = sums.with_columns(pl.col("gained").cum_sum().over("flow").alias("bytes")).select("time_ns", "flow", "bytes")
    return {
        int(key[0]): part for key, part in table.collect(engine="streaming").partition_by("flow", as_dict=True).items()
    }


def _row(begin: int, end: int, counters: list[pl.DataFrame]) -> dict[str, Any] | None:
    """Return a row of the table; None where no sample was taken or no flow got anything."""
    times = np.unique(np.concatenate([counter["time_ns"].to_numpy() for counter in counters]))
    times = times[(times > begin) & (times <= end)]
    if not len(times):
        return None
    got = np.array([_counter_at(counter, times) - _counter_at(counter, np.array([begin])) for counter in counters])
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


def _counter_at(part: pl.DataFrame, times: npt.NDArray[np.int64]) -> Array:
    """Return the counter's value at each time: a row holds until the next; 0 before the first."""
    row = np.searchsorted(part["time_ns"].to_numpy(), times, side="right") - 1
    result: Array = np.where(row >= 0, part["bytes"].to_numpy()[np.maximum(row, 0)], 0).astype(np.float64)
    return result


def _jain_over_time(got: Array) -> Array:
    """Return Jain's index of each column (flows down, times across); 0 where nobody has got anything yet."""
    squares = len(got) * (got * got).sum(axis=0)
    result: Array = np.divide(got.sum(axis=0) ** 2, squares, out=np.zeros(got.shape[1]), where=squares > 0)
    return result
