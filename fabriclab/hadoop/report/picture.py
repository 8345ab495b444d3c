"""Tasks of Hadoop's jobs over time, by node, above the in-cast that they make and the queue of a port."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from fabriclab.hadoop.results.times import PARTS
from fabriclab.hadoop.results.under_way import most_under_way, of_tasks
from fabriclab.report.drawing.chart_parts import event_marks, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartBars, ChartMark, ChartPanel, ChartSeries, ChartTable
from fabriclab.report.drawing.curves import Curve
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import CAUSES, GRID
from fabriclab.report.figures.queue import queue_panel, queue_scale
from fabriclab.report.measured.quantities import axis_for, format_metric, format_share
from fabriclab.report.measured.samples import queue_samples
from fabriclab.report.measured.series import read_steps
from fabriclab.results import Results
from fabriclab.units import format_count, format_duration, format_size

MOST_ROWS = 120
"""Attempts that have a bar; of more, the first."""
MARGIN_SHARE = 0.04
_BLUE, _GREEN, _VIOLET, _GREY = (CAUSES[name] for name in ("queue limit", "pool full", "VOQ limit", "port down"))
PHASES = {"map": _BLUE, "shuffle": _GREEN, "sort and reduce": _VIOLET, "application master": _GREY}
COLORS = {"hdfs-read": _BLUE, "shuffle": _GREEN, "hdfs-write": _VIOLET}
# Not "shuffle", which is the name of a phase's bars: a legend draws what has one name alike.
_TRANSFERS = {"hdfs-read": "blocks read", "shuffle": "map outputs fetched", "hdfs-write": "blocks written"}
_LOSSES = {
    "fetch_failures": "failed fetch",
    "failed_attempts": "failed attempt",
    "killed_attempts": "killed attempt",
    "rerun_maps": "rerun map",
}
_UNFINISHED = ("FAILED", "KILLED")
_ROW_IN, _PANEL_IN = 0.15, 1.15
"""A row is as high as a node's name: some nodes have one row only."""
Attempt = Mapping[str, Any]


def picture(curve: Curve, port: str | None = None) -> Picture | None:
    """Return the tasks' bars above transfers and queue; None where there is no task that began."""
    tasks = _table(curve.results, "hadoop_tasks")
    if tasks is None or not tasks.filter((pl.col("task") != "master") & pl.col("start_ns").is_not_null()).height:
        return None
    begin, end = _interval(tasks)
    rows = (
        tasks.filter((pl.col("start_ns") < end) & pl.col("node").is_not_null())
        # c2 comes before c10.
        .sort(pl.col("node").str.len_chars(), "node", "start_ns", "attempt")
        .head(MOST_ROWS)
        .to_dicts()
    )
    samples = queue_samples(curve.results, port)
    degrees = _degrees(curve.results, begin, end)
    panels = [_bars(rows, begin, end)]
    if degrees is not None:
        panels.append(_degrees_panel(degrees, begin, end))
    if samples is not None:
        steps = read_steps(samples.rows, "bytes", begin, end)
        axis, top = queue_scale([steps], [samples.facts])
        queue = queue_panel(curve, samples.facts, steps, (begin, end), axis, (0, top))
        panels.append(replace(queue, height=_PANEL_IN))
    events = event_marks(curve.results, axis_for("ns", [end]), begin, end)
    chart = Chart(
        tuple(replace(panel, events=events) for panel in panels),
        linked=True,
        numbers=_numbers(rows),
        height_in=sum(panel.height for panel in panels),
        has_own_legends=True,
    )
    caption = _caption(curve.results, tasks, "" if samples is None else samples.facts.name)
    return Picture("Hadoop's tasks over time", caption, chart)


def _table(results: Results, name: str) -> pl.DataFrame | None:
    file = results.directory / f"{name}.parquet"
    return pl.read_parquet(file) if file.is_file() else None


def _interval(tasks: pl.DataFrame) -> tuple[float, float]:
    """Return when maps and reducers run: before, a job waits for its application master."""
    own = tasks.filter(pl.col("task") != "master")
    starts, ends = (own[name].drop_nulls().to_numpy() for name in ("start_ns", "end_ns"))
    begin, end = float(starts.min()), float(max(starts.max() + 1, ends.max(initial=0)))
    margin = MARGIN_SHARE * (end - begin)
    return max(0.0, begin - margin), end + margin


def _bars(rows: Sequence[Attempt], begin: float, end: float) -> ChartPanel:
    """Return a row for each attempt with a bar for each of its phases; nodes are named once."""
    time = axis_for("ns", [end])
    bars = []
    for phase, is_hatched in itertools.product(PHASES, (False, True)):
        found = [
            (place, start / time.scale, stop / time.scale)
            for place, row in enumerate(rows)
            for what, start, stop in _phases(row, end)
            if what == phase and (row["status"] in _UNFINISHED) == is_hatched
        ]
        if found:
            places, starts, stops = zip(*found, strict=True)
            bars.append(ChartBars(phase, PHASES[phase], places, starts, stops, 0.8, is_hatched))
    nodes = [str(row["node"]) for row in rows]
    first = {node: nodes.index(node) for node in dict.fromkeys(nodes)}
    middles = tuple(first[node] + (nodes.count(node) - 1) / 2 for node in first)
    vertical = ChartAxis(
        "", scale="category", names=tuple(first), places=middles, low=-0.6, high=len(rows) - 0.4, downward=True
    )
    between = tuple(ChartMark("", place - 0.5, color=GRID) for place in list(first.values())[1:])
    height = max(1.2, _ROW_IN * len(rows) + 0.5)
    return ChartPanel(time_axis(time, begin, end), vertical, bars=tuple(bars), levels=between, height=height)


