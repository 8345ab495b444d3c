"""What a pipeline asks of a comparison: `worse:goodput_bps:2%` and the like, each true or false with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from fabriclab.comparison import words
from fabriclab.comparison.compare import check_metric
from fabriclab.comparison.records import ComparedMetric, ComparedPoint, Comparison
from fabriclab.errors import ArgumentError
from fabriclab.formats.metrics import BY_NAME
from fabriclab.keys.wording import did_you_mean
from fabriclab.report.measured.quantities import metric_title
from fabriclab.results.differences import holm

Kind = Literal["worse", "changed", "different-bits"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ANY = "*"
"""Every metric that is compared."""
_MARGIN = re.compile(r"(\d+(?:\.\d+)?) ?%")


@dataclass(frozen=True)
class Condition:
    """When a comparison fails.

    `worse` holds where a metric is worse by more than the margin, and the seeds alone don't make it so; `changed` where
    it differs by more than the margin, whatever the seeds do; `different-bits` where flows of a common seed differ.
    """

    text: str
    kind: Kind
    metric: str
    """ANY: every metric that is compared."""
    margin: float
    """A part of the base's mean."""


@dataclass(frozen=True)
class Finding:
    """A condition at one point, for one metric."""

    condition: Condition
    point: str
    metric: str
    """Empty for bits."""
    holds: bool
    told: str
    """What was measured, in words; of what can't be told why not."""
    is_told: bool
    """Whether there was anything to judge."""
    is_idle: bool = False
    """Whether there was nothing to judge at any point of the comparison. Then the condition has not passed either."""

    @property
    def fails(self) -> bool:
        """Whether a pipeline is to stop here."""
        return self.holds or self.is_idle


def read_condition(text: str) -> Condition:
    """Return a condition as written: `KIND`, `KIND:METRIC` or `KIND:METRIC:MARGIN%`.

    Raises ArgumentError for anything else, with what would be right.
    """
    kind, _, rest = text.partition(":")
    if kind not in KINDS:
        raise ArgumentError(
            "condition {0!r}: {1!r} is not a kind of condition; {2}", text, kind, did_you_mean(kind, KINDS)
        )
    metric, _, margin = rest.partition(":")
    if kind == "different-bits" and rest:
        raise ArgumentError("condition {0!r}: different-bits takes no metric", text)
    found = _MARGIN.fullmatch(margin.strip())
    if margin and found is None:
        raise ArgumentError("condition {0!r}: {1!r} is not a margin; write per cent, such as 2%", text, margin)
    if metric not in ("", ANY):
        check_metric(metric)
        if kind == "worse" and BY_NAME[metric.partition("[")[0]].better is None:
            raise ArgumentError(
                "condition {0!r}: for {1}, neither more nor less is better; write changed:{2}",
                *(text, metric_title(metric), rest),
            )
    return Condition(text, kind, metric or ANY, float(found[1]) / 100 if found is not None else 0.0)


def judge(comparison: Comparison, conditions: Sequence[Condition]) -> list[Finding]:
    """Return what each condition comes to at each point, one finding at least. Those of a condition are one family
    (Holm)."""
    return [finding for condition in conditions for finding in _idle_if_untold(list(_judged(comparison, condition)))]


def _idle_if_untold(findings: Sequence[Finding]) -> list[Finding]:
    is_idle = not any(finding.is_told for finding in findings)
    return [replace(finding, is_idle=is_idle) for finding in findings]


def _judged(comparison: Comparison, condition: Condition) -> Iterator[Finding]:
    if not comparison.points:
        yield Finding(condition, "", "", False, "no point of one side has the settings of one of the other", False)
        return
    if condition.kind == "different-bits":
        yield from (_bits(condition, point) for point in comparison.points)
        return
    concerned = [
        (point, metric)
        for point in comparison.points
        for metric in point.metrics
        if condition.metric in (ANY, metric.metric)
        and (condition.kind == "changed" or BY_NAME[metric.metric.partition("[")[0]].better is not None)
    ]
    if not concerned:
        yield Finding(condition, "", condition.metric, False, "no run has measured it", False)
    elif condition.kind == "changed":
        yield from (_changed(condition, point, metric, comparison.level) for point, metric in concerned)
    else:
        yield from _worse(condition, concerned, comparison.level)


def _bits(condition: Condition, point: ComparedPoint) -> Finding:
    if point.same_flows is None:
        return Finding(condition, point.label, "", False, "no seed is common to both", False)
    told = f"flows of {point.pairs} common seeds {'are the same' if point.same_flows else 'differ'}"
    return Finding(condition, point.label, "", not point.same_flows, told, True)


def _changed(condition: Condition, point: ComparedPoint, metric: ComparedMetric, level: float) -> Finding:
    found = metric.difference
    if found is None:
        return Finding(condition, point.label, metric.metric, False, metric.reason, False)
    return Finding(
        condition,
        point.label,
        metric.metric,
        abs(found.change) > condition.margin * abs(found.base),
        _how_far(metric, level),
        True,
    )


def _worse(
    condition: Condition, concerned: Sequence[tuple[ComparedPoint, ComparedMetric]], level: float
) -> Iterator[Finding]:
    chances = [_chance(metric, condition.margin) for _, metric in concerned]
    tested = [chance for chance in chances if chance is not None]
    fallen = iter(holm(tested, level))
    for (point, metric), chance in zip(concerned, chances, strict=True):
        if chance is not None:
            yield Finding(condition, point.label, metric.metric, next(fallen), _how_far(metric, level), True)
        elif metric.verdict == "same":
            yield Finding(condition, point.label, metric.metric, False, "the same to the bit", True)
        else:
            yield Finding(condition, point.label, metric.metric, False, metric.reason, False)


def _chance(metric: ComparedMetric, margin: float) -> float | None:
    """Return how likely something no worse than the margin looks like this; None where nobody can tell."""
    found = metric.difference
    if found is None or found.error is None or metric.verdict == "same":
        return None
    distance = margin * abs(found.base)
    is_more = BY_NAME[metric.metric.partition("[")[0]].better == "more"
    return found.p_below(distance) if is_more else found.p_beyond(distance)


def _how_far(metric: ComparedMetric, level: float) -> str:
    within = words.interval(metric, level)
    return f"{words.change(metric)} ({within})" if within else words.change(metric)
