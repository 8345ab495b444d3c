"""The smoothed round-trip time of sampled flows over time: what a queue on their path costs them."""

from __future__ import annotations

import polars as pl

from fabriclab.report.drawing.charts import ChartAxis, ChartSeries
from fabriclab.report.drawing.curves import Curve, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import ramp
from fabriclab.report.figures.tcp import MOST_FLOWS, over_time, sender_samples
from fabriclab.report.measured.quantities import axis_for, format_metric
from fabriclab.report.measured.series import read_steps
from fabriclab.units import format_count

_NS_PER_US = 1_000


def rtt_picture(curve: Curve) -> Picture | None:
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
    series, spans = [], []
    for ((flow, node), steps), color in zip(drawn, ramp(MOST_FLOWS), strict=False):
        values = steps.mean * _NS_PER_US
        x, y = steps.time_ns / time.scale, values / axis.scale
        series.append(ChartSeries(f"{node}, flow {flow}", color, x, y, steps=True, width=1.2))
        least, most = (format_metric("_ns", float(value), 3) for value in (values.min(), values.max()))
        spans.append(f"{node} {least} to {most}")
    left = len(pairs) - len(drawn)
    more = f" Not drawn: {format_count(left, 'more flow')}." if left else ""
    caption = f"{curve.label}: {', '.join(spans)}.{more}"
    chart = over_time(curve, ChartAxis("Smoothed round-trip time", axis.unit, low=0), series, height_in=2.6)
    return Picture("Round-trip time over time", caption, chart)
