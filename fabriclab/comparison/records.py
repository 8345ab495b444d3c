"""What a comparison says, as plain records: text, HTML, JSON and JUnit are made of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from fabriclab.formats.where_clause import Scalar
from fabriclab.results.differences import Difference

Verdict = Literal["better", "worse", "changed", "undecided", "same", "not measured"]
"""`changed` is said of a metric of which neither more nor less is better; `same`: to the bit, for every seed."""
DECIDED: tuple[Verdict, ...] = ("worse", "better", "changed")
MOST_UNDECIDED = 40
"""More changes without a verdict are counted, not listed."""
VERDICTS: tuple[Verdict, ...] = ("worse", "better", "changed", "undecided", "same", "not measured")


@dataclass(frozen=True)
class Change:
    """A setting, or a part of what the runs were made with, that is not the same on both sides."""

    what: str
    base: str
    other: str


@dataclass(frozen=True)
class ComparedMetric:
    """One metric of one point of both sides."""

    metric: str
    difference: Difference | None
    verdict: Verdict
    reason: str
    """Why nothing was decided, or measured; empty where there is nothing to add."""


@dataclass(frozen=True)
class ComparedPoint:
    """One point of the base and its partner."""

    label: str
    """What tells it from the other points, in words; empty where it is the only one."""
    settings: dict[str, Scalar]
    """The settings that points are matched by."""
    pairs: int
    """Seeds that both sides have."""
    runs: tuple[int, int]
    same_flows: bool | None
    """Whether the flows of every common seed are the same to the bit; None where no seed is common."""
    metrics: tuple[ComparedMetric, ...]


@dataclass(frozen=True)
class Comparison:
    """A base and one other."""

    base: str
    """The directory, as it was named."""
    other: str
    changes: tuple[Change, ...]
    """What was changed; settings first, in the lab's words."""
    points: tuple[ComparedPoint, ...]
    only_base: tuple[str, ...]
    """Points that the other side does not have."""
    only_other: tuple[str, ...]
    again: str
    """A command that runs the other side with several seeds."""
    level: float
    """With this probability none of the verdicts better, worse and changed is said of equals (Holm)."""

    @property
    def tested(self) -> int:
        """How many differences were put to the test together."""
        return sum(
            metric.difference is not None and metric.difference.p_value is not None and metric.verdict != "same"
            for point in self.points
            for metric in point.metrics
        )

    def shows(self, metric: ComparedMetric) -> bool:
        """Return whether a reader is shown a metric without asking: one with a verdict, and one that changed without a
        verdict if they are not too many; of too many the first, where there are no verdicts at all."""
        return metric.verdict in DECIDED or id(metric) in self._listed

    @cached_property
    def _listed(self) -> frozenset[int]:
        every = (metric for point in self.points for metric in point.metrics)
        changed = [id(metric) for metric in every if metric.verdict not in DECIDED and _has_changed(metric)]
        return frozenset() if self.tested and len(changed) > MOST_UNDECIDED else frozenset(changed[:MOST_UNDECIDED])

    @property
    def counts(self) -> dict[Verdict, int]:
        """How often each verdict was given, in the order of VERDICTS."""
        counted = Counter(metric.verdict for point in self.points for metric in point.metrics)
        return {verdict: counted[verdict] for verdict in VERDICTS if counted[verdict]}


def _has_changed(metric: ComparedMetric) -> bool:
    return metric.difference is not None and metric.difference.change != 0
