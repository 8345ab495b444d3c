"""Queue length over time, one run in detail or several side by side; its distribution; drops and marks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from fabriclab.report.figures.curves import Curve, Picture, draw_buffer_levels
from fabriclab.report.network import PortFacts, port_facts
from fabriclab.report.quantities import Axis, axis_for, axis_label, format_metric, format_share
from fabriclab.report.series import Steps, counter_at, only_value, read_steps
from fabriclab.report.style import WARNING, drawing, figure_svg, new_figure, place_legend
from fabriclab.results.statistics import hold_until_next, time_weighted_distribution
from fabriclab.results.summary import busy_interval

ZOOM_SHARE = 0.05
"""The part of a run that the lower panel shows, unless that would be fewer than ZOOM_SAMPLES."""
ZOOM_SAMPLES = 120
_MOST_BARS = 150


def queue_rows(curve: Curve, port: str | None) -> tuple[pl.LazyFrame, PortFacts] | None:
    """Return the samples of a port (by default the first sampled one) and its facts; None when there are none."""
    facts, queues = port_facts(curve.results, port), curve.results.measured.queues
    if facts is None or queues is None:
        return None
    rows = queues.filter(pl.col("port") == facts.name)
    return (rows, facts) if only_value(rows, pl.len()) > 0 else None


def queue_picture(curve: Curve, name: str, port: str | None = None, *, small: bool = False) -> Picture | None:
    """Return the queue over the whole run and, below, over its most telling part; None when it was not sampled."""
    found = queue_rows(curve, port)
    if found is None:
        return None
    rows, facts = found
    begin, end = busy_interval(curve.results.measured)
    zoom = _zoom_interval(rows, begin, end, curve)
    panels = [(begin, end)] + ([zoom] if zoom is not None and not small else [])
    with drawing():
        figure = new_figure(1.9 if len(panels) == 1 else 3.9)
        grid = figure.subplots(len(panels), 1, squeeze=False, sharey=True)
        for axes, interval in zip(grid[:, 0], panels, strict=True):
            steps = read_steps(rows, "bytes", *interval)
            axis, top = _scale([steps], [facts])
            _draw_queue(axes, steps, curve.color, axis, interval, top)
            draw_buffer_levels(axes, facts, axis, top)
            axes.set_ylabel(axis_label("Queue", axis))
        if len(panels) == 2:
            _mark_zoom(grid[0, 0], panels[1], axis_for("ns", [end]))
        title = f"Queue at {facts.name} over time"
        caption = _queue_caption(curve, facts, zoom if len(panels) == 2 else None)
        return Picture(title, caption, figure_svg(figure, name, caption))


def queue_multiples(curves: Sequence[Curve], columns: int, name: str, port: str | None = None) -> Picture | None:
    """Return the queues of several runs over the same time and on the same axes; None when none was sampled."""
    found = [(curve, rows) for curve in curves if (rows := queue_rows(curve, port)) is not None]
    if not found:
        return None
    intervals = [busy_interval(curve.results.measured) for curve, _ in found]
    window = _common_window(intervals)
    steps = [
        read_steps(rows, "bytes", begin, min(begin + window, end), most=500)
        for (_, (rows, _)), (begin, end) in zip(found, intervals, strict=True)
    ]
    axis, top = _scale(steps, [facts for _, (_, facts) in found])
    columns = min(columns, len(found))
    lines = -(-len(found) // columns)
    with drawing():
        figure = new_figure(1.75 * lines + 0.3)
        grid = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
        for index, axes in enumerate(grid.flat):
            if index >= len(found):
                axes.set_visible(False)
                continue
            curve, (_, facts) = found[index]
            begin, end = intervals[index]
            _draw_queue(axes, steps[index], curve.color, axis, (begin, begin + window), top, from_ns=begin)
            draw_buffer_levels(axes, facts, axis, top)
            _mark_end(axes, end - begin, window)
            goodput = format_metric("goodput_bps", curve.results.summary.get("goodput_bps"))
            axes.set_title(f"{curve.label}: {goodput}")
            if index % columns == 0:
                axes.set_ylabel(axis_label("Queue", axis))
            if index + columns < len(found):
                axes.set_xlabel("")
        caption = _multiples_caption([curve for curve, _ in found], window, intervals)
        return Picture("Queue over time, the telling points", caption, figure_svg(figure, name, caption))


def queue_distribution(curves: Sequence[Curve], name: str, port: str | None = None) -> Picture | None:
    """Return the share of time that the queue was at or below each length; None when no queue was sampled."""
    found = [(curve, rows) for curve in curves if (rows := queue_rows(curve, port)) is not None]
    if not found:
        return None
    axis, top = _scale([], [facts for _, (_, facts) in found], [curve.results.summary.get("queue_max_bytes") for curve, _ in found])
    with drawing():
        figure = new_figure(2.7)
        axes = figure.subplots()
        for curve, (samples, facts) in found:
            table = time_weighted_distribution(hold_until_next(samples, "bytes", *busy_interval(curve.results.measured)))
            lengths = np.concatenate(([0.0], table["value"].to_numpy() / axis.scale, [top]))
            shares = np.concatenate(([0.0], table["share"].to_numpy() * 100, [100.0]))
            axes.step(lengths, shares, where="post", color=curve.color, linestyle=curve.dash, label=curve.label)
            for level in {facts.limit_bytes, facts.threshold_bytes} - {None}:
                assert level is not None
                axes.axvline(level / axis.scale, color=curve.color, linewidth=0.7, linestyle=(0, (1, 2)))
        axes.set(xlim=(0, top), ylim=(0, 101), xlabel=axis_label("Queue", axis), ylabel="Time at or below (%)")
        place_legend(axes)
        caption = _distribution_caption([curve for curve, _ in found])
        return Picture("How long the queue was", caption, figure_svg(figure, name, caption))


def drops_picture(curve: Curve, name: str, port: str | None = None) -> Picture | None:
    """Return drops and ECN marks of a port over time; None when there were neither."""
    found = queue_rows(curve, port)
    if found is None:
        return None
    rows, facts = found
    begin, end = busy_interval(curve.results.measured)
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
        axes.set_xlabel(axis_label("Time", time))
        caption = _drops_caption(counts, (end - begin) / _MOST_BARS, facts)
        return Picture(f"Drops and marks at {facts.name}", caption, figure_svg(figure, name, caption))


def _draw_queue(axes: Axes, steps: Steps, color: str, axis: Axis, interval: tuple[float, float], top: float, from_ns: float = 0.0) -> None:
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


def _scale(steps: Sequence[Steps], facts: Sequence[PortFacts], others: Sequence[float | int | None] = ()) -> tuple[Axis, float]:
    """Return the unit and the top of a queue axis: room for the data, and for the buffer's limit where the data comes near it."""
    highest = max([float(step.high.max()) for step in steps if len(step.high)] + [float(other or 0) for other in others], default=0.0)
    levels = [level for port in facts for level in (port.limit_bytes, port.threshold_bytes or 0) if level <= 3 * max(highest, 1)]
    reach = max([highest, *levels, 1.0])
    axis = axis_for("bytes", [reach])
    return axis, 1.16 * reach / axis.scale


