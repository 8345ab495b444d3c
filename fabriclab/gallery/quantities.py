"""Numbers with their units, and values of settings, as tables and sentences write them."""

from __future__ import annotations

import re

from fabriclab.formats.where_clause import Scalar

_UNITS = {
    "_bps": {"Gbps": 1e9, "Mbps": 1e6},
    "bytes": {"MB": 1e6, "KB": 1e3, "B": 1.0},
    "_ns": {"s": 1e9, "ms": 1e6, "us": 1e3},
    "_us": {"s": 1e6, "ms": 1e3, "us": 1.0},
}
"""By the ending of a metric's name, which is its unit: what a number of it is divided by."""
_PLAIN = {"": 1.0, "%": 0.01}
OF_SIZED_FLOWS = re.compile(r"(fct|slowdown)_(mean|median|p95|p99|p999)(?:_ns)?\[(.+)\]")
"""Metrics of a class that can be of its flows of some sizes only: kind, statistic and class."""


def _known(metric: str) -> dict[str, float]:
    name = metric.partition("[")[0]
    return next((units for ending, units in _UNITS.items() if name.endswith(ending)), _PLAIN)


def units_of(metric: str) -> tuple[str, ...]:
    """Return the units that a metric may be written in; "" is none."""
    return tuple(_known(metric))


def in_words(value: float | None, metric: str, unit: str, digits: int, *, is_change: bool = False) -> str:
    """Return a number of a metric in a unit, rounded, with commas at thousands; "" where there is none.

    A ratio is written as the change that it is, in per cent with its sign.
    """
    if value is None:
        return ""
    sign = "+" if is_change else ""
    return _signless_zero(f"{in_unit(value, metric, unit, is_change=is_change):{sign},.{digits}f}")


def in_unit(value: float, metric: str, unit: str, *, is_change: bool = False) -> float:
    """Return a number of a metric in a unit; a ratio as the change in per cent."""
    return (value - 1) * 100 if is_change else value / _known(metric)[unit]


def in_base_units(value: float, metric: str, unit: str, *, is_change: bool = False) -> float:
    """Return a number that is written in a unit as the metric has it; a change in per cent as a ratio."""
    return 1 + value / 100 if is_change else value * _known(metric)[unit]


def _signless_zero(text: str) -> str:
    return text.lstrip("+-") if not text.strip("+-0.,") else text


def as_written(value: Scalar) -> str:
    """Return a setting's value as a lab writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
