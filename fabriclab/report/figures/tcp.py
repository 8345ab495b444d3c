"""Congestion windows and the throughput of long flows over time, from the TCP samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from fabriclab.report.drawing.chart_parts import closed, event_marks, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartMark, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import Curve, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import INK, ramp
from fabriclab.report.measured.port_facts import receiver_port
from fabriclab.report.measured.quantities import axis_for, format_metric
from fabriclab.report.measured.series import counter_at, read_steps
from fabriclab.units import format_count

MOST_FLOWS = 6
"""More lines than that can't be told apart; the caption says how many there are."""
_BINS = 120


def sender_samples(curve: Curve, *, long_only: bool = False) -> tuple[pl.LazyFrame, list[tuple[int, str]]]:
    """Return the TCP samples of the senders' ends and the (flow, sender) pairs that have any, in the order of flows."""
    tcp = curve.results.measured.tcp
    if tcp is None:
        return pl.LazyFrame(), []
    flows = curve.results.flows.filter(pl.col("stop_ns").is_not_null()) if long_only else curve.results.flows
    senders = flows.select("flow", pl.col("src").alias("node"))
    rows = tcp.join(senders, on=["flow", "node"], how="semi", maintain_order="left")
    pairs = rows.select("flow", "node").unique().collect(engine="streaming").sort("flow")
    return rows, [(int(flow), str(node)) for flow, node in pairs.iter_rows()]


def cwnd_picture(curve: Curve) -> Picture | None:
    """Return the congestion window of the first sampled flows over time; None when no flow with one was sampled."""
    rows, pairs = sender_samples(curve)
    # The NICs' queue pairs of RoCE have none.
    with_window = rows.filter(pl.col("cwnd").is_not_null()).select("flow", "node").unique() if pairs else pl.LazyFrame()
    found = set(with_window.collect(engine="streaming").iter_rows())
    pairs = [pair for pair in pairs if pair in found]
    if not pairs:
        return None
    begin, end = shown_interval(curve.results)
    axis = ChartAxis("Congestion window", "segments", low=0, whole=True)
    means, series = [], []
    for (flow, node), color in zip(pairs[:MOST_FLOWS], ramp(MOST_FLOWS), strict=False):
        steps = read_steps(rows.filter(pl.col("flow") == flow), "cwnd", begin, end, most=600)
        # After its last sample nothing is known of a flow.
        x = steps.time_ns / axis_for("ns", [end]).scale
        series.append(ChartSeries(f"{node}, flow {flow}", color, x, steps.mean, steps=True, width=1.2))
        if len(steps.mean):
            means.append(f"{node} {steps.mean.min():.0f} to {steps.mean.max():.0f}")
    more = f" Not drawn: {format_count(len(pairs) - MOST_FLOWS, 'more flow')}." if len(pairs) > MOST_FLOWS else ""
    caption = f"{curve.label}, segments: {', '.join(means)}.{more}"
    return Picture("Congestion window over time", caption, over_time(curve, axis, series, height_in=2.6))


def over_time(
    curve: Curve, axis: ChartAxis, series: Sequence[ChartSeries], level: ChartMark | None = None, height_in: float = 2.7
) -> Chart:
    """Return a chart of one panel over the time that figures of the run show, with its events."""
    begin, end = shown_interval(curve.results)
    time = axis_for("ns", [end])
    events = event_marks(curve.results, time, begin, end)
    levels = () if level is None else (level,)
    panel = ChartPanel(time_axis(time, begin, end), axis, tuple(series), "", levels, events)
    return Chart((panel,), height_in=height_in)


def throughput_picture(curve: Curve) -> Picture | None:
    """Return what each long flow got acknowledged over time, and their sum; None without samples of long flows."""
    rows, pairs = sender_samples(curve, long_only=True)
    if not pairs:
        return None
    begin, end = _long_interval(curve, rows)
    edges = _bin_edges(begin, end, curve.results.plan.probes.tcp_interval_ns or 1)
    bin_s = (edges[1] - edges[0]) / 1e9
    rates = {
        pair: np.diff(counter_at(rows.filter(pl.col("flow") == pair[0]), "bytes_acked", edges)) * 8 / bin_s
        for pair in pairs
    }
    total = np.sum(list(rates.values()), axis=0)
    port = receiver_port(curve.results)
    time, axis = axis_for("ns", [end]), axis_for("bps", [float(total.max())])
    drawn = list(rates.items())[:MOST_FLOWS]
    series = [
        ChartSeries(f"{node}, flow {flow}", color, edges / time.scale, closed(rate) / axis.scale, steps=True, width=1.2)
        for ((flow, node), rate), color in zip(drawn, ramp(MOST_FLOWS), strict=False)
    ]
    if len(rates) > 1:
        series.append(ChartSeries("all", INK, edges / time.scale, closed(total) / axis.scale, steps=True, width=1.4))
    level = None if port is None else ChartMark("link's maximum", port.goodput_limit_bps / axis.scale)
    top = 1.15 * max(float(total.max()), port.goodput_limit_bps if port else 0) / axis.scale
    vertical = ChartAxis("Throughput", axis.unit, low=0, high=top or None)
    means = ", ".join(f"{node} {format_metric('_bps', float(rate.mean()))}" for (_, node), rate in drawn)
    # Over whole lives the index says nothing where flows come and go: over the phases in between.
    summary = curve.results.summary
    fairness = summary.get("jain_fairness") if summary.get("jain_phase_mean") is None else summary["jain_phase_mean"]
    fair = f" Jain's fairness index {fairness:.3f}." if fairness is not None else ""
    together = format_metric("_bps", float(total.mean()))
    caption = f"{curve.label}: {means}, together {together}, in bins of {format_metric('_ns', bin_s * 1e9)}.{fair}"
    return Picture("Throughput of long flows", caption, over_time(curve, vertical, series, level))


def _long_interval(curve: Curve, rows: pl.LazyFrame) -> tuple[int, int]:
    """Return when long flows ran, from the first start to the last end: other flows may go on for long.

    After their last sample nothing is known of them: that they were silent then is not said.
    """
    begin, end = shown_interval(curve.results)
    last = curve.results.flows.filter(pl.col("stop_ns").is_not_null()).select(pl.col("end_ns").max()).collect().item()
    sampled = (
        rows.filter(pl.col("bytes_acked").is_not_null())
        .select(pl.col("time_ns").max())
        .collect(engine="streaming")
        .item()
    )
    return begin, min(int(each) for each in (end, last, sampled) if each is not None)


def _bin_edges(begin_ns: int, end_ns: int, interval_ns: int) -> np.ndarray:
    """Return edges that are whole sampling intervals apart, so that all bins have as many samples; a last,
    shorter one is left out."""
    width = max(1, -(-(end_ns - begin_ns) // (_BINS * interval_ns))) * interval_ns
    return np.arange(begin_ns, max(end_ns, begin_ns + width) + 1, width, dtype=np.float64)
