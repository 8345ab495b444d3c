"""The summary's metrics of sampled ports' queues: each port's own, and those of all sampled ports together.

Definitions of each port's: `fabriclab.formats.metrics`. A name without a port is about every port that is sampled,
never about one of them: a count is the sum over the ports (PORT_COUNTS), a length, or a rate, is that of the
port where it is largest (PORT_LARGEST), each metric for itself. So the port with the largest mean need not be the one
with the largest sample; `most_of_ports` says which it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from fabriclab.formats.metrics import QUEUES, names
from fabriclab.results.flow_metrics import Metric, Metrics
from fabriclab.results.statistics import (
    hold_until_next,
    time_weighted_distribution,
    time_weighted_mean,
    time_weighted_percentile,
)

PORT_COUNTS = names(QUEUES, "port", "sum")
PORT_LARGEST = names(QUEUES, "port", "largest")
PORT_LENGTHS = tuple(name for name in PORT_LARGEST if name.endswith("_bytes"))
SILENCE_NS = 10_000_000
"""So long a silence of a port is a stall: far longer than a round trip, far shorter than Linux's RTOmin of 200 ms."""
_MOST_ROWS_AT_ONCE = 1 << 18
"""About 20 MB."""


@dataclass(frozen=True)
class PortShare:
    """The port where a metric is largest, and of how many."""

    port: str
    value: float
    measured: int
    """Ports that have the metric."""
    sampled: int
    """Ports that were to be sampled."""


def queue_metrics(queues: pl.LazyFrame | None, ports: Sequence[str], begin_ns: int, end_ns: int) -> Metrics:
    """Return the metrics of all sampled ports together, then each port's own;
    `begin_ns` to `end_ns` is the busy time, after the epoch."""
    metrics: Metrics = {}
    for port, rows in () if queues is None else _by_port(queues, ports):
        of_port = _queue_of_port(rows, begin_ns, end_ns)
        metrics |= {f"{name}[{port}]": value for name, value in of_port.items()}
    return over_all_ports(metrics, ports) | metrics


def _by_port(queues: pl.LazyFrame, ports: Sequence[str]) -> Iterator[tuple[str, pl.LazyFrame]]:
    """Yield each port with its rows. Few rows are read once for all ports, many are read anew for each."""
    if queues.select(pl.len()).collect().item() > _MOST_ROWS_AT_ONCE:
        yield from ((port, queues.filter(pl.col("port") == port)) for port in ports)
        return
    every = queues.collect()
    parts = every.partition_by("port", as_dict=True, maintain_order=True)
    yield from ((port, parts.get((port,), every.clear()).lazy()) for port in ports)


def over_all_ports(metrics: Mapping[str, Metric], ports: Sequence[str]) -> Metrics:
    """Return the metrics without a port: sums and largest values of those that ports have;
    None where no port has any."""
    whole: Metrics = {}
    for of_ports, together in ((PORT_LARGEST, max), (PORT_COUNTS, sum)):
        for name in of_ports:
            known = [value for _, value in _known(metrics, name, ports)]
            whole[name] = together(known) if known else None
    return whole


def most_of_ports(metrics: Mapping[str, Metric], name: str, ports: Sequence[str]) -> PortShare | None:
    """Return where a metric is largest among these ports, of equal ones the first; None where no port has it."""
    known = list(_known(metrics, name, ports))
    if not known:
        return None
    port, value = max(known, key=lambda pair: pair[1])
    return PortShare(port, value, len(known), len(ports))


def _known(metrics: Mapping[str, Metric], name: str, ports: Iterable[str]) -> Iterable[tuple[str, float]]:
    for port in dict.fromkeys(ports):
        value = metrics.get(f"{name}[{port}]")
        if value is not None:
            yield port, value


def _queue_of_port(rows: pl.LazyFrame, begin_ns: int, end_ns: int) -> Metrics:
    distribution = time_weighted_distribution(hold_until_next(rows, "bytes", begin_ns, end_ns))
    counted = [(pl.col(name).last() - pl.col(name).first()).alias(name) for name in ("drops", "marks")]
    row = _only_row(rows.select(pl.col("bytes").max(), *counted))
    return {
        "queue_mean_bytes": time_weighted_mean(distribution),
        "queue_median_bytes": _whole(time_weighted_percentile(distribution, 50)),
        "queue_p99_bytes": _whole(time_weighted_percentile(distribution, 99)),
        "queue_max_bytes": row["bytes"],
        "drops": row["drops"],
        "queue_marks": row["marks"],
        **_silences(rows, begin_ns, end_ns),
        "sent_bps": _sent_bps(rows, begin_ns, end_ns),
    }


def _silences(rows: pl.LazyFrame, begin_ns: int, end_ns: int) -> Metrics:
    """Return how often and how long in all nothing left the port for SILENCE_NS or more while the traffic was not done.

    This is what waiting for a timer looks like from outside. TCP's own count of timeouts misses some: a tail-loss probe
    with one segment outstanding waits RTOmin too (tcp_schedule_loss_probe in net/ipv4/tcp_output.c) and is counted as
    no timeout.
    """
    departures = rows.filter(pl.col("sent_packets") != pl.col("sent_packets").shift(1, fill_value=-1))
    silences = hold_until_next(departures, "sent_packets", begin_ns, end_ns).filter(pl.col("held_ns") >= SILENCE_NS)
    row = _only_row(silences.select(pl.len().alias("stalls"), pl.col("held_ns").sum().alias("stalled_ns")))
    return {"stalls": int(row["stalls"]), "stalled_ns": int(row["stalled_ns"])}


def _sent_bps(rows: pl.LazyFrame, begin_ns: int, end_ns: int) -> float | None:
    """Return the rate at which the port sent from the last sample before the busy time to the first one after it."""
    before = pl.col("time_ns") <= begin_ns
    after = pl.col("time_ns") >= end_ns
    within = rows.select(
        pl.coalesce(pl.col("time_ns").filter(before).max(), pl.col("time_ns").min()).alias("begin"),
        pl.coalesce(pl.col("time_ns").filter(after).min(), pl.col("time_ns").max()).alias("end"),
        pl.coalesce(pl.col("sent_bytes").filter(before).max(), pl.col("sent_bytes").min()).alias("first"),
        pl.coalesce(pl.col("sent_bytes").filter(after).min(), pl.col("sent_bytes").max()).alias("last"),
    )
    row = _only_row(within)
    if row["begin"] is None or row["first"] is None or row["end"] <= row["begin"] or row["last"] < row["first"]:
        return None
    return float((row["last"] - row["first"]) * 8e9 / (row["end"] - row["begin"]))


def _only_row(rows: pl.LazyFrame) -> dict[str, Any]:
    return rows.collect(engine="streaming").row(0, named=True)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
