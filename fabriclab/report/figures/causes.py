"""What the drops of switches with a shared buffer were for: over time at one port,
and of many ports or points side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from fabriclab.report.drawing.curves import Curve, draw_events, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.drawing.style import CAUSES
from fabriclab.report.drawing.with_matplotlib import drawing, figure_svg, new_figure, place_legend
from fabriclab.report.measured.quantities import Axis, axis_for, axis_label, format_metric
from fabriclab.report.measured.series import counter_at, sampled_bins
from fabriclab.results import Results
from fabriclab.results.switch_metrics import drop_totals

Array = npt.NDArray[np.float64]
_COLUMNS = {
    "queue limit": "dropped_queue_limit",
    "pool full": "dropped_queue_pool",
    "VOQ limit": "dropped_voq",
    "ingress": "dropped_ingress",
    "WRED": "dropped_wred",
    "pause storm": "dropped_storm",
    "port down": "dropped_reset",
}
"""The columns of the table of queues, by cause."""
_EXPLAINED = {
    "queue limit": "the queue was at its limit",
    "pool full": "nothing was left of the pool",
    "VOQ limit": "too much of it came from one port",
    "ingress": "the priority group it came in by was at its limit, headroom and all",
    "WRED": "dropped early",
    "pause storm": "by the pause watchdog",
    "port down": "the port went down",
}
MOST_PORTS = 16
_MOST_BARS = 150


@dataclass(frozen=True)
class Bar:
    """Dropped packets of a port or of a point by cause, in the order of CAUSES; of several runs the mean."""

    label: str
    drops: dict[str, float]

    @property
    def total(self) -> float:
        """Return the drops of all causes together."""
        return sum(self.drops.values())


def dropped(results: Results) -> dict[str, dict[str, float]]:
    """Return what each sampled switch port dropped by cause, in the plan's order; empty where nobody sampled."""
    hosts = results.plan.host_names
    totals = drop_totals(results.switches)
    if not totals:
        return {}
    counts = {
        port: dict.fromkeys(_COLUMNS, 0.0)
        for port in results.plan.probes.switch_ports
        if port.partition(":")[0] not in hosts
    }
    for cause, column in _COLUMNS.items():
        for (port, _), total in totals[column].items():
            if port in counts:
                counts[port][cause] += total
    return counts


def drops_of_ports(results: Results, name: str) -> Picture | None:
    """Return a bar for each port that dropped something, those with the most where there are
    many; None where none did."""
    bars = [Bar(port, drops) for port, drops in dropped(results).items()]
    dropping = [bar for bar in bars if bar.total > 0]
    if not dropping:
        return None
    largest = sorted(dropping, key=lambda bar: -bar.total)[:MOST_PORTS]
    shown = [bar for bar in dropping if bar in largest]
    others = len(dropping) - len(shown)
    more = f" {others} more ports dropped less." if others else ""
    return _bars_picture(shown, "Drops by port", more, name)


def drops_of_points(pools: Sequence[PooledRuns], name: str, port: str | None = None) -> Picture | None:
    """Return a bar for each pool: the drops of all its switches' ports, or of one;
    None where nobody sampled or nothing was dropped."""
    bars = [bar for pool in pools if (bar := _bar_of_pool(pool, port)) is not None]
    if not any(bar.total for bar in bars):
        return None
    repeated = " Means over the seeds." if any(len(pool.runs) > 1 for pool in pools) else ""
    where = "At all sampled switch ports together." if port is None else f"At {port}."
    return _bars_picture(
        bars, "Drops by cause" if port is None else f"Drops at {port} by cause", f" {where}{repeated}", name
    )


def _bar_of_pool(pool: PooledRuns, port: str | None) -> Bar | None:
    counts = [[drops for place, drops in dropped(run).items() if port in (None, place)] for run in pool.runs]
    known = [ports for ports in counts if ports]
    if not known:
        return None
    return Bar(
        pool.label, {cause: sum(drops[cause] for ports in known for drops in ports) / len(known) for cause in CAUSES}
    )


