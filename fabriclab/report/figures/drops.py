"""Drops and ECN marks of switch ports over time."""

from __future__ import annotations

import numpy as np

from fabriclab.report.drawing.chart_parts import closed, event_marks, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import Curve, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import WARNING
from fabriclab.report.measured.quantities import axis_for, format_metric
from fabriclab.report.measured.samples import queue_samples
from fabriclab.report.measured.series import counter_at

_MOST_BARS = 150
_COUNTERS = {"Dropped": "drops", "Marked": "marks"}


def drops_picture(curve: Curve, port: str | None = None) -> Picture | None:
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
    caption = _drops_caption(counts, (end - begin) / _MOST_BARS, place)
    if len(found) > 1:
        caption += f" {_most_at(of_ports, [each.facts.name for each in found])}."
    events = event_marks(curve.results, time, begin, end)
    panels = []
    for word, count in counts.items():
        color = WARNING if word == "Dropped" else curve.color
        bars = ChartSeries(word, color, edges / time.scale, closed(count), steps=True, line=False, area=1.0)
        vertical = ChartAxis(word, "packets", low=0, whole=True)
        panels.append(ChartPanel(time_axis(time, begin, end), vertical, (bars,), events=events))
    chart = Chart(tuple(panels), linked=True, height_in=0.4 + 1.35 * len(counts), has_own_legends=True)
    return Picture(f"Drops and marks at {place}", caption, chart)


def _drops_caption(counts: dict[str, np.ndarray], bin_ns: float, place: str) -> str:
    totals = " and ".join(f"{int(count.sum()):,} packets {word.lower()}" for word, count in counts.items())
    return f"{totals} at {place}; a bar covers {format_metric('_ns', bin_ns)}."


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
