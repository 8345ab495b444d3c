"""The checks of an experiment: conditions on one number of the results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fabriclab.formats.where_clause import Scalar, concerns
from fabriclab.results.run import Results
from fabriclab.results.summary import Metric

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}


@dataclass(frozen=True)
class CheckResult:
    """A check and what was measured; `outcome` is `not measured` when the run has no such number, or did not end."""

    metric: str
    operator: str
    value: float
    where: dict[str, Scalar]
    measured: Metric
    outcome: Literal["pass", "fail", "not measured"]


def evaluate_checks(results: Results, checks: Sequence[Mapping[str, Any]] | None = None) -> list[CheckResult]:
    """Return the outcome of the plan's checks (or the given ones) that concern this run.

    A check with `where` concerns the runs whose parameters have these values. A run that was cut proves nothing: not measured.
    """
    given = results.plan.get("checks", []) if checks is None else checks
    return [_evaluate(check, results) for check in given if concerns(check, results.parameters)]


def _evaluate(check: Mapping[str, Any], results: Results) -> CheckResult:
    name, symbol, value = str(check["metric"]), str(check["operator"]), float(check["value"])
    measured = results.summary.get(name)
    outcome: Literal["pass", "fail", "not measured"] = "not measured"
    if measured is not None and results.status == "complete":
        outcome = "pass" if _OPERATORS[symbol](float(measured), value) else "fail"
    return CheckResult(name, symbol, value, dict(check.get("where") or {}), measured, outcome)
