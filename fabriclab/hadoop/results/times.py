"""What the time of a Hadoop job went to: computing, disks, the network, or waiting for none of them.

At each instant of a job some of its attempts run. One computes while its container does; else it waits for a disk,
its own or one that serves it, while that is busy; else for the network, while something is sent to it or by it. What
is left is waiting: for a slot, a heartbeat, a poll, another task. An instant counts for all running attempts in equal
shares, and as waiting when none runs, so that the four parts are the job's time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabriclab.hadoop.results.costs import DISK

Row = Mapping[str, Any]
PARTS = ("cpu", "disk", "network", "waiting")
TIME_COLUMNS = tuple(f"{part}_ns" for part in PARTS)
Times = NDArray[np.int64]
_Busy = NDArray[np.bool_]


def job_times(job: Row, attempts: Sequence[Row], transfers: Sequence[Row], costs: Sequence[Row]) -> dict[str, int]:
    """Return the parts of a job's time, in nanoseconds that add up to it; none of a job that has no beginning or end.

    `attempts`, `transfers` and `costs` are rows of the tables, of the job or of more.
    """
    begin, end = job.get("submit_ns"), job.get("end_ns")
    if begin is None or end is None or end <= begin:
        return {}
    own = [row for row in attempts if row.get("job_id") == job.get("job_id") and row.get("start_ns") is not None]
    tasks = [row for row in own if row.get("task") != "master"]
    edges = _edges(begin, end, tasks, transfers, costs)
    widths = np.diff(edges)
    runs = [_busy(edges, [row], end) for row in tasks]
    running = np.sum(runs, axis=0) if runs else np.zeros(len(widths), dtype=np.int64)
    # Tez' history does not name its master; YARN gives the first container to it.
    first = f"container{str(job.get('job_id')).removeprefix('job')}_01_000001"
    masters = [first, *(row.get("attempt") for row in own if row.get("task") == "master")]
    starts = _busy(edges, [row for row in costs if row["process"] in masters], end)
    shares = dict.fromkeys(PARTS, 0.0)
    shares["cpu"] = float(widths[(running == 0) & starts].sum())
    shares["waiting"] = float(widths[(running == 0) & ~starts].sum())
    for task, is_running in zip(tasks, runs, strict=True):
        weights = np.where(is_running, widths / np.maximum(running, 1), 0.0)
        for part, is_so in _parts(task, edges, end, transfers, costs):
            shares[part] += float(weights[is_so].sum())
    return _whole(shares, end - begin)


def _parts(
    task: Row, edges: Times, end: int, transfers: Sequence[Row], costs: Sequence[Row]
) -> Iterable[tuple[str, _Busy]]:
    """Yield each part with the instants at which the attempt is in it; each instant is in one."""
    own = [row for row in costs if row["process"] == task.get("container") and row["node"] == task.get("node")]
    sent = [row for row in transfers if row.get("of") is not None and row["of"] == task.get("attempt")]
    disks = _busy(edges, [row for row in own if row["what"] in DISK], end)
    for row in sent:
        # A block is read from another node's disk, and written to it.
        other = row["dst"] if row["phase"] == "hdfs-write" else row["src"]
        served = [one for one in costs if one["node"] == other and one["what"] in DISK]
        disks |= _busy(edges, [row], end) & _busy(edges, served, end)
    taken = np.zeros(len(edges) - 1, dtype=np.bool_)
    computing = _busy(edges, [row for row in own if row["what"] not in DISK], end)
    for part, is_so in (("cpu", computing), ("disk", disks), ("network", _busy(edges, sent, end))):
        yield part, is_so & ~taken
        taken |= is_so
    yield "waiting", ~taken


def _edges(begin: int, end: int, *rows: Sequence[Row]) -> Times:
    """Return all instants at which something begins or ends, within the job's time."""
    times = [row[name] for part in rows for row in part for name in ("start_ns", "end_ns") if row.get(name) is not None]
    inside = np.array([time for time in times if begin < time < end], dtype=np.int64)
    return np.unique(np.concatenate([inside, np.array([begin, end], dtype=np.int64)]))


def _busy(edges: Times, rows: Sequence[Row], end: int) -> _Busy:
    """Return whether any of the rows lasts, for each time between two edges; one without an end lasts to the last."""
    starts = [row["start_ns"] for row in rows]
    stops = [end if row.get("end_ns") is None else row["end_ns"] for row in rows]
    first, last = (np.searchsorted(edges, np.clip(times, edges[0], edges[-1])) for times in (starts, stops))
    depth = np.zeros(len(edges), dtype=np.int64)
    np.add.at(depth, first, 1)
    np.add.at(depth, last, -1)
    busy: _Busy = np.cumsum(depth)[:-1] > 0
    return busy


def _whole(shares: Mapping[str, float], total: int) -> dict[str, int]:
    """Return the shares in whole nanoseconds; what rounding leaves is waiting."""
    parts = {f"{part}_ns": round(value) for part, value in shares.items() if part != "waiting"}
    return parts | {"waiting_ns": total - sum(parts.values())}
