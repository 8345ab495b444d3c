"""Coflows: flows that belong together, such as those of a query, complete when the last of them is (Chowdhury and
Stoica, HotNets 2012)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from fabriclab.results.estimates import add_statistics, grouping, is_pool, with_grouping
from fabriclab.results.flows import is_done, waited_for_timeout


def coflow_table(flows: pl.LazyFrame) -> pl.DataFrame:
    """Return one row for each coflow, by the path that its flows' group is a name of, in the order of their starts.

    Level `coflow` is the first two parts of a name (`sort/shuffle` of `sort/shuffle/h3`), or a name that is not
    divided: a round, a query, a phase of a job. Level `job` is the first part of a name that is (`sort`). Columns:

      run                   of a pool only
      group, level, class   class is null where the flows have several
      start_ns, end_ns      first start and last byte read, ns after the epoch
      completion_ns         end - start of a complete coflow, else null
      flows, flows_complete, complete
      waited_for_timeout    whether the retransmission timer of one of its flows ran out; null where none was logged
      deadline_ns, deadline_missed   where all flows are of this very group and have the same deadline;
                            an incomplete coflow missed it
    """
    run = ["run"] if is_pool(flows) else []
    complete = pl.col("flows_complete") == pl.col("flows")
    table = (
        _members(flows, run)
        .group_by(*run, "group", "level")
        .agg(*_coflow_columns())
        .with_columns(
            complete.alias("complete"),
            pl.when(complete).then(pl.col("end_ns") - pl.col("start_ns")).alias("completion_ns"),
        )
    )
    late = ~pl.col("complete") | (pl.col("completion_ns") > pl.col("deadline_ns"))
    columns = [
        *run,
        "group",
        "level",
        "class",
        "start_ns",
        "end_ns",
        "completion_ns",
        "flows",
        "flows_complete",
        "complete",
        "waited_for_timeout",
    ]
    missed = pl.when(pl.col("deadline_ns").is_not_null()).then(late).alias("deadline_missed")
    return (
        table.select(*columns, "deadline_ns", missed)
        .collect(engine="streaming")
        .sort(*run, "start_ns", "group", "level")
    )


def coflow_completion_table(flows: pl.LazyFrame, *, by: Sequence[str] = ("class",)) -> pl.DataFrame:
    """Return completion times of coflows, one row for each group of them, in ascending order of `by`, columns of
    coflow_table.

    Only level `coflow` is counted, unless `by` has `level`. Columns beside `by`: coflows, complete, incomplete,
    with_timeouts (those that waited for one; null where none was logged), deadline_coflows, deadline_misses, runs,
    resampled, and the statistics of `fabriclab.results.completion.completion_table` in nanoseconds.
    """
    coflows = coflow_table(flows).lazy()
    if "level" not in by:
        coflows = coflows.filter(pl.col("level") == "coflow")
    rows = with_grouping(coflows, by)
    counts = rows.group_by(grouping(by)).agg(
        pl.len().cast(pl.Int64).alias("coflows"),
        pl.col("complete").sum().cast(pl.Int64),
        (~pl.col("complete")).sum().cast(pl.Int64).alias("incomplete"),
        count_known("waited_for_timeout").alias("with_timeouts"),
        pl.col("deadline_ns").count().cast(pl.Int64).alias("deadline_coflows"),
        pl.col("deadline_missed").sum().cast(pl.Int64).alias("deadline_misses"),
        pl.col("run").n_unique().cast(pl.Int64).alias("runs"),
    )
    return add_statistics(counts.collect(), rows, by, "completion_ns", pooled=is_pool(flows))


def count_known(column: str) -> pl.Expr:
    """Return how often a column is true; null where it is null in every row: nobody knows."""
    values = pl.col(column)
    return pl.when(values.count() > 0).then(values.sum().cast(pl.Int64))


def _members(flows: pl.LazyFrame, run: list[str]) -> pl.LazyFrame:
    """Return a row for each flow and coflow that it belongs to: `group` is the coflow's name then,
    `whole` the flow's own."""
    finished = pl.col("finished") if "finished" in flows.collect_schema().names() else is_done()
    columns = (*run, "group", "class", "start_ns", "end_ns", "recovery", "deadline_ns")
    whole, parts = pl.col("group").alias("whole"), pl.col("group").str.splitn("/", 3).struct
    rows = flows.filter(pl.col("group").is_not_null()).select(*columns, finished.alias("finished"), whole)
    first, second = parts.field("field_0"), parts.field("field_1")
    coflows = rows.with_columns(
        pl.concat_str(first, second, separator="/", ignore_nulls=True).alias("group"), level=pl.lit("coflow")
    )
    jobs = rows.filter(second.is_not_null()).with_columns(first.alias("group"), level=pl.lit("job"))
    return pl.concat([coflows, jobs])


def _coflow_columns() -> Iterator[pl.Expr]:
    yield pl.when(pl.col("class").n_unique() == 1).then(pl.col("class").first()).alias("class")
    yield pl.col("start_ns").min()
    yield pl.col("end_ns").max()
    yield pl.len().cast(pl.Int64).alias("flows")
    yield pl.col("finished").sum().cast(pl.Int64).alias("flows_complete")
    yield waited_for_timeout().max().alias("waited_for_timeout")
    alike = (pl.col("deadline_ns").n_unique() == 1) & (pl.col("whole") == pl.col("group")).all()
    yield pl.when(alike).then(pl.col("deadline_ns").first()).alias("deadline_ns")
