"""Who pauses whom: the time that queues were stopped by their neighbours' PFC, over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from fabriclab.formats.plan.node import Node, Port
from fabriclab.report.drawing.chart_parts import closed, event_marks, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel, ChartSeries, ChartTable, ChartText
from fabriclab.report.drawing.curves import Curve, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import ramp
from fabriclab.report.measured.quantities import axis_for, format_metric, format_share
from fabriclab.report.measured.series import counter_at, sampled_bins
from fabriclab.results import Results
from fabriclab.units import format_count

Array = npt.NDArray[np.float64]
MOST_ROWS = 14
_MOST_BINS = 250
_ROW_HEIGHT = 0.84
"""The height of a bar as a share of its row, where all of the time is paused."""


@dataclass(frozen=True)
class Pauses:
    """What one port kept another from sending; `share` is the part of each bin's time in which it did."""

    label: str
    number: int
    """The number of the queue or the priority group."""
    share: Array
    total_ns: int


def pauses_picture(curve: Curve) -> Picture | None:
    """Return a row for each queue that was paused, those paused longest where there are many; None where none was."""
    begin, end = shown_interval(curve.results)
    edges = sampled_bins(_interval_ns(curve.results), begin, end, _MOST_BINS)
    every = sorted(paused(curve.results, edges), key=lambda row: -row.total_ns)
    rows = every[:MOST_ROWS]
    if not rows:
        return None
    time = axis_for("ns", [end])
    colors = dict(zip(sorted({row.number for row in rows}), ramp(8), strict=False))
    x, places = edges / time.scale, range(len(rows))[::-1]
    series = []
    for place, row in zip(places, rows, strict=True):
        share, foot = closed(row.share), np.full(len(edges), float(place))
        bar = ChartSeries(row.label, colors[row.number], x, share, foot, foot + _ROW_HEIGHT * share, steps=True)
        series.append(replace(bar, line=False, area=0.8, is_labelled=True))
    middles = tuple(place + 0.4 for place in places)
    highest = len(rows) + (0.5 if curve.results.plan.changes else 0.0)
    names = tuple(row.label for row in rows)
    vertical = ChartAxis("", scale="category", names=names, places=middles, low=-0.15, high=highest)
    times = [(format_metric("_ns", row.total_ns, 3), format_share(row.total_ns / (end - begin))) for row in rows]
    panel = ChartPanel(
        replace(time_axis(time, begin, end), grid=True),
        vertical,
        tuple(series),
        events=event_marks(curve.results, time, begin, end),
        texts=tuple(ChartText(f"{of[0]} ({of[1]})", None, place) for of, place in zip(times, middles, strict=True)),
    )
    numbers = ChartTable(["Queue", "Paused", "Share"], [[row.label, *of] for row, of in zip(rows, times, strict=True)])
    chart = Chart((panel,), numbers=numbers, height_in=0.6 + 0.3 * len(rows))
    return Picture("Who pauses whom", _caption(curve, rows, len(every) - len(rows)), chart)


def paused(results: Results, edges: Array) -> Iterator[Pauses]:
    """Yield what was paused: as the paused port counts it, or, where nobody sampled that one,
    as the port does that sent the pauses."""
    ports = {f"{node.name}:{port.interface}": (node, port) for node in results.plan.nodes for port in node.ports}
    ends = {name: _end(node, port) for name, (node, port) in ports.items()}
    peers = {name: f"{port.peer_node}:{port.peer_interface}" for name, (_, port) in ports.items()}
    sampled = set(results.plan.probes.switch_ports)
    for (port, queue), rows in _parts(results.switches.queues, "queue", "paused_ns"):
        yield from _pauses(
            f"{ends.get(peers.get(port, ''), '?')} stops {ends.get(port, port)}, queue {queue}", queue, rows, edges
        )
    for (port, group), rows in _parts(results.switches.groups, "group", "xoff_ns"):
        if peers.get(port) not in sampled:
            yield from _pauses(
                f"{ends.get(port, port)} stops {ends.get(peers.get(port, ''), '?')}, group {group}", group, rows, edges
            )


def _parts(table: pl.LazyFrame | None, number: str, counter: str) -> Iterator[tuple[tuple[str, int], pl.LazyFrame]]:
    if table is None:
        return
    # A counter is 0 before its first row: what never was paused need not be read.
    rows = (
        table.filter(pl.col(counter) > 0)
        .select("time_ns", "port", number, pl.col(counter).alias("counter"))
        .collect(engine="streaming")
    )
    for (port, value), part in sorted(rows.partition_by("port", number, as_dict=True, maintain_order=True).items()):
        yield (str(port), int(value)), part.lazy()


def _pauses(label: str, number: int, rows: pl.LazyFrame, edges: Array) -> Iterator[Pauses]:
    counts = counter_at(rows, "counter", edges)
    total = int(counts[-1] - counts[0])
    if total > 0:
        yield Pauses(label, number, np.clip(np.diff(counts) / np.diff(edges), 0, 1), total)


def _interval_ns(results: Results) -> int:
    return results.plan.probes.switch_interval_ns or 1


def _end(node: Node, port: Port) -> str:
    """Return a port's name; a host with one port is its own name."""
    return node.name if len(node.ports) == 1 else f"{node.name}:{port.interface}"


def _caption(curve: Curve, rows: Sequence[Pauses], hidden: int) -> str:
    text = (
        f"{curve.label}: the height of a row is the share of the time in which its queue was paused; full height is "
        "100 %."
    )
    text += " The number beside it is the total paused time."
    return text + (f" The figure leaves out {format_count(hidden, 'queue')} with shorter pauses." if hidden else "")
