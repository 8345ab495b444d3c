"""A setting as the horizontal axis of a figure: numbers stand at their value,
anything else as categories in the order of the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fabriclab.report.drawing.charts import ChartAxis
from fabriclab.report.drawing.curves import setting_noun, value_text
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.measured.quantities import Axis, setting_axis, setting_number

_TICK_GAP = 0.045
"""Least distance of two tick labels, as a share of the figure's width."""
_MOST_DODGE = 0.16
_WIDE = 20
"""Positive numbers of which the largest is so many times the smallest would crowd at one end of a linear axis."""


@dataclass(frozen=True)
class SettingAxis:
    """Where a setting's values stand; as soon as one of them is not a number (`auto`, `codel`) all are `categories`."""

    name: str
    unit: Axis
    categories: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, pools: Sequence[PooledRuns]) -> SettingAxis:
        """Return the axis of the pools that have results, in whose order categories stand."""
        values = [pool.parameters[name] for pool in pools if pool.runs and pool.parameters.get(name) is not None]
        if all(setting_number(value) is not None for value in values):
            return cls(name, setting_axis(values)[1])
        return cls(name, Axis(1, ""), tuple(dict.fromkeys(map(str, values))))

    def place(self, pool: PooledRuns) -> float | None:
        """Return where the pool's value stands, numbers in base units; None where it has none."""
        value = pool.parameters.get(self.name)
        if value is None:
            return None
        return float(self.categories.index(str(value))) if self.categories else setting_number(value)

    def dodge(self, number: int, count: int) -> float:
        """Return how far to the right of its category the mark of one line of `count` stands,
        so that none hides another."""
        return (number - (count - 1) / 2) * min(_MOST_DODGE, 0.7 / count) if self.categories else 0.0

    def crowds(self, places: Sequence[float]) -> bool:
        """Return whether three or more numbers, in any order, need a logarithmic axis to be told apart."""
        return not self.categories and len(set(places)) > 2 and 0 < _WIDE * min(places) <= max(places)

    def chart_axis(self, places: Sequence[float], *, log_x: bool = False, columns: int = 1) -> ChartAxis:
        """Return the axis with ticks at the places, base units in any order, as many as labels fit in so many columns
        of panels."""
        title = setting_title(self.name)
        if self.categories:
            names = tuple(value_text(self.name, value) for value in self.categories)
            return ChartAxis(title, scale="category", names=names, low=-0.5, high=len(names) - 0.5)
        found = sorted({place / self.unit.scale for place in places})
        low, high = found[0], found[-1]
        ends = (low / 1.12, high * 1.12) if log_x else (low - 0.04 * (high - low), high + 0.04 * (high - low))
        scale: Literal["log", "linear"] = "log" if log_x else "linear"
        ticks = tuple(_with_room(found, _TICK_GAP * columns, log_x=log_x))
        return ChartAxis(title, self.unit.unit, scale, *ends, base=2 if log_x else None, places=ticks)


def setting_title(x: str) -> str:
    """Return what a setting is called on an axis."""
    noun = setting_noun(x)
    return noun[:1].upper() + noun[1:]


def _with_room(places: Sequence[float], gap: float, *, log_x: bool) -> list[float]:
    """Return those of ascending places that are a share of the axis or more apart, the last one among them."""
    low, high = places[0], places[-1]

    def share(place: float) -> float:
        if high == low:
            return 0.0
        return float(np.log(place / low) / np.log(high / low)) if log_x else (place - low) / (high - low)

    ticks: list[float] = []
    for place in reversed(places):
        if not ticks or share(ticks[-1]) - share(place) >= gap:
            ticks.append(place)
    return ticks[::-1]
