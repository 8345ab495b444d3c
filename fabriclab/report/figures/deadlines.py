"""The share of flows, queries or other coflows that missed their deadline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from fabriclab.report.drawing.chart_parts import rows_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartBars, ChartPanel, ChartTable, ChartText
from fabriclab.report.drawing.exhibits import Picture, titled
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.drawing.style import MUTED
from fabriclab.report.drawing.traffic_classes import group_noun, plural
from fabriclab.report.measured.quantities import format_metric, format_share
from fabriclab.results.completion import coflow_table


@dataclass(frozen=True)
class Missed:
    """Deadlines of one class in one pool; `noun` is what has the deadline."""

    pool: PooledRuns
    traffic: str
    noun: str
    misses: int
    total: int
    deadlines_ns: tuple[int, ...]

    @property
    def share(self) -> float:
        """Return the share that missed its deadline, from 0 to 1, of those that have one; incomplete ones missed it."""
        return self.misses / self.total


def deadlines_picture(pools: Sequence[PooledRuns], traffic: Sequence[str] = ()) -> Picture | None:
    """Return a bar for each pool and class that has deadlines; None without any."""
    bars = [missed for pool in pools if pool.runs for missed in missed_deadlines(pool, traffic)]
    if not bars:
        return None
    panels = {
        (bar.traffic, bar.noun): [each for each in bars if (each.traffic, each.noun) == (bar.traffic, bar.noun)]
        for bar in bars
    }
    most = max(bar.share for bar in bars)
    axis = ChartAxis("Deadline missed", "%", low=0, high=130 * most if most else 1, grid=True)
    drawn = tuple(_panel(axis, members, f"{title}: {plural(noun)}") for (title, noun), members in panels.items())
    rows = [[bar.traffic, bar.pool.label, f"{bar.misses:,}", f"{bar.total:,}", format_share(bar.share)] for bar in bars]
    numbers = ChartTable(["Class", "", "Missed", "Of", "Share"], rows, 2)
    height = 0.5 + sum(0.45 + 0.27 * len(members) for members in panels.values())
    caption = " ".join(_describe(noun, title, members) for (title, noun), members in panels.items())
    chart = Chart(drawn, numbers=numbers, height_in=height)
    return Picture(titled("Deadlines missed", traffic), caption, chart)


def missed_deadlines(pool: PooledRuns, traffic: Sequence[str] = ()) -> Iterator[Missed]:
    """Yield the deadlines of each class: of coflows where a deadline is that of a whole group,
    else of the single flows."""
    coflows = coflow_table(pool.flows).filter(pl.col("deadline_ns").is_not_null() & (pl.col("flows") > 1))
    of_groups = set(coflows["class"].drop_nulls())
    sized = (
        pool.flows.filter(pl.col("deadline_ns").is_not_null())
        .select("class", "deadline_ns", "deadline_missed")
        .collect()
    )
    flows = sized.filter(~pl.col("class").is_in(list(of_groups)))
    for rows, grouped in ((coflows, True), (flows, False)):
        for (name,), members in (
            rows.drop_nulls("class").partition_by("class", as_dict=True, maintain_order=True).items()
        ):
            if not traffic or name in traffic:
                deadlines = tuple(members["deadline_ns"].unique().sort())
                noun = group_noun(pool.runs[0], str(name)) if grouped else "flow"
                yield Missed(pool, str(name), noun, int(members["deadline_missed"].sum()), members.height, deadlines)


def _panel(axis: ChartAxis, members: Sequence[Missed], title: str) -> ChartPanel:
    ends = [100 * bar.share for bar in members]
    bars = ChartBars(
        "", MUTED, range(len(members)), [0.0] * len(members), ends, colors=tuple(bar.pool.color for bar in members)
    )
    texts = tuple(
        ChartText(f"{format_share(bar.share)}: {bar.misses:,} of {bar.total:,}", end, place)
        for place, (bar, end) in enumerate(zip(members, ends, strict=True))
    )
    vertical = rows_axis([bar.pool.label for bar in members])
    return ChartPanel(axis, vertical, title=title, bars=(bars,), texts=texts, height=len(members))


def _describe(noun: str, title: str, members: Sequence[Missed]) -> str:
    deadlines = sorted({deadline for bar in members for deadline in bar.deadlines_ns})
    low, high = format_metric("_ns", deadlines[0]), format_metric("_ns", deadlines[-1])
    within = low if low == high else f"{low} to {high}"
    return (
        f"{title.capitalize()}: each {noun} should be complete within {within}; an incomplete {noun} missed its "
        "deadline."
    )
