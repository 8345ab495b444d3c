"""Comparison of runs and sweeps: the differences, whether they are better or worse, and how certain they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.api.measured import PathLike, Run, Sweep, read_any
from fabriclab.comparison.compare import LEVEL
from fabriclab.comparison.compare import compare as compared
from fabriclab.comparison.conditions import ANY, Finding, judge, read_condition
from fabriclab.comparison.document import to_json
from fabriclab.comparison.markdown import to_markdown
from fabriclab.comparison.page import write_page
from fabriclab.comparison.records import Comparison
from fabriclab.comparison.words import promise, tally
from fabriclab.results.damage import reading

Subject = Run | Sweep | PathLike


class Compared:
    """Runs or sweeps compared with one base: a `Comparison` for each, and the conditions."""

    def __init__(self, comparisons: Sequence[Comparison], findings: Sequence[Finding]) -> None:
        """Take what `compare` found."""
        self.comparisons = tuple(comparisons)
        self.findings = tuple(findings)

    def __repr__(self) -> str:
        return "\n".join(
            f"{each.other} against {each.base}: {tally(each)}. {promise(each)}" for each in self.comparisons
        )

    @property
    def fails(self) -> bool:
        """Whether any condition of `fail_on` holds, or could not be judged at any point."""
        return any(finding.fails for finding in self.findings)

    def to_json(self) -> str:
        """Return everything as JSON (docs/compare.md)."""
        return to_json(self.comparisons, self.findings)

    def to_markdown(self) -> str:
        """Return it as GitHub-flavoured Markdown, such as for the comment of a pull request."""
        return to_markdown(self.comparisons, self.findings)

    def write_page(self, out: PathLike) -> Path:
        """Write one self-contained HTML page and return its path. Raises OSError."""
        write_page(self.comparisons, self.findings, Path(out))
        return Path(out)


def compare(
    base: Subject,
    *others: Subject,
    metrics: Sequence[str] = (),
    level: float = LEVEL,
    fail_on: Sequence[str] = (),
) -> Compared:
    """Compare runs or sweeps with a base, point by point, seed by seed.

    `metrics` names the metrics to compare (docs/metrics.md). Without it the headline metrics are compared, and with
    `all` every metric. `fail_on` has conditions such as `worse:goodput_bps:2%`. Raises ArgumentError for an invalid
    metric, level or condition, ResultsError if a directory is not a run or sweep.
    """
    conditions = [read_condition(text) for text in fail_on]
    read = read_any(_directory(base))
    asked = [condition.metric for condition in conditions if condition.metric != ANY]
    with reading(*map(_directory, (base, *others))):
        found = [compared(read, read_any(_directory(other)), metrics, level, asked) for other in others]
    return Compared(found, [finding for each in found for finding in judge(each, conditions)])


def _directory(subject: Subject) -> Path:
    return subject.directory if isinstance(subject, Run | Sweep) else Path(subject)
