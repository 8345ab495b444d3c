"""A setting as the horizontal axis of a figure: numbers stand at their value,
anything else as categories in the order of the matrix."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullLocator

from fabriclab.report.drawing.curves import setting_noun, value_text
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.drawing.style import LABEL_CHARACTERS_PER_IN, WIDTH_IN
from fabriclab.report.measured.quantities import Axis, axis_label, setting_axis, setting_number

_TICK_GAP = 0.045
"""Least distance of two tick labels, as a share of the figure's width."""
_ROOM_IN = 0.9
"""What the vertical axis of a panel takes of its width."""
_MOST_DODGE = 0.16
_WIDE = 20
"""Positive numbers of which the largest is so many times the smallest would crowd at one end of a linear axis."""


@dataclass(frozen=True)
class SettingAxis:
    """Where a setting's values stand; as soon as one of them is no number (`auto`, `codel`) all are `categories`."""

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

    @property
    def title(self) -> str:
        """What stands below the axis: `Delay (ms)`."""
        return axis_label(setting_title(self.name), self.unit)

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

    def shape(self, axes: Axes, places: Sequence[float], *, log_x: bool, columns: int) -> None:
        """Put a title and ticks at the places, base units in any order, as many as labels fit in so
        many columns of panels."""
        axes.set_xlabel(self.title)
        axes.xaxis.set_minor_locator(NullLocator())
        if self.categories:
            _shape_categories(axes, [value_text(self.name, value) for value in self.categories], columns)
        else:
            _shape_numbers(axes, sorted({place / self.unit.scale for place in places}), log_x=log_x, columns=columns)
            axes.xaxis.set_minor_locator(NullLocator())


def setting_title(x: str) -> str:
    """Return what a setting is called on an axis."""
    noun = setting_noun(x)
    return noun[:1].upper() + noun[1:]


def _shape_categories(axes: Axes, labels: Sequence[str], columns: int) -> None:
    """Label every category, in several lines where that is enough, else aslant."""
    room = int((WIDTH_IN / columns - _ROOM_IN) / len(labels) * LABEL_CHARACTERS_PER_IN)
    fits = max(len(word) for label in labels for word in label.split()) <= room
    axes.xaxis.set_major_locator(FixedLocator(list(range(len(labels)))))
    axes.xaxis.set_major_formatter(FixedFormatter([textwrap.fill(label, room) if fits else label for label in labels]))
    if not fits:
        for tick in axes.get_xticklabels():
            tick.set(rotation=30, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.5, len(labels) - 0.5)


def _shape_numbers(axes: Axes, places: Sequence[float], *, log_x: bool, columns: int) -> None:
    gap = _TICK_GAP * columns
    if log_x:
        axes.set_xscale("log", base=2)
    low, high = places[0], places[-1]
    axes.set_xlim((low / 1.12, high * 1.12) if log_x else (low - 0.04 * (high - low), high + 0.04 * (high - low)))

    def share(place: float) -> float:
        return float(np.log(place / low) / np.log(high / low)) if log_x else (place - low) / (high - low)

    ticks: list[float] = []
    for place in reversed(places):
        if not ticks or share(ticks[-1]) - share(place) >= gap:
            ticks.append(place)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