def _numbers(rows: Sequence[Attempt]) -> ChartTable:
    return ChartTable(
        ["Attempt", "Node", "Task", "Status", "Start", "End"],
        [
            [
                *(str(row[column]) for column in ("attempt", "node", "task", "status")),
                *(format_metric("_ns", row[column]) for column in ("start_ns", "end_ns")),
            ]
            for row in rows
        ],
        4,
    )


def _phases(row: Attempt, end: float) -> list[tuple[str, float, float]]:
    """Return what an attempt did from when to when; what had not ended goes on to the end."""
    start, stop = float(row["start_ns"]), float(row["end_ns"] if row["end_ns"] is not None else end)
    if row["task"] != "reduce":
        return [("map" if row["task"] == "map" else "application master", start, stop)]
    shuffled = row["shuffle_end_ns"]
    if shuffled is None:
        return [("shuffle", start, stop)]
    return [("shuffle", start, float(shuffled)), ("sort and reduce", float(shuffled), stop)]


def _degrees(results: Results, begin: float, end: float) -> dict[str, tuple[np.ndarray, np.ndarray]] | None:
    """Return of each phase over time how many transfers were under way from other nodes to that node to which most
    were; None where nothing was transferred."""
    table = _of_tasks(results)
    if table is None:
        return None
    shown = table.filter((pl.col("end_ns") > begin) & (pl.col("start_ns") < end))
    return {phase: most_under_way(shown, phase, begin, end) for phase in COLORS if phase in shown["phase"]} or None


def _of_tasks(results: Results) -> pl.DataFrame | None:
    table = _table(results, "hadoop_transfers")
    return None if table is None else of_tasks(table)


def _degrees_panel(degrees: Mapping[str, tuple[np.ndarray, np.ndarray]], begin: float, end: float) -> ChartPanel:
    time = axis_for("ns", [end])
    series = tuple(
        ChartSeries(
            _TRANSFERS[phase], COLORS[phase], times / time.scale, most.astype(np.float64), steps=True, width=1.2
        )
        for phase, (times, most) in degrees.items()
    )
    highest = max(int(most.max()) for _, most in degrees.values())
    vertical = ChartAxis("Transfers", low=0, high=1.15 * highest, whole=True)
    return ChartPanel(time_axis(time, begin, end), vertical, series, height=_PANEL_IN)


def _times(transfers: pl.DataFrame | None) -> list[str]:
    """Return of each phase how long its transfers took."""
    if transfers is None:
        return []
    said = []
    for phase in COLORS:
        took = transfers.filter((pl.col("phase") == phase) & pl.col("end_ns").is_not_null())
        times = (took["end_ns"] - took["start_ns"]).sort()
        if times.len():
            middle, longest = (format_duration(int(times[at]), 3) for at in (times.len() // 2, -1))
            number = format_count(times.len(), "transfer")
            what = _TRANSFERS[phase].capitalize()
            said.append(f"{what}: {number} between nodes, with a median time of {middle} and a maximum of {longest}.")
    return said


def _went_to(job: Mapping[str, Any], took_ns: int | None) -> str:
    """Return the parts of a job's time; nothing where disks and processors took none."""
    parts = {part: job[f"{part}_ns"] for part in PARTS}
    if not took_ns or None in parts.values() or not parts["cpu"] + parts["disk"]:
        return ""
    return f" ({', '.join(f'{part} {format_share(value / took_ns)}' for part, value in parts.items())})"


def _caption(results: Results, tasks: pl.DataFrame, port: str) -> str:
    """Return what is seen: counts out of Hadoop's history."""
    maps, reduces = (tasks.filter(pl.col("task") == task).height for task in ("map", "reduce"))
    bars = f"Each bar is an attempt of a task, by node: {format_count(maps, 'map')}, {format_count(reduces, 'reducer')}"
    parts = [f"{bars}, from Hadoop's own history (milliseconds)."]
    jobs = _table(results, "hadoop_jobs")
    for row in [] if jobs is None else jobs.to_dicts():
        shuffled = "" if row["shuffled_bytes"] is None else f", {format_size(float(row['shuffled_bytes']), 4)} shuffled"
        lost = [f"; {format_count(row[key], word)}" for key, word in _LOSSES.items() if row.get(key)]
        took = None if row["end_ns"] is None or row["submit_ns"] is None else row["end_ns"] - row["submit_ns"]
        time = "" if took is None else f" in {format_metric('program_ns', took)}"
        said = f"{str(row['status']).lower()}{time}{_went_to(row, took)}{shuffled}{''.join(lost)}"
        parts.append(f"{row['job'] or row['name']}: {said}.")
    if tasks.filter(pl.col("status").is_in(_UNFINISHED)).height:
        parts.append("Hatched bars are attempts that failed or were killed, and maps whose output was lost later.")
    parts.append(
        "The in-cast degree is the number of the tasks' current transfers from other nodes to the node that "
        "receives the most."
    )
    parts += _times(_of_tasks(results))
    if port:
        parts.append(f"The lowest panel is the queue of {port}.")
    return " ".join(parts)
