"""A comparison as Markdown, for the comment of a pull request: what changed, a picture, conditions.

Names in it come from labs, so each character that Markdown, HTML or a code host would read is written as a character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fabriclab.comparison import words
from fabriclab.comparison.conditions import Finding
from fabriclab.comparison.records import DECIDED, ComparedMetric, ComparedPoint, Comparison
from fabriclab.report.measured.quantities import metric_title

MOST_ROWS = 30
"""A comment of more rows is not read; the others are counted."""
MOST_BARS = 12
_SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+!|@&~$:]")
_NAMELESS = re.compile(r"[^\w .,%=/()-]")
"""What Mermaid might read in a label."""


def to_markdown(comparisons: Sequence[Comparison], findings: Sequence[Finding] = ()) -> str:
    """Return GitHub-flavoured Markdown, with a chart in Mermaid where a change in per cent is known."""
    lines: list[str] = []
    for comparison in comparisons:
        lines += [*_comparison(comparison), ""]
    lines += _conditions(findings)
    return "\n".join(lines).rstrip() + "\n"


def plain(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line: nobody is mentioned, nothing is linked."""
    return _SPECIAL.sub(lambda one: f"&#{ord(one[0])};", " ".join(text.split()))


def _comparison(comparison: Comparison) -> Iterator[str]:
    yield f"**{plain(comparison.other)}** against **{plain(comparison.base)}**: {words.tally(comparison)}."
    yield ""
    shown = [(point, one) for point in comparison.points for one in point.metrics if comparison.shows(one)]
    shown.sort(key=lambda pair: pair[1].verdict not in DECIDED)
    yield from _table(comparison, shown[:MOST_ROWS])
    if len(shown) > MOST_ROWS:
        yield f"{len(shown) - MOST_ROWS} more changes are not listed here."
        yield ""
    yield from _chart([pair for pair in shown if pair[1].difference and pair[1].difference.ratio])
    if comparison.changes:
        yield from _folded("What differs", _changes(comparison))
    yield " ".join(filter(None, (words.promise(comparison), words.bits(comparison), words.survivors(comparison))))
    for names, which in ((comparison.only_base, "base"), (comparison.only_other, "other")):
        if names:
            yield f"\nOnly in the {which}, not compared: {plain('; '.join(names))}."


def _table(comparison: Comparison, shown: Sequence[tuple[ComparedPoint, ComparedMetric]]) -> Iterator[str]:
    if not shown:
        return
    has_points = any(point.label for point, _ in shown)
    headings = [*(["point"] if has_points else []), "metric", "base", "other", "change"]
    if comparison.tested:
        headings += [f"{100 * comparison.level:g} % interval", "verdict"]
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for point, metric in shown:
        found = metric.difference
        means = (None, None) if found is None else (found.base, found.other)
        cells = [*([plain(point.label)] if has_points else []), plain(metric_title(metric.metric))]
        cells += [words.value(metric, mean) if found else "–" for mean in means]
        cells.append(words.change(metric))
        if comparison.tested:
            verdict = f"**{metric.verdict}**" if metric.verdict in DECIDED else metric.verdict
            cells += [words.interval(metric, comparison.level) or plain(metric.reason), verdict]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _chart(shown: Sequence[tuple[ComparedPoint, ComparedMetric]]) -> Iterator[str]:
    """Yield a chart of changes in per cent, the largest first; nothing where there is none."""
    bars = sorted(shown, key=lambda pair: -abs(_percent(pair[1])))[:MOST_BARS]
    if not bars:
        return
    names = [
        _NAMELESS.sub(" ", f"{metric_title(one.metric)}{f', {point.label}' if point.label else ''}")[:60]
        for point, one in bars
    ]
    yield "```mermaid"
    yield "xychart-beta horizontal"
    yield '  title "Change in per cent of the base"'
    yield "  x-axis [" + ", ".join(f'"{name}"' for name in names) + "]"
    yield '  y-axis "per cent"'
    yield f"  bar [{', '.join(f'{_percent(one):.3g}' for _, one in bars)}]"
    yield "```"
    yield ""


def _percent(metric: ComparedMetric) -> float:
    assert metric.difference is not None and metric.difference.ratio is not None
    return 100 * metric.difference.ratio


def _changes(comparison: Comparison) -> Iterator[str]:
    yield "| | base | other |"
    yield "|---|---|---|"
    for change in comparison.changes:
        yield f"| {plain(change.what)} | {plain(change.base)} | {plain(change.other)} |"


def _folded(summary: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"<details><summary>{summary}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"
    yield ""


def _conditions(findings: Sequence[Finding]) -> Iterator[str]:
    for text in dict.fromkeys(finding.condition.text for finding in findings):
        own = [finding for finding in findings if finding.condition.text == text]
        held = sum(finding.holds for finding in own)
        mark = "❌" if any(finding.fails for finding in own) else "✅"
        idle = ", could not be judged at any point" if any(finding.is_idle for finding in own) else ""
        yield f"- {mark} `{text.replace('`', '')}`: holds {held} of {len(own)} times{idle}"
