"""What charts over time share: axes, marks of events and of a buffer's levels, step functions as series."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabriclab.formats.plan.model import PauseStorm
from fabriclab.report.drawing.charts import ChartAxis, ChartMark, ChartSeries
from fabriclab.report.drawing.curves import level_label
from fabriclab.report.measured.port_facts import PortFacts
from fabriclab.report.measured.quantities import Axis
from fabriclab.report.measured.series import Steps
from fabriclab.results import Results


def time_axis(time: Axis, begin_ns: float, end_ns: float) -> ChartAxis:
    """Return the axis of an interval, ns, in the unit `time`."""
    return ChartAxis("Time", time.unit, low=begin_ns / time.scale, high=end_ns / time.scale)


def event_marks(
    results: Results, time: Axis, begin_ns: float, end_ns: float, from_ns: float = 0
) -> tuple[ChartMark, ...]:
    """Return the run's events within an interval, ns after the epoch, on an axis whose 0 is `from_ns`; storms last."""
    marks = []
    for event in results.plan.changes:
        if begin_ns <= event.at_ns <= end_ns:
            until = (min(event.until_ns, end_ns) - from_ns) / time.scale if isinstance(event, PauseStorm) else None
            marks.append(ChartMark(event.name, (event.at_ns - from_ns) / time.scale, until))
    return tuple(marks)


def level_marks(facts: PortFacts | None, axis: Axis, top: float) -> tuple[ChartMark, ...]:
    """Return buffer limit and thresholds of a port as far as the axis, whose highest value is `top`, reaches."""
    levels = facts.levels if facts is not None else ()
    return tuple(
        ChartMark(level_label(level, axis), level.bytes / axis.scale)
        for level in levels
        if level.bytes <= top * axis.scale
    )


def steps_series(
    steps: Steps, name: str, color: str, x: Axis, y: Axis, dash: Any = "-", from_ns: float = 0
) -> ChartSeries:
    """Return a step function as a series that ends where its interval does; an envelope has a band."""

    def closed(values: np.ndarray) -> np.ndarray:
        result: np.ndarray = np.append(values, values[-1:]) / y.scale
        return result

    times = np.append(steps.time_ns, [steps.end_ns] if len(steps.time_ns) else [])
    low, high = (closed(steps.low), closed(steps.high)) if steps.is_envelope else (None, None)
    return ChartSeries(name, color, (times - from_ns) / x.scale, closed(steps.mean), low, high, dash=dash, steps=True)
