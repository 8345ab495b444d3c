"""Every point of a sweep with all its numbers, folded away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.pools import PooledRuns, format_interval, format_measure
from fabriclab.report.figures.queue import queue_picture
from fabriclab.report.measured.quantities import metric_title
from fabriclab.report.measured.samples import default_place
from fabriclab.report.tables.points import metric_rows

MOST_DETAILED = 24
"""A sweep with more points shows each point's numbers, without its picture: the page would be too large to open."""


@dataclass(frozen=True)
class Detail:
    """One point, or what several seeds of it have in common."""

    label: str
    headline: str
    metrics: list[tuple[str, str]]
    picture: Picture | None


def details_of(pools: Sequence[PooledRuns]) -> list[Detail]:
    """Return a detail for each pool, those without results included."""
    with_pictures = len(pools) <= MOST_DETAILED
    # The same place in all points: they are to be compared.
    place = next((default_place(pool.runs[0]) for pool in pools if pool.runs), (None, None))
    return [_detail(pool, place, with_picture=with_pictures) for pool in pools]


def _detail(pool: PooledRuns, place: tuple[str | None, int | None], *, with_picture: bool) -> Detail:
    if not pool.runs:
        return Detail(pool.label, pool.points[0].message or pool.points[0].status, [], None)
    is_drawn = with_picture and len(pool.points) == 1
    picture = queue_picture(pool.curve, *place, small=True) if is_drawn else None
    metrics = metric_rows(pool.runs[0]) if len(pool.runs) == 1 else _pooled_rows(pool)
    return Detail(pool.label, format_measure("goodput_bps", pool.measure("goodput_bps")), metrics, picture)


def _pooled_rows(pool: PooledRuns) -> list[tuple[str, str]]:
    """Return every metric of the whole runs over the seeds; those of a port or class would be too many."""
    names = dict.fromkeys(
        name for run in pool.runs for name, value in run.summary.items() if value is not None and "[" not in name
    )
    rows = []
    for name in names:
        measure = pool.measure(name)
        interval = format_interval(name, measure)
        rows.append((metric_title(name), format_measure(name, measure) + (f" ({interval})" if interval else "")))
    return rows
