"""The smoothed round-trip time of sampled flows over time: what a queue on their path costs them."""

from __future__ import annotations

import polars as pl

from fabriclab.report.drawing.charts import ChartSeries
from fabriclab.report.drawing.curves import Curve, draw_events, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import drawing, figure_svg, label_y, new_figure, place_legend, ramp
from fabriclab.report.figures.tcp import MOST_FLOWS, over_time, sender_samples
from fabriclab.report.measured.quantities import axis_for, axis_label, format_metric
from fabriclab.report.measured.series import read_steps
from fabriclab.units import format_count

_NS_PER_US = 1_000


def rtt_picture(curve: Curve, name: str) -> Picture | None:
    """Return the smoothed round-trip time (RFC 6298) that the senders of the first sampled flows had over time; None
    when no flow was sampled.

    Of MPTCP it is that of all subflows together, sample by sample.
    """
    rows, pairs = sender_samples(curve)
    rows = rows.filter(pl.col("srtt_us").is_not_null())
    begin, end = shown_interval(curve.results)
    every = [
        (pair, read_steps(rows.filter(pl.col("flow") == pair[0]), "srtt_us", begin, end, most=600))
        for pair in pairs[:MOST_FLOWS]
    ]
    drawn = [(pair, steps) for pair, steps in every if len(steps.mean)]
    if not drawn:
        return None
    longest = max(float(steps.mean.max()) for _, steps in drawn) * _NS_PER_US
    time, axis = axis_for("ns", [end]), axis_for("ns", [longest])
    spans = []
    with drawing():
        figure = new_figure(2.6)
        axes = figure.subplots()
        for ((flow, node), steps), color in zip(drawn, ramp(MOST_FLOWS), strict=False):
            values, label = steps.mean * _NS_PER_US, f"{node}, flow {flow}"
            axes.step(
                steps.time_ns / time.scale, values / axis.scale, where="post", color=color, linewidth=1.2, label=label
            )
            least, most = (format_metric("_ns", float(value), 3) for value in (values.min(), values.max()))
            spans.append(f"{node} {least} to {most}")
        axes.set(xlim=(begin / time.scale, end / time.scale), xlabel=axis_label("Time", time))
        label_y(axes, axis_label("Smoothed round-trip time", axis), 1.6)
        axes.set_ylim(bottom=0)
        draw_events(axes, curve.results, time)
        place_legend(axes)
        left = len(pairs) - len(drawn)
        more = f" Not drawn: {format_count(left, 'more flow')}." if left else ""
        caption = f"{curve.label}: {', '.join(spans)}.{more}"
        svg = figure_svg(figure, name, caption)
    series = [
        ChartSeries(
            f"{node}, flow {flow}", color, steps.time_ns / time.scale, steps.mean * _NS_PER_US / axis.scale, steps=True
        )
        for ((flow, node), steps), color in zip(drawn, ramp(MOST_FLOWS), strict=False)
    ]
    chart = over_time(curve, "Smoothed round-trip time", axis.unit, series)
    return Picture("Round-trip time over time", caption, svg, chart)
