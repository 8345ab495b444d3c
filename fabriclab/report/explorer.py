"""What the page lets its reader explore: the queue, the flows and the TCP samples of every point, reduced to what a
page has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from fabriclab.report.drawing.chart_parts import event_marks, level_marks
from fabriclab.report.drawing.charts import packed
from fabriclab.report.drawing.curves import setting_noun, shown_interval, value_text
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.explored_flows import explored_flows
from fabriclab.report.figures.tcp import sender_samples
from fabriclab.report.measured.quantities import Axis, axis_for
from fabriclab.report.measured.samples import QueueSamples, default_place, queue_samples
from fabriclab.report.measured.series import counter_at, read_steps, sampled_bins

MOST_POINTS = 60
"""Points that a page holds in detail; of a larger sweep the first ones of the matrix."""
_QUEUE_STEPS = 800
_PAGE_STEPS = 16_000
"""Steps of queues that all points of a page have together: about 20 bytes each."""
_PAGE_FLOWS = 40_000
_FEWEST_FLOWS = 500
_PAGE_SERIES = 160
"""TCP series that all points have together: three of each flow."""
_TCP_STEPS = 240
_TCP_COLUMNS = ("time_ns", "flow", "cwnd", "srtt_us", "bytes_acked")


@dataclass(frozen=True)
class Units:
    """The units that all points of a page are drawn in."""

    time: Axis
    bytes: Axis
    top: float
    """Of the queue's axis, in its unit."""


def explorer_of(
    pools: Sequence[PooledRuns], varied: Sequence[str], first: Sequence[PooledRuns] = ()
) -> dict[str, Any] | None:
    """Return the part of the page's document that its explorer draws; None where no point has results,
    or none of them flows: of programs' connections nothing is known.

    Of a point with several seeds it has the first run. It begins with the points `first`, of which only the label
    counts, or the first ones.
    """
    present = [pool for pool in pools if pool.runs]
    shown = present[:MOST_POINTS]
    if not any(pool.runs[0].summary.get("flows") for pool in shown):
        return None
    begun = {pool.label for pool in first} & {pool.label for pool in shown} or {pool.label for pool in shown[:1]}
    place = default_place(shown[0].runs[0])
    sampled = [queue_samples(pool.runs[0], *place) for pool in shown]
    units = _units(shown, sampled)
    settings = [name for name in varied if len({str(pool.parameters.get(name)) for pool in shown}) > 1]
    values = {name: list(dict.fromkeys(str(pool.parameters.get(name)) for pool in shown)) for name in settings}
    return {
        "time": units.time.unit,
        "bytes": units.bytes.unit,
        "top": units.top,
        "queue": next((samples.facts.title for samples in sampled if samples is not None), ""),
        "settings": [
            {"title": setting_noun(name), "values": [value_text(name, value) for value in values[name]]}
            for name in settings
        ],
        "points": [
            {
                "label": pool.label,
                "choice": [values[name].index(str(pool.parameters.get(name))) for name in settings],
                "start": pool.label in begun,
                **_point(pool, samples, units, len(shown)),
            }
            for pool, samples in zip(shown, sampled, strict=True)
        ],
        "note": _note(present, shown),
    }


def _note(present: Sequence[PooledRuns], shown: Sequence[PooledRuns]) -> str:
    parts = []
    if len(present) > len(shown):
        parts.append(f"The first {len(shown)} of {len(present)} points are here.")
    if any(len(pool.runs) > 1 for pool in shown):
        parts.append("Each point is shown with its first seed.")
    return " ".join(parts)


def _units(shown: Sequence[PooledRuns], sampled: Sequence[QueueSamples | None]) -> Units:
    intervals = [shown_interval(pool.runs[0]) for pool in shown]
    longest = max([float(samples.longest_bytes or 0) for samples in sampled if samples is not None], default=0.0)
    limits = [float(samples.facts.limit_bytes or 0) for samples in sampled if samples is not None]
    reach = max([longest, *(limit for limit in limits if limit <= 3 * longest), 1.0])
    unit = axis_for("bytes", [reach])
    return Units(axis_for("ns", [max(end - begin for begin, end in intervals)]), unit, 1.1 * reach / unit.scale)


def _point(pool: PooledRuns, samples: QueueSamples | None, units: Units, points: int) -> dict[str, Any]:
    run, time = pool.runs[0], units.time
    begin, end = shown_interval(run)
    found: dict[str, Any] = {
        "end": (end - begin) / time.scale,
        "events": [mark.document() for mark in event_marks(run, time, begin, end, begin)],
        "flows": explored_flows(run, time, begin, max(_PAGE_FLOWS // points, _FEWEST_FLOWS)),
        "tcp": _tcp(pool, time, begin, end, max(1, _PAGE_SERIES // 3 // points)),
    }
    if samples is not None:
        steps = read_steps(samples.rows, "bytes", begin, end, most=min(_QUEUE_STEPS, max(_PAGE_STEPS // points, 200)))
        found["queue"] = {
            "x": packed((np.append(steps.time_ns, end) - begin) / time.scale),
            **{
                name: packed(np.append(values, values[-1:] if len(values) else 0.0) / units.bytes.scale)
                for name, values in (("y", steps.mean), ("low", steps.low), ("high", steps.high))
                if name == "y" or steps.is_envelope
            },
            "levels": [mark.document() for mark in level_marks(samples.facts, units.bytes, units.top)],
        }
    return found


def _tcp(pool: PooledRuns, time: Axis, begin: int, end: int, most: int) -> list[dict[str, Any]]:
    """Return what the first sampled flows have of congestion window, round-trip time and rate, over time."""
    rows, pairs = sender_samples(pool.curve)
    chosen = pairs[:most]
    if not chosen:
        return []
    table = rows.filter(pl.col("flow").is_in([flow for flow, _ in chosen])).select(_TCP_COLUMNS)
    parts = table.collect(engine="streaming").partition_by("flow", as_dict=True, maintain_order=True)
    edges = sampled_bins(pool.runs[0].plan.probes.tcp_interval_ns or 1, begin, end, _TCP_STEPS // 2)
    return [
        {
            "name": f"{node}, flow {flow}",
            # A NIC's queue pair of RoCE has neither.
            **{
                name: _steps(parts[flow,], column, begin, end, time, 1.0)
                for name, column in (("cwnd", "cwnd"), ("srtt", "srtt_us"))
                if parts[flow,][column].null_count() < parts[flow,].height
            },
            "rate": {
                "x": packed((edges[:-1] - begin) / time.scale),
                "y": packed(np.diff(counter_at(parts[flow,].lazy(), "bytes_acked", edges)) * 8e3 / np.diff(edges)),
            },
        }
        for flow, node in chosen
        if (flow,) in parts
    ]


def _steps(rows: pl.DataFrame, column: str, begin: int, end: int, time: Axis, scale: float) -> dict[str, Any]:
    steps = read_steps(rows.lazy(), column, begin, end, most=_TCP_STEPS)
    return {"x": packed((steps.time_ns - begin) / time.scale), "y": packed(steps.mean / scale)}
