"""How much of the time a queue was how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fabriclab.report.drawing.chart_parts import level_marks
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import Curve
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import MUTED
from fabriclab.report.figures.queue import queue_scale
from fabriclab.report.measured.quantities import format_metric
from fabriclab.report.measured.samples import QueueSamples, queue_samples

_MOST_STEPS = 1_200


def queue_distribution(curves: Sequence[Curve], port: str | None = None, queue: int | None = None) -> Picture | None:
    """Return the share of time that the queue was at or below each length; None when no queue was sampled."""
    found = [(curve, samples) for curve in curves if (samples := queue_samples(curve.results, port, queue)) is not None]
    if not found:
        return None
    every = [samples.facts for _, samples in found]
    series = []
    axis, top = queue_scale([], every, [samples.longest_bytes for _, samples in found])
    for curve, samples in found:
        table = samples.distribution
        lengths = np.concatenate(([0.0], table["value"].to_numpy() / axis.scale, [top]))
        shares = np.concatenate(([0.0], table["share"].to_numpy() * 100, [100.0]))
        seen = _last_of_each(lengths, top / _MOST_STEPS)
        series.append(ChartSeries(curve.label, curve.color, lengths[seen], shares[seen], dash=curve.dash, steps=True))
    marks = {mark.at: mark for facts in every for mark in level_marks(facts, axis, top)}
    levels = tuple(replace(mark, color=MUTED, is_dotted=True, place="along") for mark in marks.values())
    x, y = ChartAxis("Queue", axis.unit, low=0, high=top), ChartAxis("Time at or below", "%", low=0, high=100)
    caption = "; ".join(_describe(curve, samples) for curve, samples in found) + "."
    subject = "the queue" if queue is None else f"queue {queue} at {every[0].name}"
    chart = Chart((ChartPanel(x, y, tuple(series), events=levels),))
    return Picture(f"How long {subject} was", caption, chart)


def _last_of_each(lengths: np.ndarray, width: float) -> np.ndarray:
    """Return which ascending lengths are the last within their bin of that width, or the very first:
    no eye tells the others."""
    bins = np.floor(lengths / width)
    seen: np.ndarray = np.append(np.diff(bins) > 0, True)
    seen[0] = True
    return seen


def _describe(curve: Curve, samples: QueueSamples) -> str:
    median, high = (format_metric("_bytes", samples.percentile_bytes(percent)) for percent in (50, 99))
    return f"{curve.label}: half of the time at most {median}, 99 % at most {high}"
