"""Queue length over time, one run in detail or several side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from fabriclab.report.drawing.chart_parts import event_marks, level_marks, steps_series, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel
from fabriclab.report.drawing.curves import Curve, draw_buffer_levels, draw_events, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import GROUND, WARNING, drawing, figure_svg, new_figure
from fabriclab.report.measured.port_facts import PortFacts, rto_min_us
from fabriclab.report.measured.quantities import Axis, axis_for, axis_label, format_metric, format_share
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
    curve: Curve, name: str, port: str | None = None, queue: int | None = None, *, small: bool = False
) -> Picture | None:
    """Return the queue over the whole run and, below, over its most telling part; None when it was not sampled."""
    samples = queue_samples(curve.results, port, queue)
    if samples is None:
        return None
    facts = samples.facts
    begin, end = shown_interval(curve.results)
    zoom = _zoom_interval(samples, begin, end) if samples.longest_bytes else None
    panels = [(begin, end)] + ([zoom] if zoom is not None and not small else [])
    steps = [read_steps(samples.rows, "bytes", *interval) for interval in panels]
    axis, top = queue_scale(steps, [facts])
    with drawing():
        figure = new_figure(1.9 if len(panels) == 1 else 3.9)
        grid = figure.subplots(len(panels), 1, squeeze=False, sharey=True)
        for axes, interval, part in zip(grid[:, 0], panels, steps, strict=True):
            draw_queue(axes, part, curve.color, axis, interval, top)
            draw_events(axes, curve.results, axis_for("ns", [interval[1]]))
            draw_buffer_levels(axes, facts, axis, top)
            axes.set_ylabel(axis_label("Queue", axis))
        if len(panels) == 2:
            _mark_zoom(grid[0, 0], panels[1], axis_for("ns", [end]))
        has_band = any(part.is_envelope for part in steps)
        caption = _queue_caption(curve, samples, zoom if len(panels) == 2 else None, has_band=has_band)
        svg = figure_svg(figure, name, caption)
    time = axis_for("ns", [end])
    panel = ChartPanel(
        time_axis(time, begin, end),
        ChartAxis("Queue", axis.unit, low=0, high=top),
        (steps_series(steps[0], curve.label, curve.color, time, axis),),
        "",
        level_marks(facts, axis, top),
        event_marks(curve.results, time, begin, end),
    )
    return Picture(f"{facts.title} over time", caption, svg, Chart((panel,)))


def queue_multiples(
    curves: Sequence[Curve], columns: int, name: str, port: str | None = None, queue: int | None = None
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
    zoomed = bool(zooms) and all(zoom is not None for zoom in zooms)
    with drawing():
        figure = new_figure(1.75 * (lines + zoomed) + 0.3)
        grid = figure.subplots(lines + zoomed, columns, squeeze=False)
        for index, (panel, axes) in enumerate(zip(found, grid.flat, strict=False)):
            draw_queue(
                axes,
                steps[index],
                panel.curve.color,
                axis,
                (panel.begin, panel.begin + window),
                top,
                from_ns=panel.begin,
            )
            draw_events(axes, panel.curve.results, axis_for("ns", [window]), panel.begin)
            draw_buffer_levels(axes, panel.facts, axis, top)
            _mark_end(axes, panel.end - panel.begin, window)
            title = (
                f"{panel.curve.label}: {format_metric('goodput_bps', panel.curve.results.summary.get('goodput_bps'))}"
            )
            axes.set_title(textwrap.fill(title, TITLE_CHARACTERS // columns))
            axes.set_ylabel(axis_label("Queue", axis) if index % columns == 0 else "")
            axes.set_xlabel("" if index + columns < len(found) else axes.get_xlabel())
        for axes in grid[:lines].flat[len(found) :]:
            axes.set_visible(False)
        for panel, zoom, axes in zip(found, zooms, grid[lines:].flat, strict=False):
            assert zoom is not None
            _draw_zoom(axes, panel, zoom)
        caption = _multiples_caption(found, window, [zoom for zoom in zooms if zoom is not None] if zoomed else [])
        is_plain = found[0].facts.queue is None and len(measured_ports(found[0].curve.results, "drops")) < 2
        subject = "Queue" if is_plain else found[0].facts.title
        svg = figure_svg(figure, name, caption)
    return Picture(
        f"{subject} over time, side by side", caption, svg, _multiples_chart(found, steps, window, axis, top)
    )


def _multiples_chart(found: Sequence[Panel], steps: Sequence[Steps], window: float, axis: Axis, top: float) -> Chart:
    time = axis_for("ns", [window])
    panels = []
    for panel, part in zip(found, steps, strict=True):
        curve, begin = panel.curve, panel.begin
        series = steps_series(part, curve.label, curve.color, time, axis, from_ns=begin)
        events = event_marks(curve.results, time, begin, begin + window, begin)
        levels = level_marks(panel.facts, axis, top)
        vertical = ChartAxis("Queue", axis.unit, low=0, high=top)
        panels.append(ChartPanel(time_axis(time, 0, window), vertical, (series,), curve.label, levels, events))
    return Chart(tuple(panels), linked=True)


def draw_queue(
    axes: Axes, steps: Steps, color: str, axis: Axis, interval: tuple[float, float], top: float, from_ns: float = 0.0
) -> None:
    """Draw a queue's steps over an interval, time counted from `from_ns`."""
    time = axis_for("ns", [interval[1] - from_ns])
    x = np.append(steps.time_ns, steps.end_ns)
    x = (x - from_ns) / time.scale

    def y(values: np.ndarray) -> np.ndarray:
        return np.append(values, values[-1]) / axis.scale if len(values) else np.array([np.nan])

    if steps.is_envelope:
        axes.fill_between(x, y(steps.low), y(steps.high), step="post", color=color, alpha=0.35, linewidth=0)
        axes.step(x, y(steps.mean), where="post", color=color, linewidth=1.2)
    else:
        axes.fill_between(x, 0, y(steps.high), step="post", color=color, alpha=0.12, linewidth=0)
        axes.step(x, y(steps.high), where="post", color=color, linewidth=1.1)
    axes.set(xlim=((interval[0] - from_ns) / time.scale, (interval[1] - from_ns) / time.scale), ylim=(0, top))
    axes.set_xlabel(axis_label("Time", time))


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


