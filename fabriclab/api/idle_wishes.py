"""What an experiment asks for and no point of its lab answers to, with file and line.

A key of `validation` that nothing answers to is an error for `check` and `validate`. Figures and conditions that no
point can show are told by `check`, and by runs before they begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import TraceTraffic
from fabriclab.formats.where_clause import concerns
from fabriclab.lab import Lab, LabError
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.problems import Problems
from fabriclab.resolve.unmeasured import Sights


def refuse_idle_wishes(lab: Lab, plans: Iterable[Plan]) -> None:
    """Raise LabError for each key of `validation` that nothing answers to in any of these plans.

    They are looked at until each key has something, most often the first alone.
    """
    wanted, section = lab.experiment.validation, lab.document.entries.get("validation")
    if not wanted.keys or not isinstance(section, MappingValue):
        return
    # These take long to import, and few labs say what they want.
    from fabriclab.validation import Bench, idle_wishes

    idle: dict[str, str] | None = None
    for plan in plans:
        found = idle_wishes(Bench(plan, plan, wanted))
        idle = {key: why for key, why in (found if idle is None else idle).items() if key in found}
        if not idle:
            return
    problems = Problems()
    for key, why in (idle or {}).items():
        problems.add(section.key_place(key), f"validation.{key}", f"the lab has nothing that this applies to: {why}")
    problems.raise_if_any()


@dataclass(frozen=True)
class _Wish:
    """A figure or a condition of the experiment, and what of a plan's sights keeps it empty."""

    key: str
    what: str
    subject: Mapping[str, Any]
    lacks: Callable[[Sights], str]

    def why(self, sights: Sequence[Sights]) -> str:
        """Return why none of the points that are meant has it; empty where one has, or where none is meant."""
        reasons = [self.lacks(sight) for sight in sights if concerns(self.subject.get("where"), sight.plan.parameters)]
        return reasons[0] if reasons and all(reasons) else ""

    def is_shown(self, sight: Sights) -> bool:
        """Return whether a point is meant and has it."""
        return concerns(self.subject.get("where"), sight.plan.parameters) and not self.lacks(sight)


def unseen_lines(lab: Lab, flows: pl.DataFrame, base: Plan, points: Sequence[Plan]) -> list[str]:
    """Return `FILE:LINE: ...` for each figure and check that stays empty, whichever matrix is run.

    `points` are those of all matrices; `flows` are the base plan's (`fabriclab.compile.compiled_flows`), for the
    classes of a user's trace.
    """
    read, classes = _trace_files(base), _trace_classes(flows, base)
    # A point with another trace has classes that nobody has read.
    sights = [Sights(plan, classes if _trace_files(plan) == read else None) for plan in (base, *points)]
    reasons = ((wish, wish.why(sights) or _fixed(wish.subject, points)) for wish in _wishes(lab))
    return [_line(lab, wish, why) for wish, why in reasons if why]


def unseen_before_runs(lab: Lab, plans: Sequence[Plan], planned: Callable[[Mapping[str, str]], Plan]) -> list[str]:
    """Return the same of the points that are about to be run, but for what a variant or another matrix is there to
    show.

    `planned` plans other settings as these were: only where something is missing, and one point of each matrix, for
    runs begin soon. Of the classes of a user's trace nothing is said: it is read when its run begins.
    """
    sights = [Sights(plan, None) for plan in plans]
    missing = [(wish, why) for wish in _wishes(lab) if (why := wish.why(sights))]
    others = _others(lab, planned)
    while missing and (other := next(others, None)) is not None:
        missing = [(wish, why) for wish, why in missing if not wish.is_shown(other)]
    return [_line(lab, wish, why) for wish, why in missing]


def _wishes(lab: Lab) -> Iterator[_Wish]:
    for index, figure in enumerate(lab.study.figures):
        yield _Wish(
            f"report.figures[{index}]",
            f"{figure['kind']} cannot be drawn",
            figure,
            partial(Sights.figure_lacks, figure=figure),
        )
    for index, check in enumerate(lab.study.checks):
        lacks = partial(Sights.metric_lacks, metric=check.metric)
        yield _Wish(f"checks[{index}]", f"{check.metric} cannot be measured", {"where": check.where}, lacks)


def _others(lab: Lab, planned: Callable[[Mapping[str, str]], Plan]) -> Iterator[Sights]:
    """Yield what is seen in each variant and in the first point of each matrix; a point that is not good is for `check`
    to tell."""
    for settings in (
        *({"variant": name} for name in lab.variants),
        *(lab.points(matrix)[0] for matrix in lab.matrices),
    ):
        with suppress(LabError):
            yield Sights(planned(settings), None)


def _trace_files(plan: Plan) -> list[str]:
    """Return what identifies the contents of a plan's traces."""
    return [traffic.sha256 for traffic in plan.traffic if isinstance(traffic, TraceTraffic)]


def _trace_classes(flows: pl.DataFrame, plan: Plan) -> dict[str, bool]:
    """Return the classes of the traces in a plan's flows, and whether they have flows with a size."""
    names = [traffic.name for traffic in plan.traffic if isinstance(traffic, TraceTraffic)]
    if not names:
        return {}
    own = flows.filter(pl.col("traffic").cast(pl.String).is_in(names) & pl.col("class").is_not_null())
    sized = own.group_by(pl.col("class").cast(pl.String)).agg(pl.col("size_bytes").is_not_null().any())
    return dict(sized.sort("class").iter_rows())


def _fixed(figure: Mapping[str, Any], points: Sequence[Plan]) -> str:
    """Return that the horizontal axis of a figure has one value in each matrix."""
    x = figure.get("x")
    if x is None:
        return ""
    values: dict[tuple[str, ...], set[str]] = {}
    for plan in points:
        if concerns(figure.get("where"), plan.parameters):
            values.setdefault(tuple(plan.settings), set()).add(
                str(plan.parameters.get(x))
            )  # points of one matrix set the same things
    return "" if any(len(each) > 1 for each in values.values()) else f"no matrix varies {x}"


def _line(lab: Lab, wish: _Wish, why: str) -> str:
    place = lab.study.places[wish.key]
    return f"{Path(place.file).name}:{place.line}: {wish.key}: {wish.what}: {why}"
