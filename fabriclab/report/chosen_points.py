"""Which points of a sweep tell its story: figures over time have no room for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriclab.report.drawing.curves import setting_noun
from fabriclab.report.drawing.pools import PooledRuns, with_looks
from fabriclab.report.drawing.setting_axis import SettingAxis
from fabriclab.report.drawing.traffic_classes import headline_metric
from fabriclab.report.figures.metric import Line, collapse_of, metric_lines
from fabriclab.report.measured.quantities import setting_number

MOST_POINTS = 6
"""Points that are drawn side by side."""
FEW_POINTS = 4
"""So many are all drawn, even where a few along a number say as much."""


@dataclass(frozen=True)
class TellingPoints:
    """The points that are drawn, with looks that tell them apart; `choice` says how they were chosen,
    empty where they are all."""

    pools: list[PooledRuns]
    choice: str = ""


def telling_points(pools: Sequence[PooledRuns], varied: Sequence[str]) -> TellingPoints:
    """Return up to MOST_POINTS pools with results that show what happens.

    With a numeric parameter: the last point before the first collapse of goodput and the first one in it, and the
    points with the same number of the line that does best there; without a collapse, both ends of the first line and of
    the best other one. Where goodput is only what was offered, the points of all lines two thirds up, such as at a high
    load. Otherwise the first points.
    """
    present = [pool for pool in pools if pool.runs]
    first = TellingPoints(with_looks(present[:MOST_POINTS]), "the first points" if len(present) > MOST_POINTS else "")
    x = numeric_parameter(pools, varied)
    if x is None or len(present) <= FEW_POINTS:
        return first
    others = [name for name in varied if name != x]
    lines = [line for line in metric_lines(pools, "goodput_bps", SettingAxis.of(x, pools), others) if len(line.x) > 1]
    if not lines:
        return first
    is_offered = headline_metric(present[0].runs) != "goodput_bps"
    chosen = _high_pools(lines, x) if is_offered else _collapsing_pools(lines, x)
    return TellingPoints(with_looks(chosen.pools), chosen.choice)


def choice_note(pools: Sequence[PooledRuns], varied: Sequence[str]) -> str:
    """Return a sentence on the points that figures over time show, and on how to see others;
    empty where they show all."""
    telling = telling_points(pools, varied)
    if not telling.choice:
        return ""
    count = sum(bool(pool.runs) for pool in pools)
    labels = "; ".join(pool.label for pool in telling.pools)
    return (
        f"Figures that show points one by one show {len(telling.pools)} of the {count} points, {telling.choice}: "
        f"{labels}. To see others, write where: {{parameter: [values]}} in a figure of report.figures, or name their "
        "runs: fabriclab report RUN RUN."
    )


def numeric_parameter(pools: Sequence[PooledRuns], varied: Sequence[str]) -> str | None:
    """Return the varied parameter that is a number with the most values: a figure's natural x axis.

    None without any.
    """
    counts = {
        name: len({pool.parameters.get(name) for pool in pools})
        for name in varied
        if all(setting_number(pool.parameters.get(name)) is not None for pool in pools)
    }
    return max(counts, key=lambda name: counts[name]) if counts else None


def _high_pools(lines: Sequence[Line], x: str) -> TellingPoints:
    pools = [line.pools[2 * (len(line.pools) - 1) // 3] for line in lines[:MOST_POINTS]]
    return TellingPoints(pools, f"of each line the point at two thirds of its values of {setting_noun(x)}")


def _collapsing_pools(lines: Sequence[Line], x: str) -> TellingPoints:
    """Return points before and in a collapse, in two columns: a row for each line."""
    fallen = next((line for line in lines if collapse_of(line) is not None), None)
    choice = (
        f"the points before and after goodput collapses with {setting_noun(x)}"
        if fallen
        else f"the points at both ends of {setting_noun(x)}"
    )
    line = fallen or lines[0]
    before, after = collapse_of(line) or (line.pools[0], line.pools[-1])
    at = setting_number(after.parameters[x])
    others = [(other.y[other.x.index(at)], other) for other in lines if other is not line and at in other.x]
    if not others:
        return TellingPoints([before, after], choice)
    best = max(others, key=lambda pair: pair[0])[1]
    beside = [
        pool for pool in best.pools if setting_number(pool.parameters[x]) in (setting_number(before.parameters[x]), at)
    ]
    return TellingPoints([before, after, *beside], f"{choice}, of {line.label} and {best.label}")