def _draw_zoom(axes: Axes, panel: Panel, zoom: tuple[int, int]) -> None:
    """Draw a short part of a run on an axis that fits it, time counted from its first start."""
    steps = read_steps(panel.samples.rows, "bytes", *zoom, most=500)
    axis = axis_for("bytes", [float(steps.high.max())] if len(steps.high) else [])
    low, high = (float(steps.low.min()), float(steps.high.max())) if len(steps.low) else (0.0, 1.0)
    low = 0.0 if low < 0.5 * high else low - 0.3 * (high - low)
    draw_queue(axes, steps, panel.curve.color, axis, zoom, 1.0, from_ns=panel.begin)
    axes.set_ylim(low / axis.scale, (high + 0.25 * max(high - low, 1500.0)) / axis.scale)
    draw_buffer_levels(axes, panel.facts, axis, axes.get_ylim()[1])
    axes.set_ylabel(axis_label("Queue", axis))


def _mark_zoom(axes: Axes, zoom: tuple[int, int], time: Axis) -> None:
    axes.axvspan(zoom[0] / time.scale, zoom[1] / time.scale, color=WARNING, alpha=0.10, linewidth=0)
    axes.annotate(
        "shown below",
        (sum(zoom) / 2 / time.scale, 1),
        xycoords=("data", "axes fraction"),
        ha="center",
        va="bottom",
        fontsize=8,
    )


def _mark_end(axes: Axes, duration: float, window: float) -> None:
    if duration < 0.97 * window:
        time = axis_for("ns", [window])
        axes.axvline(duration / time.scale, color=WARNING, linewidth=0.8, linestyle=(0, (2, 2)))
        late = duration > 0.8 * window
        axes.annotate(
            "all received",
            (duration / time.scale, 0.06),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if late else 3, 0),
            textcoords="offset points",
            ha="right" if late else "left",
            fontsize=8,
            zorder=5,
            bbox={"facecolor": GROUND, "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
        )


def _common_window(panels: Sequence[Panel]) -> float:
    """Return a length of time that shows the shortest run whole and, where there are timeouts, what comes after one."""
    lengths = [max(panel.end - panel.begin, 1) for panel in panels]
    waits = [2500 * rto_min_us(panel.curve.results) for panel in panels if panel.curve.results.summary.get("timeouts")]
    return float(min(max(lengths), max([1.2 * min(lengths), *waits])))


def _queue_caption(curve: Curve, samples: QueueSamples, zoom: tuple[int, int] | None, *, has_band: bool) -> str:
    longest, limit = samples.longest_bytes, samples.facts.limit_bytes
    if longest == 0:
        return f"{curve.label}: no sample found a packet waiting; what waits does so before this port."
    bound = f" of {format_metric('_bytes', limit)}" if limit is not None else ""
    text = f"{curve.label}: the queue reaches {format_metric('queue_max_bytes', longest)}{bound}"
    text += f", its mean over time is {format_metric('queue_mean_bytes', samples.mean_bytes)}."
    if samples.empty_share >= 0.05:
        text += f" It stands empty {format_share(samples.empty_share)} of the time."
    if zoom is not None:
        text += f" Below: {format_metric('_ns', zoom[1] - zoom[0])} {samples.telling[1]}."
    if has_band:
        text += (
            " A band spans the least and greatest of more samples than the picture has room for; its line is the mean."
        )
    return text


def _multiples_caption(panels: Sequence[Panel], window: float, zooms: Sequence[tuple[int, int]]) -> str:
    longer = any(panel.end - panel.begin > window * 1.001 for panel in panels)
    shown = f"The first {format_metric('_ns', window)} of each run" if longer else "Whole runs"
    text = f"{shown}, same axes. {'; '.join(_describe(panel) for panel in panels)}."
    if zooms:
        length = format_metric("_ns", zooms[0][1] - zooms[0][0])
        text += f" Below, on axes of their own: {length} of each, around the first drop where there is one."
    return text


def _describe(panel: Panel) -> str:
    summary, samples = panel.curve.results.summary, panel.samples
    parts = [f"mean {format_metric('_bytes', samples.mean_bytes)}"]
    parts += [f"empty {format_share(samples.empty_share)} of the time"] if samples.empty_share >= 0.005 else []
    parts += ["– drops" if samples.drops is None else format_count(samples.drops, "drop")]
    stalls = summary.get(f"stalls[{panel.facts.name}]") if panel.facts.queue is None else None
    parts += [f"{format_count(int(stalls), 'stall')} of 10 ms or more"] if stalls else []
    parts += [format_count(int(summary["timeouts"] or 0), "timeout")] if summary.get("timeouts") is not None else []
    return f"{panel.curve.label}: {', '.join(parts)}, {format_metric('_ns', panel.end - panel.begin)} in all"
