"""What the drops of switches with a shared buffer were for: over time at one port,
and of many ports or points side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from fabriclab.report.drawing.chart_parts import event_marks, rows_axis, stack, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartBars, ChartPanel, ChartTable, ChartText
from fabriclab.report.drawing.curves import Curve, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.drawing.style import CAUSES
from fabriclab.report.measured.quantities import axis_for, format_metric
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
    "pool full": "the pool had no free memory",
    "VOQ limit": "too many of the queue's packets came from one port",
    "ingress": "the packet's priority group was at its limit, including its headroom",
    "WRED": "WRED dropped the packet early",
    "pause storm": "the pause watchdog dropped the packet",
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


def drops_of_ports(results: Results) -> Picture | None:
    """Return a bar for each port that dropped something, those with the most where there are
    many; None where none did."""
    bars = [Bar(port, drops) for port, drops in dropped(results).items()]
    dropping = [bar for bar in bars if bar.total > 0]
    if not dropping:
        return None
    largest = sorted(dropping, key=lambda bar: -bar.total)[:MOST_PORTS]
    shown = [bar for bar in dropping if bar in largest]
    others = len(dropping) - len(shown)
    more = f" {others} more ports dropped fewer packets." if others else ""
    return _bars_picture(shown, "Drops by port", more)


def drops_of_points(pools: Sequence[PooledRuns], port: str | None = None) -> Picture | None:
    """Return a bar for each pool: the drops of all its switches' ports, or of one;
    None where nobody sampled or nothing was dropped."""
    bars = [bar for pool in pools if (bar := _bar_of_pool(pool, port)) is not None]
    if not any(bar.total for bar in bars):
        return None
    repeated = " The numbers are means over the seeds." if any(len(pool.runs) > 1 for pool in pools) else ""
    where = (
        "The numbers are sums over all sampled switch ports." if port is None else f"The numbers are those of {port}."
    )
    return _bars_picture(bars, "Drops by cause" if port is None else f"Drops at {port} by cause", f" {where}{repeated}")


def _bar_of_pool(pool: PooledRuns, port: str | None) -> Bar | None:
    counts = [[drops for place, drops in dropped(run).items() if port in (None, place)] for run in pool.runs]
    known = [ports for ports in counts if ports]
    if not known:
        return None
    return Bar(
        pool.label, {cause: sum(drops[cause] for ports in known for drops in ports) / len(known) for cause in CAUSES}
    )


def _bars_picture(bars: Sequence[Bar], title: str, remark: str) -> Picture:
    causes = [cause for cause in CAUSES if any(bar.drops[cause] for bar in bars)]
    places, below, drawn = np.arange(len(bars), dtype=np.float64), np.zeros(len(bars)), []
    for cause in causes:
        end = below + np.array([bar.drops[cause] for bar in bars])
        drawn.append(ChartBars(cause, CAUSES[cause], places, below, end))
        below = end
    highest = 1.15 * max(bar.total for bar in bars)
    panel = ChartPanel(
        ChartAxis("Dropped", "packets", low=0, high=highest, whole=True, grid=True),
        rows_axis([bar.label for bar in bars]),
        bars=tuple(drawn),
        texts=tuple(ChartText(_count(bar.total, "none"), bar.total, place) for place, bar in enumerate(bars)),
    )
    rows = [[bar.label, *(_count(bar.drops[cause]) for cause in causes), _count(bar.total)] for bar in bars]
    numbers = ChartTable(["", *(f"{cause} (packets)" for cause in causes), "All (packets)"], rows)
    caption = "; ".join(f"{cause}: {_EXPLAINED[cause]}" for cause in causes)
    caption = f"{caption[0].upper()}{caption[1:]}.{remark}"
    return Picture(title, caption, Chart((panel,), numbers=numbers, height_in=0.85 + 0.27 * len(bars)))


def _count(value: float, none: str = "0") -> str:
    return f"{value:,.0f}" if value else none


def drops_over_time(curve: Curve, port: str) -> Picture | None:
    """Return the drops of a port stacked by cause, and its ECN marks, over time; None when there were neither."""
    begin, end = shown_interval(curve.results)
    interval = curve.results.plan.probes.switch_interval_ns or 1
    edges = sampled_bins(interval, begin, end, _MOST_BARS)
    drops, marks = _counts(curve.results, port, edges)
    panels = [(word, counts) for word, counts in (("Dropped", drops), ("Marked", marks)) if counts]
    if not panels:
        return None
    time = axis_for("ns", [end])
    events = event_marks(curve.results, time, begin, end)
    drawn = tuple(
        ChartPanel(
            time_axis(time, begin, end),
            ChartAxis(word, "packets", low=0, whole=True),
            tuple(stack(edges / time.scale, counts, [CAUSES.get(cause, curve.color) for cause in counts])),
            events=events,
        )
        for word, counts in panels
    )
    height = 0.4 + 1.35 * len(panels) + 0.3 * (len(drops) > 1)
    caption = _time_caption(drops, marks, port, float(edges[1] - edges[0]))
    subject = " and ".join(word for word, counts in (("drops", drops), ("marks", marks)) if counts)
    chart = Chart(drawn, linked=True, height_in=height, has_own_legends=True)
    return Picture(f"{subject.capitalize()} at {port}", caption, chart)


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


def _time_caption(drops: dict[str, Array], marks: dict[str, Array], port: str, bin_ns: float) -> str:
    parts = [f"{int(count.sum()):,} packets dropped ({cause}: {_EXPLAINED[cause]})" for cause, count in drops.items()]
    parts += [f"{int(count.sum()):,} packets marked" for count in marks.values()]
    return f"{'; '.join(parts)} at {port}; a bar covers {format_metric('_ns', bin_ns)}."
