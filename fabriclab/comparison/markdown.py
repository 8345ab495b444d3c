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
_HALF = 8
"""Characters of a bar to either side of the base."""
_SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+!|@&~$:]")


def to_markdown(comparisons: Sequence[Comparison], findings: Sequence[Finding] = ()) -> str:
    """Return GitHub-flavoured Markdown, each change in per cent with a bar."""
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
    headings = [*(["point"] if has_points else []), "metric", "base", "other", "change", ""]
    reach = min(1.0, max((abs(one.difference.ratio or 0) for _, one in shown if one.difference), default=0))
    if comparison.tested:
        headings += [f"{100 * comparison.level:g} % interval", "verdict"]
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for point, metric in shown:
        found = metric.difference
        means = (None, None) if found is None else (found.base, found.other)
        cells = [*([plain(point.label)] if has_points else []), plain(metric_title(metric.metric))]
        cells += [words.value(metric, mean) if found else "–" for mean in means]
        cells += [words.change(metric), _bar(metric, reach)]
        if comparison.tested:
            verdict = f"**{metric.verdict}**" if metric.verdict in DECIDED else metric.verdict
            cells += [words.interval(metric, comparison.level) or plain(metric.reason), verdict]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _bar(metric: ComparedMetric, reach: float) -> str:
    """Return a change as a bar of characters about the base's line; empty where it is 0 or has no per cent.

    `reach` is the part of the base that half of the width stands for. A chart of Mermaid's would begin each bar at the
    smallest change, and not at none.
    """
    ratio = metric.difference.ratio if metric.difference is not None else None
    if not ratio or not reach:
        return ""
    cells = min(_HALF, max(1, round(_HALF * abs(ratio) / reach)))
    left, right = (cells, 0) if ratio < 0 else (0, cells)
    return f"`{'█' * left:>{_HALF}}|{'█' * right:<{_HALF}}`".replace(" ", "\u00a0")


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
