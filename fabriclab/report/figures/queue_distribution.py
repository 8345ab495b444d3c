"""How much of the time a queue was how long."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from fabriclab.report.exhibits import Picture
from fabriclab.report.figures.curves import Curve
from fabriclab.report.figures.queue import queue_rows, queue_scale
from fabriclab.report.network import PortFacts
from fabriclab.report.quantities import Axis, axis_label, format_metric
from fabriclab.report.style import GROUND, MUTED, drawing, figure_svg, new_figure, place_legend
from fabriclab.results.statistics import hold_until_next, time_weighted_distribution
from fabriclab.results.summary import busy_interval


def queue_distribution(curves: Sequence[Curve], name: str, port: str | None = None) -> Picture | None:
    """Return the share of time that the queue was at or below each length; None when no queue was sampled."""
    found = [(curve, rows) for curve in curves if (rows := queue_rows(curve, port)) is not None]
    if not found:
        return None
    axis, top = queue_scale([], [facts for _, (_, facts) in found], [curve.results.summary.get("queue_max_bytes") for curve, _ in found])
    with drawing():
        figure = new_figure(2.7)
        axes = figure.subplots()
        for curve, (samples, _) in found:
            table = time_weighted_distribution(hold_until_next(samples, "bytes", *busy_interval(curve.results.measured)))
            lengths = np.concatenate(([0.0], table["value"].to_numpy() / axis.scale, [top]))
            shares = np.concatenate(([0.0], table["share"].to_numpy() * 100, [100.0]))
            axes.step(lengths, shares, where="post", color=curve.color, linestyle=curve.dash, label=curve.label)
        _mark_lengths(axes, [facts for _, (_, facts) in found], axis)
        axes.set(xlim=(0, top), ylim=(0, 101), xlabel=axis_label("Queue", axis), ylabel="Time at or below (%)")
        place_legend(axes)
        caption = _distribution_caption([curve for curve, _ in found])
        return Picture("How long the queue was", caption, figure_svg(figure, name, caption))


def _mark_lengths(axes: Axes, ports: Sequence[PortFacts], axis: Axis) -> None:
    """Mark buffer limits and marking thresholds on a horizontal axis of queue lengths."""
    limits = {port.limit_bytes: f"buffer {port.limit_bytes / axis.scale:g} {axis.unit}" for port in ports}
    thresholds = {port.threshold_bytes: f"K = {port.threshold_bytes / axis.scale:g} {axis.unit}" for port in ports if port.threshold_bytes}
    for length, label in (limits | thresholds).items():
        place = length / axis.scale
        axes.axvline(place, color=MUTED, linewidth=0.9, linestyle=(0, (1, 1.5)), zorder=1.5)
        patch = {"facecolor": GROUND, "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
        axes.annotate(
            label, (place, 50), xytext=(3, 0), textcoords="offset points", rotation=90, va="center", fontsize=8, bbox=patch, zorder=5
        )


def _distribution_caption(curves: Sequence[Curve]) -> str:
    def one(curve: Curve) -> str:
        median, high = (format_metric("_bytes", curve.results.summary.get(f"queue_{word}_bytes")) for word in ("median", "p99"))
        return f"{curve.label}: half of the time at most {median}, 99 % at most {high}"

    return "; ".join(one(curve) for curve in curves) + "."
