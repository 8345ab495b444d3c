"""The transfers of Hadoop's tasks that are under way at the same time: the in-cast that they make."""

from __future__ import annotations

import numpy as np
import polars as pl

_MS = 10**6


def of_tasks(transfers: pl.DataFrame) -> pl.DataFrame:
    """Return the transfers of maps and reducers from one node to another, of the table `hadoop_transfers`: an
    application master keeps files open as long as it runs."""
    return transfers.filter(pl.col("of").is_not_null() & (pl.col("src") != pl.col("dst")))


def most_under_way(transfers: pl.DataFrame, phase: str, begin: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the times of all changes from `begin` to `end`, in nanoseconds, and from each of them on how many
    transfers of a phase were under way to that node to which most were."""
    rows = transfers.filter(
        (pl.col("phase") == phase) & pl.col("start_ns").is_not_null() & pl.col("end_ns").is_not_null()
    )
    changes = sorted(
        change
        for src, dst, start, stop in rows.select("src", "dst", "start_ns", "end_ns").iter_rows()
        # Logs have milliseconds: what began and ended in the same one was under way in it.
        for change in ((float(start), 1, dst), (max(float(stop), float(start) + _MS), -1, dst))
    )
    now: dict[str, int] = {}
    times, most = [begin], [0]
    for time, step, node in changes:
        now[node] = now.get(node, 0) + step
        times.append(min(max(time, begin), end))
        most.append(max(now.values()))
    return np.array([*times, end]), np.array([*most, most[-1]])
