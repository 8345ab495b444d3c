"""How much of the time a queue was how long."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from fabriclab.report.drawing.chart_parts import level_marks
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import Curve, level_label
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import GROUND, MUTED, drawing, figure_svg, new_figure, place_legend
from fabriclab.report.figures.queue import queue_scale
from fabriclab.report.measured.port_facts import PortFacts
from fabriclab.report.measured.quantities import Axis, axis_label, format_metric
from fabriclab.report.measured.samples import QueueSamples, queue_samples

_MOST_STEPS = 1_200


def queue_distribution(
    curves: Sequence[Curve], name: str, port: str | None = None, queue: int | None = None
) -> Picture | None:
    """Return the share of time that the queue was at or below each length; None when no queue was sampled."""
    found = [(curve, samples) for curve in curves if (samples := queue_samples(curve.results, port, queue)) is not None]
    if not found:
        return None
    every = [samples.facts for _, samples in found]
    series = []
    axis, top = queue_scale([], every, [samples.longest_bytes for _, samples in found])
    with drawing():
        figure = new_figure(2.7)
        axes = figure.subplots()
        for curve, samples in found:
            table = samples.distribution
            lengths = np.concatenate(([0.0], table["value"].to_numpy() / axis.scale, [top]))
            shares = np.concatenate(([0.0], table["share"].to_numpy() * 100, [100.0]))
            seen = _last_of_each(lengths, top / _MOST_STEPS)
            series.append(
                ChartSeries(curve.label, curve.color, lengths[seen], shares[seen], dash=curve.dash, steps=True)
            )
            axes.step(
                lengths[seen], shares[seen], where="post", color=curve.color, linestyle=curve.dash, label=curve.label
            )
        _mark_lengths(axes, every, axis, top)
        axes.set(xlim=(0, top), ylim=(0, 101), xlabel=axis_label("Queue", axis), ylabel="Time at or below (%)")
        place_legend(axes)
        caption = "; ".join(_describe(curve, samples) for curve, samples in found) + "."
        subject = "the queue" if queue is None else f"queue {queue} at {every[0].name}"
        svg = figure_svg(figure, name, caption)
    levels = {mark.at: mark for facts in every for mark in level_marks(facts, axis, top)}
    x, y = ChartAxis("Queue", axis.unit, low=0, high=top), ChartAxis("Time at or below", "%", low=0, high=100)
    panel = ChartPanel(x, y, tuple(series), "", (), tuple(levels.values()))
    return Picture(f"How long {subject} was", caption, svg, Chart((panel,)))


def _last_of_each(lengths: np.ndarray, width: float) -> np.ndarray:
    """Return which ascending lengths are the last within their bin of that width, or the very first:
    no eye tells the others."""
    bins = np.floor(lengths / width)
    seen: np.ndarray = np.append(np.diff(bins) > 0, True)
    seen[0] = True
    return seen


def _mark_lengths(axes: Axes, ports: Sequence[PortFacts], axis: Axis, top: float) -> None:
    """Mark buffer limits and marking thresholds on a horizontal axis of queue lengths."""
    levels = {level.bytes: level for port in ports for level in port.levels if level.bytes / axis.scale <= top}
    for length, level in levels.items():
        place = length / axis.scale
        axes.axvline(place, color=MUTED, linewidth=0.9, linestyle=(0, (1, 1.5)), zorder=1.5)
        patch = {"facecolor": GROUND, "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
        label = level_label(level, axis)
        axes.annotate(
            label,
            (place, 50),
            xytext=(3, 0),
            textcoords="offset points",
            rotation=90,
            va="center",
            fontsize=8,
            bbox=patch,
            zorder=5,
        )


def _describe(curve: Curve, samples: QueueSamples) -> str:
    median, high = (format_metric("_bytes", samples.percentile_bytes(percent)) for percent in (50, 99))
    return f"{curve.label}: half of the time at most {median}, 99 % at most {high}"
