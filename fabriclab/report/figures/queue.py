"""Queue length over time, one run in detail or several side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabriclab.report.drawing.chart_parts import event_marks, level_marks, steps_series, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartMark, ChartPanel
from fabriclab.report.drawing.curves import Curve, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import WARNING
from fabriclab.report.measured.port_facts import PortFacts, rto_min_us
from fabriclab.report.measured.quantities import Axis, axis_for, format_metric, format_share
from fabriclab.report.measured.samples import QueueSamples, queue_samples
from fabriclab.report.measured.scope import measured_ports
from fabriclab.report.measured.series import Steps, read_steps
from fabriclab.units import format_count

ZOOM_SHARE = 0.05
"""The part of a run that the lower panel shows, within ZOOM_SAMPLES."""
ZOOM_SAMPLES = (120, 450)
"""Enough samples to see a shape, few enough to see each."""
TITLE_CHARACTERS = 90
"""What fits in a line of titles across the figure."""


@dataclass(frozen=True)
class Panel:
    """One run's queue in a figure of several; times in ns after the epoch."""

    curve: Curve
    samples: QueueSamples
    begin: int
    end: int

    @property
    def facts(self) -> PortFacts:
        """Return what the plan says of its port, or of its queue."""
        return self.samples.facts


def queue_picture(
    curve: Curve, port: str | None = None, queue: int | None = None, *, small: bool = False
) -> Picture | None:
    """Return the queue over the whole run and, below, over its most telling part, which a `small` one has not; None
    when it was not sampled."""
    samples = queue_samples(curve.results, port, queue)
    if samples is None:
        return None
    begin, end = shown_interval(curve.results)
    zoom = _zoom_interval(samples, begin, end) if samples.longest_bytes and not small else None
    parts = [(begin, end), *([zoom] if zoom is not None else [])]
    steps = [read_steps(samples.rows, "bytes", *interval) for interval in parts]
    axis, top = queue_scale(steps, [samples.facts])
    caption = _queue_caption(curve, samples, has_band=any(part.is_envelope for part in steps))
    whole, *larger = [
        queue_panel(curve, samples.facts, part, interval, axis, (0, top))
        for interval, part in zip(parts, steps, strict=True)
    ]
    if zoom is not None:
        scale = axis_for("ns", [end]).scale
        whole = replace(whole, larger=(zoom[0] / scale, zoom[1] / scale))
    chart = Chart((whole, *(replace(each, only="still") for each in larger)), height_in=3.9 if larger else 1.9)
    note = ""
    if zoom is not None:
        note = f"The lower panel shows {format_metric('_ns', zoom[1] - zoom[0])} {samples.telling[1]}."
    return Picture(f"{samples.facts.title} over time", caption, chart, note)


