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


def log_ticks(low: float, high: float, every: int = 0) -> tuple[list[float], list[float]]:
    """Return ticks with a text, and those between them without, of a logarithmic axis with base 10.

    `every`: so many powers apart; 0: as close as is usual, at least two of them.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = every or -(-(last - first) // _MOST_DECADES)
    parts = (1, 2, 5) if high < 100 * low and not every else (1,)
    found = _within([part * 10.0**power for power in range(first, last + 1, step) for part in parts], low, high)
    between = [part * 10.0**power for power in range(first, last + 1) for part in range(1, 10)] if step == 1 else []
    between = _within(between, low, high)
    if len(found) < 2 and not every:
        found = between if len(between) > 1 else linear_ticks(low, high, 6)
    return found, [each for each in between if each not in found]


def _within(values: list[float], low: float, high: float) -> list[float]:
    return [each for each in values if low * (1 - _NEARLY) <= each <= high * (1 + _NEARLY)]


def tick_texts(ticks: list[float]) -> list[str]:
    """Return ticks of a linear axis as texts, all with as many decimals."""
    if len(ticks) < 2:
        return [f"{each:g}" for each in ticks]
    step = ticks[1] - ticks[0]
    decimals = next((count for count in range(12) if abs(round(step, count) - step) < 1e-6 * step), 12)
    return [f"{0.0 if abs(each) < _NEARLY * step else each:,.{decimals}f}" for each in ticks]
