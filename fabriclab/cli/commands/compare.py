"""`fabriclab compare`: what two sides differ in, as text, JSON, JUnit, Markdown or a page."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

from fabriclab.api.comparison import Compared
from fabriclab.api.comparison import compare as compared
from fabriclab.cli.arguments.options import ComparisonFormat
from fabriclab.cli.arguments.runs import refuse_no_run
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import FAILED, OK
from fabriclab.cli.host.waiting import waiting
from fabriclab.cli.text.junit import JunitCase, junit_xml
from fabriclab.comparison import words
from fabriclab.comparison.conditions import Finding
from fabriclab.comparison.records import ComparedMetric, ComparedPoint, Comparison
from fabriclab.files import write_text
from fabriclab.report.measured.quantities import metric_title

_STYLES = {"worse": "red", "better": "green", "changed": "yellow", "same": "dim", "not measured": "dim"}
_LOG_WIDTH = 140


def compare(
    base: Path,
    others: Sequence[Path],
    metrics: Sequence[str],
    fail_on: Sequence[str],
    level: float,
    *,
    every: bool,
    form: ComparisonFormat,
    out: Path | None,
) -> int:
    """Compare, write what was asked for; returns the exit status."""
    for path in (base, *others):
        refuse_no_run(path)
    with waiting("reading the results"):
        found = compared(base, *others, metrics=metrics, level=level, fail_on=fail_on)
    if form == "html":
        page = found.write_page(out or Path("compare.html"))
        _say(found)
        print(f"page: {page}")
    elif form == "text":
        _write_text(found, every, out)
    else:
        text = found.to_json() if form == "json" else found.to_markdown() if form == "markdown" else _junit(found)
        if out is None:
            sys.stdout.write(text)
        else:
            write_text(out, text)
    return FAILED if found.fails else OK


def _write_text(found: Compared, every: bool, out: Path | None) -> None:
    console = Console() if sys.stdout.isatty() and out is None else Console(width=_LOG_WIDTH)
    if out is None:
        _show(console, found, every)
        return
    with console.capture() as captured:
        _show(console, found, every)
    write_text(out, captured.get())


def _say(found: Compared) -> None:
    for comparison in found.comparisons:
        print(f"{comparison.other} against {comparison.base}: {words.tally(comparison)}")


def _show(console: Console, found: Compared, every: bool) -> None:
    for number, comparison in enumerate(found.comparisons):
        if number:
            console.print()
        for text in _sentences(comparison):
            console.print(text, highlight=False, soft_wrap=True, markup=False)
        shown = list(_lines(comparison, every))
        if shown:
            console.print(_table(comparison, shown))
        if not every:
            _show_hidden(console, comparison)
        _show_changes(console, comparison)
        sentences = (
            f"{words.tally(comparison)}.",
            words.promise(comparison),
            words.bits(comparison),
            words.survivors(comparison),
        )
        console.print(" ".join(filter(None, sentences)), highlight=False)
        if step := words.next_step(comparison):
            console.print(step, highlight=False, soft_wrap=True, markup=False)
    _show_findings(console, found.findings, every)


def _show_hidden(console: Console, comparison: Comparison) -> None:
    every = (metric for point in comparison.points for metric in point.metrics)
    if text := words.hidden([metric for metric in every if not comparison.shows(metric)], comparison):
        console.print(f"others: {text}; --all shows them", style="dim", highlight=False)


def _show_findings(console: Console, findings: Sequence[Finding], every: bool) -> None:
    """Show where conditions hold, and of the others how many there are."""
    for text in dict.fromkeys(finding.condition.text for finding in findings):
        own = [finding for finding in findings if finding.condition.text == text]
        for finding in own:
            if every or finding.holds or not finding.is_told:
                console.print(_told(finding), style=_style(finding), highlight=False, soft_wrap=True, markup=False)
        held = sum(finding.holds for finding in own)
        style = "red" if any(finding.fails for finding in own) else "green"
        console.print(f"{text}: holds {held} of {len(own)} times", style=style, highlight=False, markup=False)
        if any(finding.is_idle for finding in own):
            console.print(
                f"{text}: could not be judged at any point, so it has not passed", style=style, highlight=False
            )


def _sentences(comparison: Comparison) -> Iterator[str]:
    yield f"base   {comparison.base}"
    yield f"other  {comparison.other}"
    for names, which in ((comparison.only_base, "base"), (comparison.only_other, "other")):
        if names:
            yield f"only in the {which}, not compared: {'; '.join(names)}"
    if not comparison.points:
        yield "no two points of the two sides have the same settings, so there is nothing to compare"


def _show_changes(console: Console, comparison: Comparison) -> None:
    if not comparison.changes:
        console.print("settings, plan, seeds, versions and artefacts are the same", style="dim")
        return
    table = Table(box=None, pad_edge=False, title="what differs", title_justify="left", title_style="bold")
    for heading in ("", "base", "other"):
        table.add_column(heading, overflow="fold")
    for change in comparison.changes:
        table.add_row(change.what, change.base, change.other)
    console.print(table, highlight=False, markup=False)


def _lines(comparison: Comparison, every: bool) -> Iterator[tuple[ComparedPoint, ComparedMetric]]:
    for point in comparison.points:
        for metric in point.metrics:
            if every or comparison.shows(metric):
                yield point, metric


def _table(comparison: Comparison, shown: Sequence[tuple[ComparedPoint, ComparedMetric]]) -> Table:
    has_points = any(point.label for point, _ in shown)
    table = Table(box=None, pad_edge=False)
    if has_points:
        table.add_column("point", overflow="fold")
    table.add_column("metric", overflow="fold")
    has_verdicts = comparison.tested > 0 or any(metric.verdict != "undecided" for _, metric in shown)
    headings = ("base", "other", "change", *([f"{100 * comparison.level:g} % interval"] if has_verdicts else []))
    for heading in headings:
        table.add_column(heading, justify="right", overflow="fold")
    if has_verdicts:
        table.add_column("verdict")
    last = ""
    for point, metric in shown:
        found = metric.difference
        cells = [
            metric_title(metric.metric),
            *("–" if found is None else words.value(metric, mean) for mean in _means(metric)),
            words.change(metric),
        ]
        verdict = [
            words.interval(metric, comparison.level) or metric.reason,
            f"[{_STYLES.get(metric.verdict, 'default')}]{metric.verdict}[/]",
        ]
        point_cells = [point.label if point.label != last else ""] if has_points else []
        table.add_row(*point_cells, *cells, *(verdict if has_verdicts else []))
        last = point.label
    return table


def _means(metric: ComparedMetric) -> tuple[float | None, float | None]:
    return (None, None) if metric.difference is None else (metric.difference.base, metric.difference.other)


def _told(finding: Finding) -> str:
    outcome = "holds" if finding.holds else "does not hold" if finding.is_told else "cannot be judged"
    where = ", ".join(filter(None, (finding.point, finding.metric)))
    return f"{finding.condition.text}: {outcome}{f' ({where})' if where else ''}: {finding.told}"


def _style(finding: Finding) -> str:
    return "red" if finding.holds else "green" if finding.is_told else "yellow"


def _junit(found: Compared) -> str:
    """Return a case for each condition at each point; without conditions one for each metric, failed where worse."""
    cases = [
        JunitCase(
            group=finding.condition.text,
            name=", ".join(filter(None, (finding.point, finding.metric))) or "flows",
            failure=finding.told if finding.fails else None,
            skipped=None if finding.is_told or finding.fails else finding.told,
        )
        for finding in found.findings
    ]
    if not found.findings:
        cases = [
            JunitCase(
                group=f"compare.{metric.metric}",
                name=point.label or comparison.other,
                failure=f"{words.change(metric)} ({words.interval(metric, comparison.level)})"
                if metric.verdict == "worse"
                else None,
                skipped=metric.reason if metric.verdict == "not measured" else None,
            )
            for comparison in found.comparisons
            for point in comparison.points
            for metric in point.metrics
        ]
    return '<?xml version="1.0" encoding="utf-8"?>\n' + junit_xml("fabriclab compare", cases)
