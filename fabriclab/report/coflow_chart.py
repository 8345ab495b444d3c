"""Coflows over time: rounds, queries, phases of a job, each as a bar from its first start to its last byte."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from fabriclab.report.drawing.chart_parts import event_marks, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartBars, ChartPanel, ChartTable
from fabriclab.report.drawing.curves import Curve, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import ramp
from fabriclab.report.measured.quantities import Axis, axis_for, format_metric
from fabriclab.results import coflow_table

MOST_COFLOWS = 200
"""More bars in one figure are a grey area."""


def coflow_picture(curve: Curve) -> Picture | None:
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
    horizontal = time_axis(time, begin, end)
    vertical = ChartAxis("Coflow, in order of start", low=0.5, high=shown.height + 0.5, whole=True, downward=True)
    events = event_marks(curve.results, time, begin, end)
    panel = ChartPanel(horizontal, vertical, bars=tuple(_bars(shown, time, end)), events=events)
    chart = Chart((panel,), numbers=_table(shown), height_in=min(1.2 + 0.06 * shown.height, 5.0))
    return Picture("Coflows over time", _caption(table, shown), chart)


def _bars(shown: pl.DataFrame, time: Axis, end: int) -> Iterator[ChartBars]:
    """Yield a bar for each coflow, together with those of its class that ended like it."""
    rows = shown.with_columns(
        pl.int_range(1, pl.len() + 1).alias("place"),
        pl.col("class").fill_null("several classes"),
        pl.col("end_ns").fill_null(end),
        pl.when("complete").then(pl.lit("")).otherwise(pl.lit(", incomplete")).alias("state"),
    )
    groups = rows.partition_by("class", "state", as_dict=True, maintain_order=True)
    for ((name, state), members), color in zip(groups.items(), ramp(len(groups)), strict=True):
        starts, stops = (members[column].cast(pl.Float64).to_numpy() / time.scale for column in ("start_ns", "end_ns"))
        places = members["place"].cast(pl.Float64).to_numpy()
        yield ChartBars(f"{name}{state}", color, places, starts, stops, thick=0.5)


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
    return f"{text}." + (f" The figure shows the first {shown.height}." if shown.height < table.height else "")
