"""The checks of an experiment as rows: one for each condition, whatever the number of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.drawing.style import algorithm_name
from fabriclab.report.measured.quantities import format_metric, metric_title
from fabriclab.results import CheckResult, evaluate_checks


@dataclass(frozen=True)
class CheckRow:
    """A check as it is shown: `outcome` names a class of the page, `text` is what stands there."""

    condition: str
    where: str
    measured: str
    outcome: str
    text: str


def check_rows(pools: Sequence[PooledRuns]) -> list[CheckRow]:
    """Return each check once; of several runs the range that was measured, and how many of them pass."""
    by_condition: dict[str, list[CheckResult]] = {}
    for check in (check for pool in pools for run in pool.runs for check in evaluate_checks(run)):
        by_condition.setdefault(repr((check.metric, check.operator, check.value, check.where)), []).append(check)
    return [_row(checks) for checks in by_condition.values()]


def _row(checks: Sequence[CheckResult]) -> CheckRow:
    first = checks[0]
    where = ", ".join(f"{name} {algorithm_name(str(value))}" for name, value in first.where.items())
    condition = f"{metric_title(first.metric)} {first.operator} {format_metric(first.metric, first.value)}"
    outcome = worst_outcome(checks)
    text = outcome if len(checks) == 1 else f"{sum(check.outcome == 'pass' for check in checks)} of {len(checks)} pass"
    return CheckRow(condition, where, measured_range(checks), outcome, text)


def measured_range(checks: Sequence[CheckResult]) -> str:
    """Return what several runs measured for one check: the least and the greatest, a dash for nothing."""
    measured = [check.measured for check in checks if check.measured is not None]
    ends = (min(measured), max(measured)) if measured else (None,)
    return " to ".join(dict.fromkeys(format_metric(checks[0].metric, value) for value in ends))


def worst_outcome(checks: Sequence[CheckResult]) -> str:
    """Return `fail` when one of the checks does, `not measured` when one was not, else `pass`."""
    outcomes = [check.outcome for check in checks]
    return next(each for each in ("fail", "not measured", "pass") if each in outcomes)
