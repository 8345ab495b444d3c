"""Coflows over time: rounds, queries, phases of a job, each as a bar from its first start to its last byte."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.ticker import MaxNLocator

from fabriclab.report.drawing.chart_parts import event_marks, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel, ChartSeries, ChartTable
from fabriclab.report.drawing.curves import Curve, draw_events, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import ramp
from fabriclab.report.drawing.with_matplotlib import drawing, figure_svg, new_figure, place_legend
from fabriclab.report.measured.quantities import Axis, axis_for, axis_label, format_metric
from fabriclab.results import coflow_table

MOST_COFLOWS = 200
"""More bars in one figure are a grey area."""
_NAN = float("nan")


def coflow_picture(curve: Curve, name: str) -> Picture | None:
    """Return a Gantt chart of a run's coflows in the order of their starts, the first MOST_COFLOWS; None where fewer
    than two that began have several flows."""
    flows = curve.results.flows
    if flows.filter(pl.col("group").is_not_null()).head(1).collect().is_empty():
        return None
    table = coflow_table(flows).filter((pl.col("level") == "coflow") & (pl.col("flows") > 1))
    table = table.filter(pl.col("start_ns").is_not_null())
    if table.height < 2:
        return None
    shown = table.head(MOST_COFLOWS)
    begin, end = shown_interval(curve.results)
    time = axis_for("ns", [end])
    series = _bars(shown, time, end)
    caption = _caption(table, shown)
    with drawing():
        figure = new_figure(min(1.2 + 0.06 * shown.height, 5.0))
        axes = figure.subplots()
        for each in series:
            axes.plot(
                np.asarray(each.x, float),
                np.asarray(each.y, float),
                color=each.color,
                linewidth=2.2,
                solid_capstyle="butt",
                label=each.name,
            )
        axes.set(xlim=(begin / time.scale, end / time.scale), xlabel=axis_label("Time", time), ylabel="Coflow")
        axes.set_ylim(shown.height + 0.5, 0.5)
        axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        draw_events(axes, curve.results, time)
        place_legend(axes)
        svg = figure_svg(figure, name, caption)
    panel = ChartPanel(
        time_axis(time, begin, end),
        ChartAxis("Coflow, in order of start", low=0, high=float(shown.height + 1)),
        tuple(series),
        "",
        (),
        event_marks(curve.results, time, begin, end),
    )
    return Picture("Coflows over time", caption, svg, Chart((panel,), numbers=_table(shown)))


def _bars(shown: pl.DataFrame, time: Axis, end: int) -> list[ChartSeries]:
    rows = shown.with_columns(
        pl.int_range(1, pl.len() + 1).alias("place"),
        pl.col("class").fill_null("several classes"),
        pl.col("end_ns").fill_null(end),
        pl.when("complete").then(pl.lit("")).otherwise(pl.lit(", incomplete")).alias("state"),
    )
    groups = rows.partition_by("class", "state", as_dict=True, maintain_order=True)
    series = []
    for (name, state), color in zip(groups, ramp(len(groups)), strict=True):
        x: list[float] = []
        y: list[float] = []
        for start, stop, place in groups[name, state].select("start_ns", "end_ns", "place").iter_rows():
            x += [start / time.scale, stop / time.scale, stop / time.scale]
            y += [place, place, _NAN]
        series.append(ChartSeries(f"{name}{state}", color, x, y, width=5.0))
    return series


def _table(shown: pl.DataFrame) -> ChartTable:
    rows = [
        [
            str(row["group"]),
            str(row["class"] or "several"),
            f"{row['flows_complete']:,} of {row['flows']:,}",
            format_metric("_ns", row["start_ns"]),
            format_metric("_ns", row["completion_ns"]),
        ]
        for row in shown.iter_rows(named=True)
    ]
    return ChartTable(["Coflow", "Class", "Flows complete", "Start", "Completion time"], rows, 2)


def _caption(table: pl.DataFrame, shown: pl.DataFrame) -> str:
    complete = table.filter("complete")
    text = f"{complete.height:,} of {table.height:,} coflows completed"
    if complete.height:
        slowest = complete.sort("completion_ns").row(-1, named=True)
        median = complete["completion_ns"].median()
        text += f", half of them within {format_metric('_ns', float(str(median)))}"
        text += f"; the slowest, {slowest['group']}, took {format_metric('_ns', slowest['completion_ns'])}"
    return f"{text}." + (f" Drawn are the first {shown.height}." if shown.height < table.height else "")
