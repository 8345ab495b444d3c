"""The iterations of collective operations: how long each took, beside the idle fabric, and which transfer was late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel, ChartSeries, ChartTable
from fabriclab.report.drawing.exhibits import Picture, titled
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.drawing.style import DASHES, MARKERS, MUTED
from fabriclab.report.measured.quantities import format_metric
from fabriclab.units import format_count

_MOST_SERIES = 8
_MS = 1e6
_DOTTED = (0, (1.5, 1.5))


class _Operation(NamedTuple):
    """The iterations of a collective, with how it is named and drawn."""

    traffic: str
    label: str
    looks: PooledRuns
    own: pl.DataFrame


def collective_picture(pools: Sequence[PooledRuns], traffic: Sequence[str] = ()) -> Picture | None:
    """Return the time of each iteration of the first run of each pool, with what an idle fabric would take; None
    without any collective operation."""
    shown = [one for pool in pools[:_MOST_SERIES] for one in _of_pool(pool, traffic, alone=len(pools) == 1)]
    if not shown:
        return None
    series = [*map(_series, shown), *_idle_series(shown)]
    last = max(max(each.x, default=0) for each in series)
    x = ChartAxis("Iteration", low=-0.5, high=last + 0.5, whole=True)
    y = ChartAxis("Time of the operation", "ms", low=0)
    rows = [row for one in shown for row in _rows(one.own, one.label)]
    numbers = ChartTable(["Operation", "Iteration", "Time", "Idle fabric", "Last", "Late transfer"], rows, 2)
    captions = [_described(one.own, one.label) for one in shown]
    seeds = ["Of each point its first seed."] if any(len(pool.runs) > 1 for pool in pools) else []
    caption = " ".join([*captions, *seeds, "Dotted: the same operation on an idle fabric."])
    chart = Chart((ChartPanel(x, y, tuple(series)),), numbers=numbers)
    return Picture(titled("Iterations of collectives", traffic), caption, chart)


def _of_pool(pool: PooledRuns, traffic: Sequence[str], *, alone: bool) -> Iterator[_Operation]:
    """Yield the collectives of the pool's first run; several have its color, and differ in all else."""
    table = pool.runs[0].collectives if pool.runs else None
    if table is None:
        return
    parts = table.partition_by("traffic", as_dict=True, maintain_order=True)
    wanted = {str(name): own for (name,), own in parts.items() if not traffic or name in traffic}
    for number, (name, own) in enumerate(wanted.items()):
        marker, dash = MARKERS[number % len(MARKERS)], DASHES[number % len(DASHES)]
        looks = replace(pool, marker=marker, dash=dash) if len(wanted) > 1 else pool
        yield _Operation(name, name if alone else f"{name}, {pool.label}", looks, own)


def _series(one: _Operation) -> ChartSeries:
    places = one.own["iteration"].to_list()
    times = [None if value is None else value / _MS for value in one.own["time_ns"].to_list()]
    return ChartSeries(one.label, one.looks.color, places, times, dash=one.looks.dash, marker=one.looks.marker)


def _idle_series(shown: Sequence[_Operation]) -> Iterator[ChartSeries]:
    """Yield what an idle fabric would take: one line for all points for which a traffic's is the same."""
    first: dict[tuple[str, tuple[float, ...]], str] = {}
    for one in shown:
        first.setdefault((one.traffic, tuple(one.own["ideal_ns"] / _MS)), one.label)
    lines_of = Counter(traffic for traffic, _ in first)
    for (traffic, times), label in first.items():
        name = traffic if lines_of[traffic] == 1 else label
        yield ChartSeries(f"{name}, idle fabric", MUTED, list(range(len(times))), list(times), dash=_DOTTED)


def _described(own: pl.DataFrame, label: str) -> str:
    whole = own.drop_nulls("time_ns")
    count = format_count(own.height, "iteration")
    if whole.is_empty():
        return f"{label}: none of {count} was complete."
    ratios = (whole["time_ns"] / whole["ideal_ns"]).to_list()
    worst = whole.sort("late_ns", descending=True).row(0, named=True)
    lacking = f", {own.height - whole.height} of them incomplete" if whole.height < own.height else ""
    text = f"{label}: {count}{lacking}, {sum(ratios) / len(ratios):.3f} times as long as on an idle fabric on average."
    return f"{text} {_late(worst)}"


def _late(worst: dict[str, Any]) -> str:
    late = format_metric("_ns", worst["late_ns"])
    ways = f"{worst['late_src']} to {worst['late_dst']}"
    cause = _cause(worst)
    why = f" On its ways {cause}." if cause else ""
    return f"The longest wait was for a transfer from {ways} in iteration {worst['iteration']}, {late} late.{why}"


def _cause(row: dict[str, Any]) -> str:
    """Return what was in the way of a late transfer; empty where nothing was, or nobody sampled it."""
    causes = []
    if row.get("late_port") is not None:
        held = format_metric("_bytes", row["late_queue_bytes"])
        causes.append(f"{row['late_port']} held most, {held} on average")
    if row.get("late_paused_port") is not None:
        paused = format_metric("_ns", row["late_paused_ns"])
        causes.append(f"{row['late_paused_port']} was paused longest, {paused}")
    return ", and ".join(causes)


def _rows(own: pl.DataFrame, label: str) -> Iterator[list[str]]:
    for row in own.iter_rows(named=True):
        ideal = format_metric("_ns", row["ideal_ns"])
        if row["time_ns"] is None:
            yield [label, str(row["iteration"]), "incomplete", ideal, "", ""]
            continue
        late = f"{row['late_src']} to {row['late_dst']}, {format_metric('_ns', row['late_ns'])} late"
        late = "; ".join(filter(None, [late, _cause(row)]))
        time = format_metric("_ns", row["time_ns"])
        yield [label, str(row["iteration"]), time, ideal, f"rank {row['last_rank']} ({row['last_host']})", late]
