"""The flow traces that users bring: read, and judged by the rules of `traffic/README.md` before anything is started."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from fabriclab.formats.trace import awaited
from fabriclab.workload.flows import COLUMNS
from fabriclab.workload.groups import unknown_groups, waiting_loop
from fabriclab.workload.site import Site
from fabriclab.workload.trace_problems import TraceProblems, shown
from fabriclab.workload.trace_rows import UserTrace, read_rows
from fabriclab.workload.trace_rules import rules, whole_number

_KEPT = ("src", "dst", "mode", "connection")
_OF_A_CONNECTION = ("transport", "congestion_control", "dscp", "ip")


def read_traces(traces: Sequence[UserTrace], site: Site, congestion_controls: Sequence[str]) -> pl.DataFrame:
    """Return the flows of users' traces in the order given, with their own numbers.

    Raises TraceError with the first 20 problems.
    """
    problems = TraceProblems()
    read = [_checked_rows(trace, site, congestion_controls, problems) for trace in traces]
    if not any(table is not None for table in read):
        problems.raise_if_any()
    rows = pl.concat(
        [
            table.with_columns(path=pl.lit(trace.path))
            for trace, table in zip(traces, read, strict=True)
            if table is not None
        ]
    )
    _check_numbers(rows, problems)
    problems.raise_if_any()
    _check_connections(rows, problems)
    _check_groups(rows, problems)
    problems.raise_if_any()
    return rows.select("traffic", *(_typed(name, site) for name in COLUMNS))


def _checked_rows(
    trace: UserTrace, site: Site, congestion_controls: Sequence[str], problems: TraceProblems
) -> pl.DataFrame | None:
    """Return the rows with every column, as texts; None after recording that there are none."""
    rows = read_rows(trace, problems)
    if rows is None:
        return None
    absent = [pl.lit(None, dtype=pl.String).alias(name) for name in COLUMNS if name not in rows.columns]
    rows = rows.with_columns(absent)
    for rule in rules(site.hosts, congestion_controls, site.families):
        for row in rows.filter(rule.broken).head(problems.wanted).iter_rows(named=True):
            problems.add(trace.path, row["line"], rule.message(row))
    return rows.select("line", *COLUMNS).with_columns(traffic=pl.lit(trace.traffic, dtype=pl.Categorical()))


def _typed(name: str, site: Site) -> pl.Expr:
    column, dtype = pl.col(name), COLUMNS[name]
    if name in ("src", "dst"):
        return column.cast(site.host_type)
    return column.fill_null("push").cast(dtype) if name == "mode" else column.cast(dtype)


def _check_numbers(rows: pl.DataFrame, problems: TraceProblems) -> None:
    """Check that every flow has a number of its own, over all traces."""
    numbers = rows.select("path", "line", flow=whole_number("flow")).drop_nulls()
    again = numbers.filter(~pl.col("flow").is_first_distinct())
    for path, line, flow in again.head(problems.wanted).iter_rows():
        problems.add(path, line, f"flow: {flow} occurs twice; every flow has its own number")


def _check_connections(rows: pl.DataFrame, problems: TraceProblems) -> None:
    """Check that what a connection is like does not change from flow to flow."""
    kept = rows.filter(pl.col("connection").is_not_null()).with_columns(pl.col("mode").fill_null("push"))
    first = kept.group_by(_KEPT, maintain_order=True).first().select(*_KEPT, *_OF_A_CONNECTION, "line")
    joined = kept.join(first, on=_KEPT, how="left", suffix="_first", maintain_order="left")
    for column in _OF_A_CONNECTION:
        other = joined.filter(pl.col(column).ne_missing(pl.col(f"{column}_first")))
        for row in other.head(problems.wanted).iter_rows(named=True):
            there = f"line {row['line_first']} has {row[f'{column}_first'] or 'none'}"
            message = (
                f"{column}: {row[column] or ''!r} differs within the connection {shown(row['connection'])}: {there}"
            )
            problems.add(row["path"], row["line"], message)


def _waits_for(rows: pl.DataFrame, groups: Collection[str]) -> list[tuple[str, int, str]]:
    """Return the path, the line and the group of each wait for one of the groups."""
    waiting = rows.filter(pl.col("after").is_not_null()) if groups else rows.clear()
    return [
        (path, line, wait.group)
        for path, line, after in waiting.select("path", "line", "after").iter_rows()
        for wait in awaited(after)
        if wait.group in groups
    ]


def _check_groups(rows: pl.DataFrame, problems: TraceProblems) -> None:
    unknown = unknown_groups(rows)
    for path, line, group in _waits_for(rows, unknown)[: problems.wanted]:
        problems.add(path, line, f"after: no flow has the group {shown(group)}")
    loop = waiting_loop(rows)
    if loop:
        path, line, after = _waits_for(rows.filter(pl.col("group").is_in(loop)), loop)[0]
        problems.add(
            path,
            line,
            f"after: {shown(after)} makes this flow's group wait for itself: {' waits for '.join(loop[:8])}",
        )
