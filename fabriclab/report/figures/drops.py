"""Drops and ECN marks of switch ports over time."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import MaxNLocator

from fabriclab.report.drawing.chart_parts import event_marks, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import Curve, draw_events, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import WARNING, drawing, figure_svg, new_figure
from fabriclab.report.measured.quantities import axis_for, axis_label, format_metric
from fabriclab.report.measured.samples import queue_samples
from fabriclab.report.measured.series import counter_at

_MOST_BARS = 150
_COUNTERS = {"Dropped": "drops", "Marked": "marks"}


def drops_picture(curve: Curve, name: str, port: str | None = None) -> Picture | None:
    """Return drops and ECN marks over time of a port, or of all sampled ports together;
    None when there were neither."""
    ports = [port] if port is not None else curve.results.plan.probes.queue_ports
    found = [samples for each in ports if (samples := queue_samples(curve.results, each)) is not None]
    if not found:
        return None
    begin, end = shown_interval(curve.results)
    edges = np.linspace(begin, max(end, begin + 1), _MOST_BARS + 1)
    of_ports = {
        word: [np.diff(counter_at(each.rows, column, edges)) for each in found] for word, column in _COUNTERS.items()
    }
    counts = {word: total for word, each in of_ports.items() if (total := np.sum(each, axis=0)).sum() > 0}
    if not counts:
        return None
    place = found[0].facts.name if len(found) == 1 else f"{len(found)} ports"
    time = axis_for("ns", [end])
    with drawing():
        figure = new_figure(0.4 + 1.35 * len(counts))
        for axes, (word, count) in zip(
            figure.subplots(len(counts), 1, squeeze=False, sharex=True)[:, 0], counts.items(), strict=True
        ):
            color = WARNING if word == "Dropped" else curve.color
            axes.bar(
                edges[:-1] / time.scale, count, np.diff(edges) / time.scale, align="edge", color=color, linewidth=0
            )
            axes.set_ylabel(f"{word} (packets)")
            axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
            axes.set_xlim(begin / time.scale, end / time.scale)
            draw_events(axes, curve.results, time)
        axes.set_xlabel(axis_label("Time", time))
        caption = _drops_caption(counts, (end - begin) / _MOST_BARS, place)
        if len(found) > 1:
            caption += f" {_most_at(of_ports, [each.facts.name for each in found])}."
        svg = figure_svg(figure, name, caption)
    events = event_marks(curve.results, time, begin, end)
    panels = tuple(
        ChartPanel(
            time_axis(time, begin, end),
            ChartAxis(word, "packets", low=0),
            (
                ChartSeries(
                    word, WARNING if word == "Dropped" else curve.color, edges[:-1] / time.scale, count, steps=True
                ),
            ),
            "",
            (),
            events,
        )
        for word, count in counts.items()
    )
    return Picture(f"Drops and marks at {place}", caption, svg, Chart(panels, linked=True))


def _drops_caption(counts: dict[str, np.ndarray], bin_ns: float, place: str) -> str:
    totals = " and ".join(f"{int(count.sum()):,} packets {word.lower()}" for word, count in counts.items())
    return f"{totals} at {place}; a bar is {format_metric('_ns', bin_ns)}."


def _most_at(of_ports: dict[str, list[np.ndarray]], ports: list[str]) -> str:
    """Return at which port most packets were dropped, and marked."""
    parts = []
    for word, counts in of_ports.items():
        totals = [int(count.sum()) for count in counts]
        most = max(totals)
        if most:
            parts.append(f"most {word.lower()} at {ports[totals.index(most)]}: {most:,}")
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]
