"""Tasks of Hadoop's jobs over time, by node, above the in-cast that they make and the queue of a port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from fabriclab.hadoop.results.times import PARTS
from fabriclab.report.drawing.curves import Curve, draw_buffer_levels, draw_events
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import CAUSES, GRID, drawing, figure_svg, new_figure, place_legend
from fabriclab.report.figures.queue import draw_queue, queue_scale
from fabriclab.report.measured.quantities import axis_for, axis_label, format_metric, format_share
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


def hadoop_picture(curve: Curve, name: str, port: str | None = None) -> Picture | None:
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
    panels = 1 + (degrees is not None) + (samples is not None)
    with drawing():
        bars_in = max(1.2, _ROW_IN * len(rows) + 0.5)
        figure = new_figure(bars_in + _PANEL_IN * (panels - 1))
        grid = figure.subplots(
            panels, 1, squeeze=False, sharex=True, height_ratios=[bars_in, *[_PANEL_IN] * (panels - 1)]
        )
        below = iter(grid[1:, 0])
        _draw_bars(grid[0, 0], rows, begin, end)
        if degrees is not None:
            _draw_degrees(next(below), degrees, begin, end)
        if samples is not None:
            axes, steps = next(below), read_steps(samples.rows, "bytes", begin, end)
            axis, top = queue_scale([steps], [samples.facts])
            draw_queue(axes, steps, curve.color, axis, (begin, end), top, from_ns=0)
            draw_buffer_levels(axes, samples.facts, axis, top)
            axes.set_ylabel(axis_label("Queue", axis))
        for axes in grid[:, 0]:
            draw_events(axes, curve.results, axis_for("ns", [end]))
        for axes in grid[:-1, 0]:
            axes.set_xlabel("")
        caption = _caption(curve.results, tasks, "" if samples is None else samples.facts.name)
        svg = figure_svg(figure, name, caption)
    return Picture("Hadoop's tasks over time", caption, svg)


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


def _draw_bars(axes: Axes, rows: Sequence[Attempt], begin: float, end: float) -> None:
    time = axis_for("ns", [end])
    for place, row in enumerate(rows):
        for phase, start, stop in _phases(row, end):
            left, width = start / time.scale, (stop - start) / time.scale
            hatch = "////" if row["status"] in _UNFINISHED else None
            axes.barh(place, width, left=left, height=0.8, color=PHASES[phase], linewidth=0, hatch=hatch, ec="white")
    nodes = [str(row["node"]) for row in rows]
    first = {node: nodes.index(node) for node in dict.fromkeys(nodes)}
    axes.set_yticks([first[node] + (nodes.count(node) - 1) / 2 for node in first], list(first))
    for place in list(first.values())[1:]:
        axes.axhline(place - 0.5, color=GRID, linewidth=0.8)
    axes.set(xlim=(begin / time.scale, end / time.scale), ylim=(len(rows) - 0.4, -0.6))
    axes.grid(visible=False)
    shown = {phase for row in rows for phase, _, _ in _phases(row, end)}
    for phase in (phase for phase in PHASES if phase in shown):
        axes.barh(0, 0, left=begin / time.scale, color=PHASES[phase], label=phase)
    place_legend(axes)


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
    phases = {phase: shown.filter(pl.col("phase") == phase) for phase in COLORS}
    return {phase: _most_under_way(rows, begin, end) for phase, rows in phases.items() if rows.height} or None


def _of_tasks(results: Results) -> pl.DataFrame | None:
    """Return the transfers of maps and reducers from one node to another: an application master keeps files open as
    long as it runs."""
    table = _table(results, "hadoop_transfers")
    return None if table is None else table.filter(pl.col("of").is_not_null() & (pl.col("src") != pl.col("dst")))


def _most_under_way(rows: pl.DataFrame, begin: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    changes = sorted(
        change
        for src, dst, start, stop in rows.select("src", "dst", "start_ns", "end_ns").iter_rows()
        # Logs have milliseconds: what began and ended in the same one was under way in it.
        for change in ((float(start), 1, dst), (max(float(stop), float(start) + 1e6), -1, dst))
    )
    now: dict[str, int] = {}
    times, most = [begin], [0]
    for time, step, node in changes:
        now[node] = now.get(node, 0) + step
        times.append(min(max(time, begin), end))
        most.append(max(now.values()))
    return np.array([*times, end]), np.array([*most, most[-1]])


def _draw_degrees(axes: Axes, degrees: Mapping[str, tuple[np.ndarray, np.ndarray]], begin: float, end: float) -> None:
    time = axis_for("ns", [end])
    for phase, (times, most) in degrees.items():
        axes.step(times / time.scale, most, where="post", color=COLORS[phase], linewidth=1.2, label=phase)
    highest = max(int(most.max()) for _, most in degrees.values())
    axes.set(xlim=(begin / time.scale, end / time.scale), ylim=(0, 1.15 * highest), ylabel="Transfers")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    place_legend(axes)


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
            said.append(f"{phase}: {number} between nodes, {middle} at the median, {longest} at most.")
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
    bars = f"One bar an attempt of a task, by node: {format_count(maps, 'map')}, {format_count(reduces, 'reducer')}"
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
        parts.append("Hatched: attempts that failed or were killed, maps also whose output was lost later.")
    parts.append("In-cast: the tasks' transfers under way from other nodes to the node to which most are.")
    parts += _times(_of_tasks(results))
    if port:
        parts.append(f"Below: the queue of {port}.")
    return " ".join(parts)