def _zoom_interval(rows: pl.LazyFrame, begin: int, end: int, curve: Curve) -> tuple[int, int] | None:
    """Return the part to look at: about the first drop, else the middle of the run. None when the run is short enough to see."""
    interval = int(curve.results.plan.get("probes", {}).get("queue_interval_ns") or 0)
    length = max(int((end - begin) * ZOOM_SHARE), ZOOM_SAMPLES * interval)
    if length * 2 >= end - begin:
        return None
    dropping = pl.col("drops") > pl.col("drops").first()
    at = only_value(rows, pl.col("time_ns").filter(dropping).first())
    start = (begin + end - length) // 2 if at is None else int(at) - length // 5
    start = min(max(start, begin), end - length)
    return start, start + length


def _mark_zoom(axes: Axes, zoom: tuple[int, int], time: Axis) -> None:
    axes.axvspan(zoom[0] / time.scale, zoom[1] / time.scale, color=WARNING, alpha=0.10, linewidth=0)
    axes.annotate("below", (sum(zoom) / 2 / time.scale, 1), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8)


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
        )


def _common_window(intervals: Sequence[tuple[int, int]]) -> float:
    """Return a length of time that shows the shortest run whole and still lets it be seen beside the longest."""
    lengths = [max(end - begin, 1) for begin, end in intervals]
    return float(min(max(lengths), 3 * min(lengths)))


