"""The samples of one queue, whichever probe took them: a port's qdisc, or the switch that tells each of its queues."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from fabriclab.report.measured.port_facts import PortFacts, port_facts
from fabriclab.report.measured.scope import most_of
from fabriclab.report.measured.series import only_value
from fabriclab.results import Results
from fabriclab.results.statistics import (
    hold_until_next,
    time_weighted_distribution,
    time_weighted_mean,
    time_weighted_percentile,
)
from fabriclab.results.summary import busy_interval
from fabriclab.results.switch_metrics import DROP_CAUSES


@dataclass(frozen=True)
class QueueSamples:
    """Rows have time_ns (ascending), bytes, drops and marks, both counted since the port was made;
    there is at least one."""

    rows: pl.LazyFrame
    facts: PortFacts
    interval_ns: int
    """Between two samples; of recorded changes, their mean distance."""
    busy: tuple[int, int]

    @cached_property
    def distribution(self) -> pl.DataFrame:
        """How much of the busy time the queue was how long
        (`fabriclab.results.statistics.time_weighted_distribution`)."""
        return time_weighted_distribution(hold_until_next(self.rows, "bytes", *self.busy))

    @cached_property
    def longest_bytes(self) -> int | None:
        """Return the longest queue that was sampled, in bytes."""
        longest: int | None = only_value(self.rows, pl.col("bytes").max())
        return longest

    @property
    def mean_bytes(self) -> float | None:
        """Return the mean length over the busy time, in bytes."""
        return time_weighted_mean(self.distribution)

    def percentile_bytes(self, percent: float) -> int | None:
        """Return the length that was not exceeded for so much of the busy time."""
        length = time_weighted_percentile(self.distribution, percent)
        return None if length is None else round(length)

    @property
    def empty_share(self) -> float:
        """Share of the busy time in which it stood empty."""
        table = self.distribution
        return float(table["share"][0]) if table.height and table["value"][0] == 0 else 0.0

    @cached_property
    def drops(self) -> int | None:
        """Packets dropped, last sample minus first."""
        count: int | None = only_value(self.rows, pl.col("drops").last() - pl.col("drops").first())
        return count

    @cached_property
    def telling(self) -> tuple[int | None, str]:
        """The time, ns after the epoch, at which to look closer, and what is there: the first drop; of a switch's
        queue, its longest.

        None is the middle of the run.
        """
        dropping = pl.col("drops") > pl.col("drops").first()
        at: int | None = only_value(self.rows, pl.col("time_ns").filter(dropping).first())
        if at is not None:
            return at, "around the first drop"
        if self.facts.queue is None:
            return None, "from the middle of the run"
        # It may be one of many and stand empty for most of a run.
        longest: int | None = only_value(self.rows, pl.col("time_ns").get(pl.col("bytes").fill_null(0).arg_max()))
        return longest, "around the longest queue"


def queue_samples(results: Results, port: str | None = None, queue: int | None = None) -> QueueSamples | None:
    """Return the samples of a port's qdisc, by default the first sampled one's, or of one queue of a port;
    None when there are none."""
    facts = port_facts(results, port, queue)
    rows = results.measured.queues if queue is None else _queue_rows(results, queue)
    if facts is None or rows is None:
        return None
    rows = rows.filter(pl.col("port") == facts.name)
    if only_value(rows, pl.len()) == 0:
        return None
    probes = results.plan.probes
    interval = probes.queue_interval_ns if queue is None else probes.switch_interval_ns
    return QueueSamples(rows, facts, interval or _mean_gap_ns(rows), busy_interval(results.measured))


def _mean_gap_ns(rows: pl.LazyFrame) -> int:
    """Return the mean time between two rows, where each change has one."""
    gap: float | None = only_value(rows, pl.col("time_ns").diff().mean())
    return round(gap or 0)


def default_place(results: Results) -> tuple[str | None, int | None]:
    """Return port and queue that figures of a run show which name none: the sampled port with the longest mean queue.

    None, None where that is the only one. Without any sampled port it is the queue of a switch that grew longest.
    """
    if ports := results.plan.probes.queue_ports:
        most = most_of(results, "queue_mean_bytes") if len(ports) > 1 else None
        return (None if most is None else most.port), None
    return longest_queue(results) or (None, None)


def longest_queue(results: Results, port: str | None = None, queue: int | None = None) -> tuple[str, int] | None:
    """Return port and number of the switch's queue that grew longest, of those named if they were sampled;
    None without samples."""
    if results.switches.queues is None:
        return None
    hosts = results.plan.host_names
    most = (
        results.switches.queues.group_by("port", "queue")
        .agg(pl.col("watermark_bytes").max())
        .collect(engine="streaming")
    )
    places = [
        (row["port"], row["queue"], row["watermark_bytes"] or 0)
        for row in most.sort("port", "queue").iter_rows(named=True)
    ]
    of_switches = [place for place in places if place[0].partition(":")[0] not in hosts]
    exact = [place for place in places if place[0] == port and queue in (None, place[1])]
    numbered = [place for place in of_switches if place[1] == queue]
    longest = max(
        exact if port is not None else numbered or of_switches or places, key=lambda place: place[2], default=None
    )
    return longest[:2] if longest is not None else None


def _queue_rows(results: Results, queue: int) -> pl.LazyFrame | None:
    if results.switches.queues is None:
        return None
    drops, marks = pl.sum_horizontal(DROP_CAUSES, ignore_nulls=False), pl.col("marked_wred") + pl.col("marked_phantom")
    of_queue = results.switches.queues.filter(pl.col("queue") == queue)
    return of_queue.select("time_ns", "port", "bytes", drops.alias("drops"), marks.alias("marks"))
