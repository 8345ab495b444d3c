"""A comparison as JSON, for programs. docs/compare.md has the keys."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fabriclab.comparison.conditions import Finding
from fabriclab.comparison.records import ComparedMetric, ComparedPoint, Comparison

FORMAT = "fabriclab-comparison-1"


def document(comparisons: Sequence[Comparison], findings: Sequence[Finding] = ()) -> dict[str, Any]:
    """Return all that is known, as JSON has it. What is absent is null; numbers are in the metric's own unit."""
    return {
        "format": FORMAT,
        "comparisons": [_comparison(comparison) for comparison in comparisons],
        "conditions": [_finding(finding) for finding in findings],
    }


def to_json(comparisons: Sequence[Comparison], findings: Sequence[Finding] = ()) -> str:
    """Return the document as text, one that ends with a newline."""
    return json.dumps(document(comparisons, findings), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _comparison(comparison: Comparison) -> Mapping[str, Any]:
    return {
        "base": comparison.base,
        "other": comparison.other,
        "level": comparison.level,
        "tested": comparison.tested,
        "verdicts": comparison.counts,
        "changes": [{"what": each.what, "base": each.base, "other": each.other} for each in comparison.changes],
        "only_base": list(comparison.only_base),
        "only_other": list(comparison.only_other),
        "points": [_point(point, comparison.level) for point in comparison.points],
    }


def _point(point: ComparedPoint, level: float) -> Mapping[str, Any]:
    return {
        "label": point.label,
        "settings": point.settings,
        "pairs": point.pairs,
        "runs": list(point.runs),
        "same_flows": point.same_flows,
        "metrics": [_metric(metric, level) for metric in point.metrics],
    }


def _metric(metric: ComparedMetric, level: float) -> Mapping[str, Any]:
    found = metric.difference
    ends = None if found is None else found.interval(level)
    return {
        "metric": metric.metric,
        "verdict": metric.verdict,
        "reason": metric.reason or None,
        "base": None if found is None else found.base,
        "other": None if found is None else found.other,
        "change": None if found is None else found.change,
        "low": None if ends is None else ends[0],
        "high": None if ends is None else ends[1],
        "ratio": None if found is None else found.ratio,
        "p_value": None if found is None else found.p_value,
    }


def _finding(finding: Finding) -> Mapping[str, Any]:
    return {
        "condition": finding.condition.text,
        "point": finding.point,
        "metric": finding.metric or None,
        "holds": finding.holds if finding.is_told else None,
        "told": finding.told,
    }
