"""What charts over time share: axes, marks of events and of a buffer's levels, step functions as series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fabriclab.formats.plan.model import PauseStorm
from fabriclab.report.drawing.charts import ChartAxis, ChartMark, ChartSeries
from fabriclab.report.drawing.curves import level_label
from fabriclab.report.drawing.style import INK
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
        if level.is_limit
        else ChartMark(level_label(level, axis), level.bytes / axis.scale, color=INK, is_dotted=True)
        for level in levels
        if level.bytes <= top * axis.scale
    )


def steps_series(
    steps: Steps, name: str, color: str, x: Axis, y: Axis, *, from_ns: float = 0, width: float | None = None
) -> ChartSeries:
    """Return a step function as a series that ends where its interval does; an envelope has a band."""

    times = np.append(steps.time_ns, [steps.end_ns] if len(steps.time_ns) else [])
    mean, *ends = (closed(each) / y.scale for each in (steps.mean, steps.low, steps.high))
    low, high = ends if steps.is_envelope else (None, None)
    return ChartSeries(name, color, (times - from_ns) / x.scale, mean, low, high, steps=True, width=width)


def closed(values: np.ndarray) -> np.ndarray:
    """Return the values of bins with the last one once more: a step function needs an end."""
    return np.append(values, values[-1:])


def rows_axis(names: Sequence[str]) -> ChartAxis:
    """Return the vertical axis of bars below each other, a name each."""
    return ChartAxis("", scale="category", names=tuple(names), low=-0.6, high=len(names) - 0.4, downward=True)


def stack(
    edges: np.ndarray, counts: Mapping[str, np.ndarray], colors: Sequence[str], area: float = 1.0
) -> list[ChartSeries]:
    """Return areas upon each other, each of the values between the edges."""
    below, series = np.zeros(len(edges)), []
    for (name, values), color in zip(counts.items(), colors, strict=False):
        top = below + closed(values)
        series.append(ChartSeries(name, color, edges, closed(values), below, top, steps=True, line=False, area=area))
        below = top
    return series
