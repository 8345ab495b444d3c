"""The checks of an experiment: conditions on one number of the results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from fabriclab.formats.plan.model import Check
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


def evaluate_checks(results: Results, checks: Sequence[Check] | None = None) -> list[CheckResult]:
    """Return the outcome of the plan's checks (or the given ones) that concern this run.

    A check with `where` concerns the runs whose parameters have these values. A run that was cut proves nothing: not
    measured.
    """
    given = results.plan.checks if checks is None else checks
    return [_evaluate(check, results) for check in given if concerns(check.where, results.parameters)]


def unasked_checks(runs: Sequence[Results]) -> list[Check]:
    """Return the checks of the runs' labs that concern none of these runs, each once: nothing is known of them here."""
    written = {repr(check): check for run in runs for check in run.plan.checks}
    return [check for check in written.values() if not any(concerns(check.where, run.parameters) for run in runs)]


def _evaluate(check: Check, results: Results) -> CheckResult:
    measured = results.summary.get(check.metric)
    outcome: Literal["pass", "fail", "not measured"] = "not measured"
    if measured is not None and results.status == "complete":
        outcome = "pass" if _OPERATORS[check.operator](float(measured), check.value) else "fail"
    return CheckResult(check.metric, check.operator, check.value, check.where, measured, outcome)
