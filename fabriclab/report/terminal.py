"""The summary of a run or of a sweep as a table in the terminal."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Literal

from rich import box
from rich.table import Table
from rich.text import Text

from fabriclab.report.drawing.pools import PooledRuns, format_measure, pool_of_run, pools_of, varied_settings
from fabriclab.report.drawing.traffic_classes import cap_notes, timed_classes
from fabriclab.report.tables.checks import CheckTally, tally_of
from fabriclab.report.tables.points import PointTable, key_figures, point_table
from fabriclab.report.warnings import warnings_of
from fabriclab.results import Results, Sweep, SweepPoint

_LEFT_OUT = (
    "fct_median_ns",
    "srtt_mean_us",
    "queue_marks",
    "queue_max_bytes",
    "fct_p99_ns",
    "drops",
    "queue_drops",
    "queue_mean_bytes",
)
"""What a narrow terminal does without, in this order."""


_MOST_ROWS = 24
"""A longer table of completion times by class is in the report alone."""
_CLASS_COLUMNS = (
    ("flows", "flows"),
    ("flows_incomplete", "incomplete"),
    ("fct_mean_ns", "mean"),
    ("fct_median_ns", "median"),
    ("fct_p99_ns", "99th"),
    ("flows_with_timeouts", "with\ntimeouts"),
)


def summary_table(subject: Results | Sweep, width: int | None = None) -> Table:
    """Return a rich table: of a run its key figures, of a sweep one row for the points that differ only in their seed.

    The caption holds warnings and the outcome of checks. Columns of a sweep that don't fit in `width` characters (by
    default the terminal's) are left out, the least telling first.
    """
    if isinstance(subject, Results):
        return _run_table(subject)
    return _sweep_table(subject, width if width is not None else shutil.get_terminal_size().columns)


def _run_table(results: Results) -> Table:
    table = Table(
        title=results.title, title_justify="left", box=box.SIMPLE_HEAD, show_header=False, caption_justify="left"
    )
    table.add_column("metric")
    table.add_column("value", justify="right", style="bold", no_wrap=True)
    table.add_column("context", style="dim")
    for title, value, context in key_figures(results):
        table.add_row(title, value, context)
    point = SweepPoint(results.settings, 0, results.status, results)
    table.caption = _caption([*warnings_of([point]), *cap_notes([results])], tally_of([results]))
    return table


def class_table(subject: Results | Sweep) -> Table | None:
    """Return completion times by class as a rich table, of a sweep for each pool;
    None where fewer than two classes have any."""
    pools = (
        [pool_of_run(subject)] if isinstance(subject, Results) else [pool for pool in pools_of(subject) if pool.runs]
    )
    classes = timed_classes([run for pool in pools for run in pool.runs])
    if len(classes) < 2 or len(pools) * len(classes) > _MOST_ROWS:
        return None
    several, repeated = len(pools) > 1, any(len(pool.runs) > 1 for pool in pools)
    table = Table(title="Flow completion times", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    for heading in ("", "traffic") if several else ("traffic",):
        table.add_column(heading, no_wrap=True, vertical="bottom")
    for metric, heading in _CLASS_COLUMNS:
        counted = repeated and metric.startswith("flows")
        table.add_column(f"{heading}\na run" if counted else heading, justify="right", no_wrap=True, vertical="bottom")
    for pool in pools:
        for number, name in enumerate(classes):
            label = [pool.label if number == 0 else ""] if several else []
            cells = [(metric, pool.measure(f"{metric}[{name}]")) for metric, _ in _CLASS_COLUMNS]
            table.add_row(*label, name, *(format_measure(metric, measure, 3) for metric, measure in cells))
    return table


def _sweep_table(sweep: Sweep, width: int) -> Table:
    pools = pools_of(sweep)
    content = _fitting_table(pools, varied_settings(sweep), width)
    table = Table(title=sweep.title, title_justify="left", box=box.SIMPLE_HEAD, caption_justify="left", padding=0)
    for heading, is_number in zip(content.headings, content.numbers, strict=True):
        justify: Literal["right", "left"] = "right" if is_number else "left"
        table.add_column("\n".join(heading.split()), justify=justify, no_wrap=True, vertical="bottom")
    for is_whole, row in zip(content.whole, content.rows, strict=True):
        table.add_row(*(cell.text for cell in row), style=None if is_whole else "yellow")
    notes = [*cap_notes(run for pool in pools for run in pool.runs[:1]), *([content.scope] if content.scope else [])]
    table.caption = _caption([*warnings_of(sweep.points), *notes], tally_of(sweep.runs))
    return table


def _fitting_table(pools: Sequence[PooledRuns], varied: Sequence[str], width: int) -> PointTable:
    for count in range(len(_LEFT_OUT) + 1):
        content = point_table(pools, varied, leave_out=_LEFT_OUT[:count], digits=3, by_class=False)
        words = [max(map(len, heading.split())) for heading in content.headings]
        cells = [max((len(row[column].text) for row in content.rows), default=0) for column in range(len(words))]
        if sum(map(max, words, cells)) + len(words) + 1 <= width:  # a space beside every column
            break
    return content


def _caption(warnings: list[str], checks: CheckTally | None) -> Text | None:
    lines = [Text(warning, style="yellow") for warning in warnings]
    if checks is not None:
        style = "green" if checks.holds else "red" if checks.asked else "yellow"
        lines.append(Text(f"checks: {checks.text()}", style=style))
    return Text("\n").join(lines) if lines else None
