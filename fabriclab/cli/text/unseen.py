"""`fabriclab check`: figures and conditions of an experiment that no point of it can show, with file and line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from fabriclab.lab import Lab
from fabriclab.plan.model import Plan
from fabriclab.plan.traffic_kinds import TraceTraffic
from fabriclab.plan.unseen import Sights
from fabriclab.where import concerns

T = TypeVar("T")


def unseen_lines(lab: Lab, flows: pl.DataFrame, base: Plan, points: Sequence[Plan]) -> list[str]:
    """Return `warning: FILE:LINE: ...` for each figure and check that stays empty, whichever matrix is run.

    `points` are those of all matrices; `flows` are the base plan's (`fabriclab.compile.compiled_flows`), for the classes of a user's trace.
    """
    sights = [Sights(plan, trace_classes(flows, base, plan)) for plan in (base, *points)]
    lines = []
    for index, figure in enumerate(lab.study.figures):
        why = _why(sights, figure, Sights.figure_lacks, figure) or _fixed(figure, points)
        if why:
            lines.append(_line(lab, f"report.figures[{index}]", f"{figure['kind']} cannot be drawn", why))
    for index, check in enumerate(lab.study.checks):
        why = _why(sights, {"where": check.where}, Sights.metric_lacks, check.metric)
        if why:
            lines.append(_line(lab, f"checks[{index}]", f"{check.metric} cannot be measured", why))
    return lines


def trace_classes(flows: pl.DataFrame, base: Plan, plan: Plan) -> dict[str, bool] | None:
    """Return the classes of the user's trace and whether they have flows with a size; None where a point has another trace."""
    files = [[each.sha256 for each in one.traffic if isinstance(each, TraceTraffic)] for one in (base, plan)]
    if files[0] != files[1]:
        return None
    names = [each.name for each in base.traffic if isinstance(each, TraceTraffic)]
    own = flows.filter(pl.col("traffic").cast(pl.String).is_in(names) & pl.col("class").is_not_null())
    sized = own.group_by(pl.col("class").cast(pl.String)).agg(pl.col("size_bytes").is_not_null().any())
    return dict(sized.sort("class").iter_rows())


def _why(sights: Sequence[Sights], subject: Mapping[str, Any], lacks: Callable[[Sights, T], str], wanted: T) -> str:
    """Return why none of the points that are meant has it; empty where one has, or where none is meant."""
    reasons = [lacks(sight, wanted) for sight in sights if concerns(subject, sight.plan.parameters)]
    return reasons[0] if reasons and all(reasons) else ""


def _fixed(figure: Mapping[str, Any], points: Sequence[Plan]) -> str:
    """Return that the horizontal axis of a figure has one value in each matrix."""
    x = figure.get("x")
    if x is None:
        return ""
    values: dict[tuple[str, ...], set[str]] = {}
    for plan in points:
        if concerns(figure, plan.parameters):
            values.setdefault(tuple(plan.settings), set()).add(str(plan.parameters.get(x)))  # points of one matrix set the same things
    return "" if any(len(each) > 1 for each in values.values()) else f"no matrix varies {x}"


def _line(lab: Lab, key: str, what: str, why: str) -> str:
    place = lab.study.places[key]
    return f"warning: {Path(place.file).name}:{place.line}: {key}: {what}: {why}"
