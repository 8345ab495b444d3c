"""The share of flows, queries or other coflows that missed their deadline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl
from matplotlib.axes import Axes

from fabriclab.report.drawing.exhibits import Picture, titled
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.drawing.traffic_classes import group_noun, plural
from fabriclab.report.drawing.with_matplotlib import drawing, figure_svg, new_figure
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


def deadlines_picture(pools: Sequence[PooledRuns], name: str, traffic: Sequence[str] = ()) -> Picture | None:
    """Return a bar for each pool and class that has deadlines; None without any."""
    bars = [missed for pool in pools if pool.runs for missed in missed_deadlines(pool, traffic)]
    if not bars:
        return None
    panels = {
        (bar.traffic, bar.noun): [each for each in bars if (each.traffic, each.noun) == (bar.traffic, bar.noun)]
        for bar in bars
    }
    with drawing():
        figure = new_figure(0.5 + sum(0.45 + 0.27 * len(members) for members in panels.values()))
        heights = [1.2 + len(members) for members in panels.values()]
        grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights, sharex=True)[:, 0]
        most = max(bar.share for bar in bars)
        for axes, ((title, noun), members) in zip(grid, panels.items(), strict=True):
            _draw_bars(axes, members, f"{title}: {plural(noun)}")
            axes.set_xlim(0, 130 * most if most else 1)
        grid[-1].set_xlabel("Deadline missed (%)")
        caption = " ".join(_describe(noun, title, members) for (title, noun), members in panels.items())
        return Picture(titled("Deadlines missed", traffic), caption, figure_svg(figure, name, caption))


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


def _draw_bars(axes: Axes, members: Sequence[Missed], title: str) -> None:
    places = list(range(len(members)))[::-1]
    axes.barh(places, [100 * bar.share for bar in members], color=[bar.pool.color for bar in members], height=0.62)
    for place, bar in zip(places, members, strict=True):
        text = f"{format_share(bar.share)}: {bar.misses:,} of {bar.total:,}"
        axes.annotate(
            text, (100 * bar.share, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5
        )
    axes.set_yticks(places, [bar.pool.label for bar in members])
    axes.set_ylim(-0.6, len(members) - 0.4)
    axes.set_title(title)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.grid(True, axis="x")


def _describe(noun: str, title: str, members: Sequence[Missed]) -> str:
    deadlines = sorted({deadline for bar in members for deadline in bar.deadlines_ns})
    low, high = format_metric("_ns", deadlines[0]), format_metric("_ns", deadlines[-1])
    within = low if low == high else f"{low} to {high}"
    return f"{title.capitalize()}: each {noun} is to be complete within {within}; an incomplete one missed it."
