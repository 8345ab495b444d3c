"""Tables of completion times: by class and size, by how losses were recovered, and of coflows such as queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from fabriclab.report.drawing.exhibits import Cell, DataTable, RowGroup
from fabriclab.report.drawing.pools import PooledRuns, format_interval, format_measure, measure_of
from fabriclab.report.drawing.traffic_classes import cap_notes, group_noun, plural, sized_classes
from fabriclab.report.measured.quantities import format_share
from fabriclab.results.completion import DEFAULT_BINS, coflow_completion_table, completion_table
from fabriclab.results.flows import RECOVERIES

STATISTICS = {"mean": "Mean", "median": "Median", "p95": "95th", "p99": "99th", "p999": "99.9th"}
_DIGITS = 3
_HOW_RECOVERED = {
    "none": "nothing lost",
    "fast retransmit": "fast retransmit",
    "timeout": "one timeout",
    "several timeouts": "several timeouts",
}


def completion_tables(
    pools: Sequence[PooledRuns], traffic: Sequence[str] = (), bins: Sequence[int] = DEFAULT_BINS
) -> list[DataTable]:
    """Return the tables that have rows: of flows, of how they recovered from losses, of coflows.

    `traffic` names classes; empty: all.
    """
    present = [pool for pool in pools if pool.runs]
    classes = [name for name in sized_classes(present) if not traffic or name in traffic]
    tables = [_flow_table(present, classes, bins), _recovery_table(present, classes), _coflow_table(present, traffic)]
    return [table for table in tables if table.row_count]


def _flow_table(pools: Sequence[PooledRuns], classes: Sequence[str], bins: Sequence[int]) -> DataTable:
    groups = []
    for pool in pools:
        rows = _by_class(completion_table(_of(pool, classes), bins=bins), classes)
        groups.append(RowGroup(_heading(pool, pools), [_flow_row(row) for row in rows]))
    headings = ["Traffic", "Size", "Flows", "Incomplete", *STATISTICS.values(), "Timeout"]
    caption = (
        f"{_explain_intervals(pools)} The column Timeout is the share of flows that waited for a retransmission "
        "timeout."
    )
    caption = " ".join([caption, *cap_notes(run for pool in pools for run in pool.runs[:1])])
    return DataTable("Completion times of flows", caption, headings, [False, False, *[True] * 8], groups)


def _flow_row(row: dict[str, Any]) -> list[Cell]:
    known = sum(row[recovery] for recovery in RECOVERIES)
    waited = row["timeout"] + row["several timeouts"]
    counts = [Cell(f"{row['flows']:,}"), Cell(f"{row['incomplete']:,}")]
    return [
        Cell(row["class"]),
        Cell(row["size_bin"]),
        *counts,
        *_statistics(row),
        Cell(format_share(waited / known) if known else "–"),
    ]


def _recovery_table(pools: Sequence[PooledRuns], classes: Sequence[str]) -> DataTable:
    """Return the table; without rows where nothing was lost, or nobody counted."""
    groups, lossy = [], False
    for pool in pools:
        rows = _by_class(completion_table(_of(pool, classes), by=("class", "recovery")), classes)
        totals = {name: sum(row["flows"] for row in rows if row["class"] == name) for name in classes}
        order = {recovery: place for place, recovery in enumerate(RECOVERIES)}
        rows.sort(key=lambda row: (classes.index(row["class"]), order.get(row["recovery"], len(order))))
        shown = [_recovery_row(row, totals[row["class"]]) for row in rows]
        groups.append(RowGroup(_heading(pool, pools), shown))
        lossy = lossy or any(row["recovery"] in RECOVERIES[1:] for row in rows)
    headings = ["Traffic", "Recovered by", "Flows", "Share", "Incomplete", *STATISTICS.values()]
    caption = (
        "Completion times are grouped by how the sender recovered from losses: without retransmissions, with "
        "retransmissions but without a timeout, with one retransmission timeout, or with several. Such groups "
        "explain clusters of completion times."
    )
    numbers = [False, False, *[True] * 8]
    return DataTable("How flows recovered from losses", caption, headings, numbers, groups if lossy else [])


def _recovery_row(row: dict[str, Any], total: int) -> list[Cell]:
    how = _HOW_RECOVERED.get(row["recovery"], "not known")
    counts = [Cell(f"{row['flows']:,}"), Cell(format_share(row["flows"] / total)), Cell(f"{row['incomplete']:,}")]
    return [Cell(row["class"]), Cell(how), *counts, *(Cell(cell.text) for cell in _statistics(row))]


def _coflow_table(pools: Sequence[PooledRuns], traffic: Sequence[str]) -> DataTable:
    groups = []
    for pool in pools:
        rows = coflow_completion_table(_grouped_flows(pool), by=("level", "class")).iter_rows(named=True)
        shown = [row for row in rows if (not traffic or row["class"] in traffic) and _is_meant(row, pool)]
        groups.append(RowGroup(_heading(pool, pools), [_coflow_row(row, pool) for row in shown]))
    headings = ["Traffic", "What", "Count", "Incomplete", *STATISTICS.values()]
    caption = (
        "The completion time of a group is the time from the first start of its flows to the last byte read. "
        f"{_explain_intervals(pools)}"
    )
    return DataTable(
        "Completion times of queries and other coflows",
        caption,
        headings,
        [False, False, *[True] * 7],
        [g for g in groups if g.rows],
    )


def _is_meant(row: dict[str, Any], pool: PooledRuns) -> bool:
    """Return whether anybody wants to know: the rounds of a traffic, or its queries, are not one job."""
    return row["level"] != "job" or group_noun(pool.runs[0], str(row["class"])) not in ("round", "query")


def _coflow_row(row: dict[str, Any], pool: PooledRuns) -> list[Cell]:
    noun = "job" if row["level"] == "job" else group_noun(pool.runs[0], str(row["class"]))
    counts = [Cell(f"{row['coflows']:,}"), Cell(f"{row['incomplete']:,}")]
    return [Cell(row["class"] or "several"), Cell(plural(noun)), *counts, *_statistics(row)]


def _grouped_flows(pool: PooledRuns) -> pl.LazyFrame:
    """Return the flows of groups that have more than one: a group of one is that flow."""
    run = ["run"] if len(pool.runs) > 1 else []
    members = pool.flows.filter(pl.col("group").is_not_null())
    several = members.group_by(*run, "group").agg(pl.len().alias("members")).filter(pl.col("members") > 1)
    return members.join(several, on=[*run, "group"], how="semi")


def _statistics(row: dict[str, Any]) -> Iterator[Cell]:
    for name in STATISTICS:
        measure = measure_of(row, name)
        yield Cell(format_measure("_ns", measure, _DIGITS), format_interval("_ns", measure, _DIGITS))


def _of(pool: PooledRuns, classes: Sequence[str]) -> pl.LazyFrame:
    return pool.flows.filter(pl.col("class").is_in(list(classes)))


def _by_class(table: pl.DataFrame, classes: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows in the order of the classes; what it is within a class stays."""
    return sorted(table.iter_rows(named=True), key=lambda row: classes.index(row["class"]))


def _heading(pool: PooledRuns, pools: Sequence[PooledRuns]) -> str:
    if len(pools) == 1:
        return ""
    return pool.label if len(pool.runs) == 1 else f"{pool.label}, {len(pool.runs)} seeds"


def _explain_intervals(pools: Sequence[PooledRuns]) -> str:
    what = (
        "runs of all seeds"
        if any(len(pool.runs) > 1 for pool in pools)
        else "flows of the only run, so they say nothing about other seeds"
    )
    return (
        f"Small numbers are 95 % bootstrap intervals, made by resampling the {what}. ≥ marks a lower bound, which "
        "incomplete flows could raise."
    )