def _empty_share(curve: Curve, rows: pl.LazyFrame) -> float:
    table = time_weighted_distribution(hold_until_next(rows, "bytes", *busy_interval(curve.results.measured)))
    return float(table["share"][0]) if table.height and table["value"][0] == 0 else 0.0


def _queue_caption(curve: Curve, facts: PortFacts, zoom: tuple[int, int] | None) -> str:
    found = queue_rows(curve, facts.name)
    assert found is not None
    summary = curve.results.summary
    longest, mean = (summary.get(f"queue_{word}_bytes[{facts.name}]") for word in ("max", "mean"))
    text = f"{curve.label}: the queue reaches {format_metric('queue_max_bytes', longest)} of {format_metric('_bytes', facts.limit_bytes)}"
    text += f", its mean over time is {format_metric('queue_mean_bytes', mean)}."
    empty = _empty_share(curve, found[0])
    if empty >= 0.05:
        text += f" It stands empty {format_share(empty)} of the time."
    if zoom is not None:
        axis = axis_for("ns", [zoom[1]])
        drops = summary.get(f"drops[{facts.name}]")
        place = "around the first drop" if drops else "from the middle of the run"
        text += f" Below: {format_metric('_ns', zoom[1] - zoom[0])} {place} ({zoom[0] / axis.scale:.4g} {axis.unit} on)."
    return text + " A band spans least and greatest samples where there are more than the picture has room for; its line is the mean."


def _multiples_caption(curves: Sequence[Curve], window: float, intervals: Sequence[tuple[int, int]]) -> str:
    parts = []
    for curve, (begin, end) in zip(curves, intervals, strict=True):
        found = queue_rows(curve, None)
        empty = _empty_share(curve, found[0]) if found else 0.0
        timeouts = curve.results.summary.get("timeouts")
        text = f"{curve.label}: empty {format_share(empty)} of the time, {format_metric('drops', curve.results.summary.get('drops'))} drops"
        parts.append(text + (f", {timeouts:,} timeouts" if timeouts is not None else "") + f", {format_metric('_ns', end - begin)} in all")
    longer = any(end - begin > window * 1.001 for begin, end in intervals)
    shown = f"The first {format_metric('_ns', window)} of each run" if longer else "Whole runs"
    return f"{shown}, same axes. {'; '.join(parts)}."


def _distribution_caption(curves: Sequence[Curve]) -> str:
    def one(curve: Curve) -> str:
        median, high = (format_metric("_bytes", curve.results.summary.get(f"queue_{word}_bytes")) for word in ("median", "p99"))
        return f"{curve.label}: half of the time at most {median}, 99 % at most {high}"

    return "; ".join(one(curve) for curve in curves) + ". Thin dotted lines: buffer limits and marking thresholds."


def _drops_caption(counts: dict[str, np.ndarray], bin_ns: float, facts: PortFacts) -> str:
    totals = " and ".join(f"{int(count.sum()):,} packets {word.lower()}" for word, count in counts.items())
    return f"{totals} at {facts.name}; a bar is {format_metric('_ns', bin_ns)}."
