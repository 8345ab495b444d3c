"""The checks of an experiment as rows: one for each condition, whatever the number of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriclab.formats.plan.model import Check
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.drawing.style import algorithm_name
from fabriclab.report.measured.quantities import format_metric, metric_title
from fabriclab.results import CheckResult, Results, evaluate_checks, unasked_checks

UNASKED = "not asked"


@dataclass(frozen=True)
class CheckRow:
    """A check as it is shown: `outcome` names a class of the page, `text` is what stands there."""

    condition: str
    where: str
    measured: str
    outcome: str
    text: str


@dataclass(frozen=True)
class CheckTally:
    """How many checks were asked of some runs, how many of these pass, and how many are of other points."""

    passed: int
    asked: int
    unasked: int

    @property
    def holds(self) -> bool:
        """Whether checks were asked, and all of them pass."""
        return 0 < self.asked == self.passed

    def text(self, noun: str = "") -> str:
        """Return the tally in words, `3 of 3 pass, 2 not asked here`; `noun` stands behind the number of checks."""
        if not self.asked:
            return f"none of {self.unasked}{noun} asked here"
        return f"{self.passed} of {self.asked}{noun} pass" + (
            f", {self.unasked} not asked here" if self.unasked else ""
        )


def tally_of(runs: Sequence[Results]) -> CheckTally | None:
    """Return the tally of the runs' checks; None where their labs have none."""
    outcomes = [check.outcome for run in runs for check in evaluate_checks(run)]
    unasked = len(unasked_checks(runs))
    return CheckTally(outcomes.count("pass"), len(outcomes), unasked) if outcomes or unasked else None


def check_rows(pools: Sequence[PooledRuns]) -> list[CheckRow]:
    """Return each check once: of several runs the range that was measured, and how many of them pass; last those that
    are of other points, and were not asked."""
    runs = [run for pool in pools for run in pool.runs]
    by_condition: dict[str, list[CheckResult]] = {}
    for check in (check for run in runs for check in evaluate_checks(run)):
        by_condition.setdefault(repr((check.metric, check.operator, check.value, check.where)), []).append(check)
    unasked = (
        CheckRow(_condition(check), _where(check), "", UNASKED, "not asked here") for check in unasked_checks(runs)
    )
    return [*(_row(checks) for checks in by_condition.values()), *unasked]


def _row(checks: Sequence[CheckResult]) -> CheckRow:
    first, outcome = checks[0], worst_outcome(checks)
    text = outcome if len(checks) == 1 else f"{sum(check.outcome == 'pass' for check in checks)} of {len(checks)} pass"
    return CheckRow(_condition(first), _where(first), measured_range(checks), outcome, text)


def _condition(check: CheckResult | Check) -> str:
    return f"{metric_title(check.metric)} {check.operator} {format_metric(check.metric, check.value)}"


def _where(check: CheckResult | Check) -> str:
    return ", ".join(f"{name} {algorithm_name(str(value))}" for name, value in check.where.items())


def measured_range(checks: Sequence[CheckResult]) -> str:
    """Return what several runs measured for one check: the least and the greatest, a dash for nothing."""
    measured = [check.measured for check in checks if check.measured is not None]
    ends = (min(measured), max(measured)) if measured else (None,)
    return " to ".join(dict.fromkeys(format_metric(checks[0].metric, value) for value in ends))


def worst_outcome(checks: Sequence[CheckResult]) -> str:
    """Return `fail` when one of the checks does, `not measured` when one was not, else `pass`."""
    outcomes = [check.outcome for check in checks]
    return next(each for each in ("fail", "not measured", "pass") if each in outcomes)