def queue_multiples(
    curves: Sequence[Curve], columns: int, port: str | None = None, queue: int | None = None
) -> Picture | None:
    """Return the queues of several runs over the same time and on the same axes; None when none was sampled.

    Runs that fit in one line get a second one: a short part of each on axes of its own.
    """
    sampled = [(curve, queue_samples(curve.results, port, queue)) for curve in curves]
    found = [Panel(curve, samples, *shown_interval(curve.results)) for curve, samples in sampled if samples is not None]
    if not found:
        return None
    window = _common_window(found)
    steps = [
        read_steps(panel.samples.rows, "bytes", panel.begin, min(panel.begin + window, panel.end), most=500)
        for panel in found
    ]
    axis, top = queue_scale(steps, [panel.facts for panel in found])
    columns = min(columns, len(found))
    lines = -(-len(found) // columns)
    zooms = [_zoom_interval(panel.samples, panel.begin, panel.end) for panel in found] if lines == 1 else []
    zoomed = [(panel, zoom) for panel, zoom in zip(found, zooms, strict=False) if zoom is not None]
    zoomed = zoomed if len(zoomed) == len(found) else []
    panels = [_multiple(panel, part, window, axis, top, columns) for panel, part in zip(found, steps, strict=True)]
    panels += [_larger(panel, zoom) for panel, zoom in zoomed]
    note = ""
    if zoomed:
        length = format_metric("_ns", zoomed[0][1][1] - zoomed[0][1][0])
        note = f"The lower panels show {length} of each run on their own axes, around the first drop if there is one."
    is_plain = found[0].facts.queue is None and len(measured_ports(found[0].curve.results, "drops")) < 2
    subject = "Queue" if is_plain else found[0].facts.title
    chart = Chart(
        tuple(panels), linked=True, columns=columns, height_in=1.75 * (lines + bool(zoomed)) + 0.3, has_legend=False
    )
    return Picture(f"{subject} over time, side by side", _multiples_caption(found, window), chart, note)


def queue_panel(
    curve: Curve,
    facts: PortFacts,
    steps: Steps,
    interval: tuple[float, float],
    axis: Axis,
    limits: tuple[float, float],
    from_ns: float = 0.0,
) -> ChartPanel:
    """Return a queue over an interval, time counted from `from_ns`, with the buffer's levels and the run's events."""
    begin, end = (edge - from_ns for edge in interval)
    time = axis_for("ns", [end])
    series = steps_series(steps, curve.label, curve.color, time, axis, from_ns=from_ns, width=1.2)
    return ChartPanel(
        time_axis(time, begin, end),
        ChartAxis("Queue", axis.unit, low=limits[0], high=limits[1]),
        (series if steps.is_envelope else replace(series, area=0.12),),
        levels=level_marks(facts, axis, limits[1]),
        events=event_marks(curve.results, time, *interval, from_ns),
    )


def _multiple(panel: Panel, steps: Steps, window: float, axis: Axis, top: float, columns: int) -> ChartPanel:
    """Return one run among several, with its goodput in the title, and a mark where it ends before the others."""
    curve, begin = panel.curve, panel.begin
    found = queue_panel(curve, panel.facts, steps, (begin, begin + window), axis, (0, top), begin)
    title = f"{curve.label}: {format_metric('goodput_bps', curve.results.summary.get('goodput_bps'))}"
    ended: tuple[ChartMark, ...] = ()
    if panel.end - begin < 0.97 * window:
        at = (panel.end - begin) / axis_for("ns", [window]).scale
        ended = (ChartMark("all received", at, color=WARNING, place="start"),)
    title = textwrap.fill(title, TITLE_CHARACTERS // columns)
    return replace(found, title=title, events=(*found.events, *ended))


def _larger(panel: Panel, zoom: tuple[int, int]) -> ChartPanel:
    """Return a short part of a run on an axis that fits it, time counted from its first start."""
    steps = read_steps(panel.samples.rows, "bytes", *zoom, most=500)
    axis = axis_for("bytes", [float(steps.high.max())] if len(steps.high) else [])
    low, high = (float(steps.low.min()), float(steps.high.max())) if len(steps.low) else (0.0, 1.0)
    low = 0.0 if low < 0.5 * high else low - 0.3 * (high - low)
    limits = low / axis.scale, (high + 0.25 * max(high - low, 1500.0)) / axis.scale
    found = queue_panel(panel.curve, panel.facts, steps, zoom, axis, limits, panel.begin)
    return replace(found, only="still", levels=tuple(mark for mark in found.levels if mark.at >= limits[0]), events=())


def queue_scale(
    steps: Sequence[Steps], facts: Sequence[PortFacts], others: Sequence[float | int | None] = ()
) -> tuple[Axis, float]:
    """Return the unit and the top of a queue axis: room for the data, and for the buffer's limit where
    the data comes near it."""
    highest = max(
        [float(step.high.max()) for step in steps if len(step.high)] + [float(other or 0) for other in others],
        default=0.0,
    )
    levels = [level.bytes for port in facts for level in port.levels if highest == 0 or level.bytes <= 3 * highest]
    reach = max([highest, *levels, 1.0])
    axis = axis_for("bytes", [reach])
    return axis, 1.16 * reach / axis.scale


def _zoom_interval(samples: QueueSamples, begin: int, end: int) -> tuple[int, int] | None:
    """Return the part to look at, where something happens or in the middle of the run.

    None when the run is short enough to see.
    """
    fewest, most = (count * samples.interval_ns for count in ZOOM_SAMPLES)
    length = min(max(int((end - begin) * ZOOM_SHARE), fewest), most)
    if length * 2 >= end - begin:
        return None
    at, _ = samples.telling
    start = (begin + end - length) // 2 if at is None else at - length // 5
    start = min(max(start, begin), end - length)
    return start, start + length


def _common_window(panels: Sequence[Panel]) -> float:
    """Return a length of time that shows the shortest run whole and, where there are timeouts, what comes after one."""
    lengths = [max(panel.end - panel.begin, 1) for panel in panels]
    waits = [2500 * rto_min_us(panel.curve.results) for panel in panels if panel.curve.results.summary.get("timeouts")]
    return float(min(max(lengths), max([1.2 * min(lengths), *waits])))


def _queue_caption(curve: Curve, samples: QueueSamples, *, has_band: bool) -> str:
    longest, limit = samples.longest_bytes, samples.facts.limit_bytes
    if longest == 0:
        return f"{curve.label}: no sample found a waiting packet; packets wait before they reach this port."
    bound = f" of {format_metric('_bytes', limit)}" if limit is not None else ""
    text = f"{curve.label}: the queue reaches {format_metric('queue_max_bytes', longest)}{bound}"
    text += f", its mean over time is {format_metric('queue_mean_bytes', samples.mean_bytes)}."
    if samples.empty_share >= 0.05:
        text += f" It is empty {format_share(samples.empty_share)} of the time."
    if has_band:
        text += (
            " Where there are more samples than pixels, the band spans the smallest and the largest of them, and "
            "the line is their mean."
        )
    return text


def _multiples_caption(panels: Sequence[Panel], window: float) -> str:
    longer = any(panel.end - panel.begin > window * 1.001 for panel in panels)
    shown = (
        f"The panels show the first {format_metric('_ns', window)} of each run"
        if longer
        else "The panels show whole runs"
    )
    return f"{shown} on the same axes. {'; '.join(_describe(panel) for panel in panels)}."


def _describe(panel: Panel) -> str:
    summary, samples = panel.curve.results.summary, panel.samples
    parts = [f"mean {format_metric('_bytes', samples.mean_bytes)}"]
    parts += [f"empty {format_share(samples.empty_share)} of the time"] if samples.empty_share >= 0.005 else []
    parts += ["– drops" if samples.drops is None else format_count(samples.drops, "drop")]
    stalls = summary.get(f"stalls[{panel.facts.name}]") if panel.facts.queue is None else None
    parts += [f"{format_count(int(stalls), 'stall')} of 10 ms or more"] if stalls else []
    parts += [format_count(int(summary["timeouts"] or 0), "timeout")] if summary.get("timeouts") is not None else []
    return f"{panel.curve.label}: {', '.join(parts)}, {format_metric('_ns', panel.end - panel.begin)} in all"
