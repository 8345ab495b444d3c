"""The checks of an experiment as rows: one for each condition and pool, whatever the number of seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabriclab.report.pools import PooledRuns
from fabriclab.report.quantities import format_metric, metric_title
from fabriclab.report.style import algorithm_name
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
    """Return the checks of each pool; of several seeds the range that was measured, and how many of them pass."""
    return [_row(checks) for pool in pools for checks in _by_condition(pool)]


def _by_condition(pool: PooledRuns) -> Iterator[list[CheckResult]]:
    """Yield the results of each check, one a run; all runs of a pool have the same checks."""
    yield from (list(checks) for checks in zip(*(evaluate_checks(run) for run in pool.runs), strict=False))


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
