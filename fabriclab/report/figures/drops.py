"""Drops and ECN marks of a switch port over time."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import MaxNLocator

from fabriclab.report.exhibits import Picture
from fabriclab.report.figures.curves import Curve, draw_events, shown_interval
from fabriclab.report.network import PortFacts
from fabriclab.report.quantities import axis_for, axis_label, format_metric
from fabriclab.report.samples import queue_samples
from fabriclab.report.series import counter_at
from fabriclab.report.style import WARNING, drawing, figure_svg, new_figure

_MOST_BARS = 150


def drops_picture(curve: Curve, name: str, port: str | None = None) -> Picture | None:
    """Return drops and ECN marks of a port over time; None when there were neither."""
    samples = queue_samples(curve.results, port)
    if samples is None:
        return None
    rows, facts = samples.rows, samples.facts
    begin, end = shown_interval(curve.results)
    edges = np.linspace(begin, max(end, begin + 1), _MOST_BARS + 1)
    counts = {word: np.diff(counter_at(rows, column, edges)) for word, column in (("Dropped", "drops"), ("Marked", "marks"))}
    counts = {word: count for word, count in counts.items() if count.sum() > 0}
    if not counts:
        return None
    time = axis_for("ns", [end])
    with drawing():
        figure = new_figure(0.4 + 1.35 * len(counts))
        for axes, (word, count) in zip(figure.subplots(len(counts), 1, squeeze=False, sharex=True)[:, 0], counts.items(), strict=True):
            color = WARNING if word == "Dropped" else curve.color
            axes.bar(edges[:-1] / time.scale, count, np.diff(edges) / time.scale, align="edge", color=color, linewidth=0)
            axes.set_ylabel(f"{word} (packets)")
            axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
            axes.set_xlim(begin / time.scale, end / time.scale)
            draw_events(axes, curve.results, time)
        axes.set_xlabel(axis_label("Time", time))
        caption = _drops_caption(counts, (end - begin) / _MOST_BARS, facts)
        return Picture(f"Drops and marks at {facts.name}", caption, figure_svg(figure, name, caption))


def _drops_caption(counts: dict[str, np.ndarray], bin_ns: float, facts: PortFacts) -> str:
    totals = " and ".join(f"{int(count.sum()):,} packets {word.lower()}" for word, count in counts.items())
    return f"{totals} at {facts.name}; a bar is {format_metric('_ns', bin_ns)}."
