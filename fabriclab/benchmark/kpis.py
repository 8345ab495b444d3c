"""The numbers of a benchmark (the draft's KPIs), each with what it was measured for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Literal


@dataclass(frozen=True)
class Reference:
    """The draft's reference target of a number, which is no pass mark there."""

    operator: Literal["<=", ">=", "=="]
    value: float

    def __str__(self) -> str:
        """Return it as the draft writes it."""
        return f"{self.operator} {self.value:g}"

    def holds(self, value: float) -> bool:
        """Return whether a value reaches it."""
        match self.operator:
            case "<=":
                return value <= self.value
            case ">=":
                return value >= self.value
        return value == self.value


@dataclass(frozen=True)
class Kpi:
    """A number of a test."""

    name: str
    """In the draft's words."""
    condition: str
    """What it was measured for: `16 MB`, `8 to 1`."""
    unit: str
    value: float | None
    """None: not measured, for `reason`."""
    reference: Reference | None = None
    reason: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the reference is reached; None without one, and for what was not measured."""
        return None if self.reference is None or self.value is None else self.reference.holds(self.value)


JCT_RATIO = Reference("<=", 1.05)
"""Section "Primary KPIs": 1.05, and 1.15 is acceptable."""
BUS_BANDWIDTH = Reference(">=", 90.0)
"""Per cent of the NIC's line rate, within a pod."""
THROUGHPUT = Reference(">=", 95.0)
"""Per cent of the bisection bandwidth."""
NO_DROPS = Reference("==", 0.0)


def variation(values: Sequence[float]) -> float | None:
    """Return the coefficient of variation; None of fewer than two values."""
    return pstdev(values) / fmean(values) if len(values) > 1 and fmean(values) else None


def max_mean(loads: Sequence[float]) -> float | None:
    """Return the largest load over the mean (the draft's MMR, of bytes in place of flows); None without any load."""
    return max(loads) / fmean(loads) if loads and fmean(loads) else None