def _bars_picture(bars: Sequence[Bar], title: str, remark: str, name: str) -> Picture:
    causes = [cause for cause in CAUSES if any(bar.drops[cause] for bar in bars)]
    with drawing():
        figure = new_figure(0.85 + 0.27 * len(bars))
        axes = figure.subplots()
        places = list(range(len(bars)))[::-1]
        below = np.zeros(len(bars))
        for cause in causes:
            counts = np.array([bar.drops[cause] for bar in bars])
            axes.barh(places, counts, left=below, color=CAUSES[cause], height=0.62, label=cause)
            below = below + counts
        _label_bars(axes, bars, places)
        if len(causes) > 1:
            place_legend(axes)
        caption = "; ".join(f"{cause}: {_EXPLAINED[cause]}" for cause in causes)
        caption = f"{caption[0].upper()}{caption[1:]}.{remark}"
        return Picture(title, caption, figure_svg(figure, name, caption))


def _label_bars(axes: Axes, bars: Sequence[Bar], places: Sequence[int]) -> None:
    for place, bar in zip(places, bars, strict=True):
        text = f"{bar.total:,.0f}" if bar.total else "none"
        axes.annotate(text, (bar.total, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5)
    axes.set_yticks(places, [bar.label for bar in bars])
    axes.set(xlim=(0, 1.15 * max(bar.total for bar in bars)), ylim=(-0.6, len(bars) - 0.4), xlabel="Dropped (packets)")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.grid(True, axis="x")


def drops_over_time(curve: Curve, name: str, port: str) -> Picture | None:
    """Return the drops of a port stacked by cause, and its ECN marks, over time; None when there were neither."""
    begin, end = shown_interval(curve.results)
    interval = curve.results.plan.probes.switch_interval_ns or 1
    edges = sampled_bins(interval, begin, end, _MOST_BARS)
    drops, marks = _counts(curve.results, port, edges)
    panels = [(word, counts) for word, counts in (("Dropped", drops), ("Marked", marks)) if counts]
    if not panels:
        return None
    time = axis_for("ns", [end])
    with drawing():
        figure = new_figure(0.4 + 1.35 * len(panels) + 0.3 * (len(drops) > 1))
        for axes, (word, counts) in zip(
            figure.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0], panels, strict=True
        ):
            _draw_stack(axes, edges, counts, time, curve.color)
            axes.set_ylabel(f"{word} (packets)")
            axes.set_xlim(begin / time.scale, end / time.scale)
            draw_events(axes, curve.results, time)
        axes.set_xlabel(axis_label("Time", time))
        caption = _time_caption(drops, marks, port, float(edges[1] - edges[0]))
        subject = " and ".join(word for word, counts in (("drops", drops), ("marks", marks)) if counts)
        return Picture(f"{subject.capitalize()} at {port}", caption, figure_svg(figure, name, caption))


def _counts(results: Results, port: str, edges: Array) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the drops by cause and the marks of all queues of a port between the edges;
    what there was none of is left out."""
    queues = results.switches.queues
    rows = queues.filter(pl.col("port") == port).collect(engine="streaming") if queues is not None else pl.DataFrame()
    each = [queue.lazy() for queue in rows.partition_by("queue", maintain_order=True)] if not rows.is_empty() else []

    def between(counter: pl.Expr) -> Array:
        counted = [counter_at(queue.select("time_ns", counter.alias("counter")), "counter", edges) for queue in each]
        total: Array = np.diff(sum(counted, start=np.zeros(len(edges))))
        return total

    drops = {cause: between(pl.col(_COLUMNS[cause])) for cause in CAUSES}
    marks = {"marked": between(pl.col("marked_wred") + pl.col("marked_phantom"))}
    return {cause: count for cause, count in drops.items() if count.sum() > 0}, {
        word: count for word, count in marks.items() if count.sum() > 0
    }


def _draw_stack(axes: Axes, edges: Array, counts: dict[str, Array], time: Axis, other: str) -> None:
    below = np.zeros(len(edges) - 1)
    for cause, count in counts.items():
        color = CAUSES.get(cause, other)
        axes.bar(
            edges[:-1] / time.scale,
            count,
            np.diff(edges) / time.scale,
            bottom=below,
            align="edge",
            color=color,
            linewidth=0,
            label=cause,
        )
        below = below + count
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    place_legend(axes)


def _time_caption(drops: dict[str, Array], marks: dict[str, Array], port: str, bin_ns: float) -> str:
    parts = [f"{int(count.sum()):,} packets dropped ({cause}: {_EXPLAINED[cause]})" for cause, count in drops.items()]
    parts += [f"{int(count.sum()):,} packets marked" for count in marks.values()]
    return f"{'; '.join(parts)} at {port}; a bar is {format_metric('_ns', bin_ns)}."
