"""A run as OpenMetrics text with virtual time, which `promtool tsdb create-blocks-from openmetrics` brings into
Prometheus.

Prometheus's clock has milliseconds: of several samples in one, the last is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from prometheus_client import Metric

from fabriclab.files import replacing
from fabriclab.openmetrics import FAMILIES, Completions, Series, histogram_of, metric_of, openmetrics
from fabriclab.results import Results, Sweep

T0_S = 946_684_800
"""What the beginning of the traffic is called: 2000-01-01, as in flent's files. Virtual time has no date."""
_MS = 1_000_000
_MOST_INSTANTS = 200
"""So many histograms at most: they are cumulative, and each has dozens of samples."""
_MOST_TICKS = 100_000
_DROPPED = pl.sum_horizontal(pl.col("^dropped_.*$"))
_MARKED = pl.sum_horizontal(pl.col("^marked_.*$"))


@dataclass(frozen=True)
class _Source:
    """Where a family's samples are: a table, and an expression of its columns."""

    table: str
    value: pl.Expr
    extra: str | None = None
    """The column of the third label, beside node and port; None: the queue is 0, or the family has no third label."""


def _seconds(column: str) -> pl.Expr:
    return pl.col(column) / 1e9


_SOURCES: dict[str, tuple[_Source, ...]] = {
    "queue_bytes": (_Source("queues", pl.col("bytes")), _Source("switch_queues", pl.col("bytes"), "queue")),
    "queue_packets": (_Source("queues", pl.col("packets")), _Source("switch_queues", pl.col("packets"), "queue")),
    "queue_drops": (_Source("queues", pl.col("drops")), _Source("switch_queues", _DROPPED, "queue")),
    "queue_ecn_marks": (_Source("queues", pl.col("marks")), _Source("switch_queues", _MARKED, "queue")),
    "queue_sent_bytes": (
        _Source("queues", pl.col("sent_bytes")),
        _Source("switch_queues", pl.col("sent_bytes"), "queue"),
    ),
    "queue_sent_packets": (
        _Source("queues", pl.col("sent_packets")),
        _Source("switch_queues", pl.col("sent_packets"), "queue"),
    ),
    "queue_paused_seconds": (_Source("switch_queues", _seconds("paused_ns"), "queue"),),
    "port_pfc_sent": (_Source("switch_ports", pl.col("pauses_sent")),),
    "port_pfc_received": (_Source("switch_ports", pl.col("pauses_received")),),
    "port_sent_bytes": (_Source("interfaces", pl.col("tx_bytes")),),
    "port_sent_packets": (_Source("interfaces", pl.col("tx_packets")),),
    "port_received_bytes": (_Source("interfaces", pl.col("rx_bytes")),),
    "port_received_packets": (_Source("interfaces", pl.col("rx_packets")),),
    "group_bytes": (_Source("priority_groups", pl.col("bytes"), "group"),),
    "group_headroom_bytes": (_Source("priority_groups", pl.col("headroom_bytes"), "group"),),
    "group_pauses": (_Source("priority_groups", pl.col("xoffs"), "group"),),
}


def export_openmetrics(subject: Results | Sweep, directory: Path) -> list[Path]:
    """Write a file for each run, and return the files. Raises OSError; nothing is left then."""
    runs = [subject] if isinstance(subject, Results) else list(subject.runs)
    directory.mkdir(parents=True, exist_ok=True)
    files = []
    with ExitStack() as all_or_none:
        for run in runs:
            file = directory / f"{run.directory.resolve().name}.openmetrics"
            with all_or_none.enter_context(replacing(file)).open("wb") as out:
                out.writelines(openmetrics(_metrics(run)))
            files.append(file)
    return files


def _metrics(run: Results) -> Iterator[Metric | None]:
    settings = ", ".join(f"{name}={value}" for name, value in run.settings.items())
    common = {"lab": run.plan.lab, "run": run.directory.resolve().name, "seed": str(run.plan.seed)}
    if settings:
        common["settings"] = settings
    yield metric_of(FAMILIES["virtual_time_seconds"], _clock(run), common)
    for name, sources in _SOURCES.items():
        yield metric_of(FAMILIES[name], _series(run.directory, sources), common)
    yield histogram_of(_completions(run.flows.select("class", "end_ns", "fct_ns", "status")), common)


def _clock(run: Results) -> Iterator[Series]:
    """Yield the virtual time itself, with which the counters of live labs are divided."""
    ends = [run.flows.select(pl.col("end_ns").max()).collect().item()]
    for table in {source.table for sources in _SOURCES.values() for source in sources}:
        file = run.directory / f"{table}.parquet"
        ends += [pl.scan_parquet(file).select(pl.col("time_ns").max()).collect().item()] if file.is_file() else []
    last_ms = max((end // _MS for end in ends if end is not None), default=0)
    for time_ms in range(0, last_ms + 1, max(1, last_ms // _MOST_TICKS)):
        yield (), time_ms / 1e3, T0_S + time_ms / 1e3


def _series(directory: Path, sources: Sequence[_Source]) -> Iterator[Series]:
    """Yield a family's samples. A port that has queues of its own is not told a second time as a whole."""
    tables = [(one, _table(directory, one)) for one in sources]
    shared = next((table for one, table in tables if one.table == "switch_queues" and table is not None), None)
    known = [] if shared is None else shared["port"].unique().to_list()
    for source, table in tables:
        if table is None:
            continue
        own = table.filter(~pl.col("port").is_in(known)) if source.table == "queues" else table
        for port, extra, time_ms, value in own.iter_rows():
            node, _, interface = port.rpartition(":")
            labels = (node, interface) if extra is None else (node, interface, str(extra))
            yield labels, value, T0_S + time_ms / 1e3


def _table(directory: Path, source: _Source) -> pl.DataFrame | None:
    """Return the samples of a source: port, third label, milliseconds, value; None where it was not sampled."""
    file = directory / f"{source.table}.parquet"
    if not file.is_file():
        return None
    own_queue = pl.lit(0 if source.table == "queues" else None, pl.Int64)
    extra = own_queue if source.extra is None else pl.col(source.extra).cast(pl.Int64)
    time_ms = (pl.col("time_ns") // _MS).alias("time_ms")
    wanted = (
        pl.col("port").cast(pl.String),
        extra.alias("extra"),
        time_ms,
        source.value.cast(pl.Float64).alias("value"),
    )
    rows = pl.scan_parquet(file).filter(pl.col("time_ns") >= 0).sort("time_ns").select(*wanted).drop_nulls("value")
    keys = ("port", "extra", "time_ms")
    return rows.group_by(*keys, maintain_order=True).last().sort(*keys).collect()


def _completions(flows: pl.LazyFrame) -> Iterator[tuple[Completions, float | None]]:
    """Yield the completion times so far, at some instants until the last flow that was complete."""
    complete = flows.filter(pl.col("status") == "complete").drop_nulls(("end_ns", "fct_ns")).sort("end_ns").collect()
    rows = list(complete.select("end_ns", "class", "fct_ns").iter_rows())
    step = max(1, -(-len(rows) // _MOST_INSTANTS))
    done, told = Completions(), 0
    for number, (end_ns, class_, fct_ns) in enumerate(rows, 1):
        done.add(str(class_), fct_ns)
        is_last = number == len(rows)
        # At the end of its millisecond, and once for all that end in the same one.
        time_ms = end_ns // _MS + 1
        if is_last or (number - told >= step and rows[number][0] // _MS + 1 > time_ms):
            yield done, T0_S + time_ms / 1e3
            told = number
