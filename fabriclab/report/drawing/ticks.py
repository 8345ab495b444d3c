"""Where the ticks of an axis stand, and what stands beside them."""

from __future__ import annotations

import math

_STEPS, _WHOLE_STEPS = (1, 2, 2.5, 5, 10), (1, 2, 5, 10)
_NEARLY = 1e-9
"""A tick that lies beyond an end by less of a step than that is at the end."""
_MOST_DECADES = 8


def linear_ticks(low: float, high: float, most: int, *, whole: bool = False) -> list[float]:
    """Return round numbers from `low` to `high`, at most `most` steps apart from end to end; `whole`: no fractions."""
    least = (high - low) / max(most, 1)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(each * power for each in _STEPS if each * power >= least * (1 - _NEARLY))
    if whole and (step < 1 or step % 1):
        power = max(1.0, power)
        step = next(each * power for each in _WHOLE_STEPS if each * power >= least * (1 - _NEARLY))
    first, last = math.ceil(low / step - _NEARLY), math.floor(high / step + _NEARLY)
    return [index * step for index in range(first, last + 1)]


def log_ticks(low: float, high: float) -> tuple[list[float], list[float]]:
    """Return ticks with a text, and those between them without, of a logarithmic axis with base 10."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = -(-(last - first) // _MOST_DECADES)
    parts = (1, 2, 5) if high < 100 * low else (1,)
    found = [part * 10.0**power for power in range(first, last + 1, every) for part in parts]
    small = [part * 10.0**power for power in range(first, last + 1) for part in range(2, 10)] if every == 1 else []
    return _within(found, low, high), [each for each in _within(small, low, high) if each not in found]


def _within(values: list[float], low: float, high: float) -> list[float]:
    return [each for each in values if low * (1 - _NEARLY) <= each <= high * (1 + _NEARLY)]


def tick_texts(ticks: list[float]) -> list[str]:
    """Return ticks of a linear axis as texts, all with as many decimals."""
    if len(ticks) < 2:
        return [f"{each:g}" for each in ticks]
    step = ticks[1] - ticks[0]
    decimals = next((count for count in range(12) if abs(round(step, count) - step) < 1e-6 * step), 12)
    return [f"{0.0 if abs(each) < _NEARLY * step else each:,.{decimals}f}" for each in ticks]
