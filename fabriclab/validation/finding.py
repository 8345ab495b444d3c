"""What a validation says: one line of its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from fabriclab.formats.family import Family
from fabriclab.lab.validation_keys import Severity

Verdict = Literal["pass", "fail", "warning", "not judged", "not measured", "does not apply"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

MOST_SHOWN = 20
"""The most failures of one kind that are shown: a fabric has a thousand pairs of hosts, and one cause."""


@dataclass(frozen=True)
class ValidationFinding:
    """One thing that was looked at."""

    check: str
    """Which check: sessions, paths, balance, reach, mtu, class, marks, lossless, ecn-first, victim, watchdog,
    failure, run, configuration."""
    where: str
    expected: str
    measured: str
    verdict: Verdict
    why: str = ""
    """Why what was measured could not be judged; empty where it could, or where nothing was measured."""

    @property
    def told(self) -> str:
        """What was measured, and why it could not be judged."""
        return f"{self.measured}; but {self.why}" if self.why else self.measured


def judged(
    check: str, where: str, expected: str, measured: str, holds: bool, severity: Severity = "error"
) -> ValidationFinding:
    """Return a finding that passes or fails; with severity `warning` it passes or warns."""
    wrong: Verdict = "fail" if severity == "error" else "warning"
    return ValidationFinding(check, where, expected, measured, "pass" if holds else wrong)


def unmeasured(check: str, where: str, expected: str, why: str) -> ValidationFinding:
    """Return a finding of what could not be looked at here."""
    return ValidationFinding(check, where, expected, why, "not measured")


def over_family(family: Family) -> str:
    """Return how the place of a finding ends that is about one family of addresses, in a lab that has two."""
    return f", IPv{family}"


def unjudged(check: str, where: str, expected: str, why: str) -> ValidationFinding:
    """Return a finding of what acts in the switch, and not here: it never passes."""
    return ValidationFinding(check, where, expected, why, "not judged")


def inapplicable(check: str, where: str, expected: str, why: str) -> ValidationFinding:
    """Return a finding of what there is nothing to look at for: it never passes."""
    return ValidationFinding(check, where, expected, why, "does not apply")


def shortened(failures: Sequence[ValidationFinding]) -> list[ValidationFinding]:
    """Return the first failures of one kind, and a line for how many more there are."""
    if len(failures) <= MOST_SHOWN:
        return list(failures)
    left, first = len(failures) - MOST_SHOWN, failures[0]
    worst: Verdict = "fail" if any(one.verdict == "fail" for one in failures) else first.verdict
    rest = ValidationFinding(first.check, f"{left} more", first.expected, "failures of the same kind", worst)
    return [*failures[:MOST_SHOWN], rest]


def all_pass(findings: Sequence[ValidationFinding]) -> bool:
    """Return whether nothing failed, and all that was measured could be judged.

    What could not be measured, only warns, or does not apply, did not fail; a validation without a pass has shown
    nothing.
    """
    verdicts = [finding.verdict for finding in findings]
    return "fail" not in verdicts and "not judged" not in verdicts and "pass" in verdicts


def why_undecided(findings: Sequence[ValidationFinding]) -> str | None:
    """Return why findings without a failure are no verdict; None where they are one."""
    verdicts = [finding.verdict for finding in findings]
    if "fail" in verdicts or "not judged" not in verdicts:
        return None
    count = verdicts.count("not judged")
    return f"{count} of {len(verdicts)} checks are not judged: they hang on what acts in the switch and is not emulated"


def numbers_text(numbers: Sequence[int]) -> str:
    """Return numbers as ranges: `0..7, 10`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)
