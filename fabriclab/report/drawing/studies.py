"""Published results beside ours: facts as data in `studies/<id>.json`, and the same numbers from the runs at hand.

A study's file has `id`, `title`, `source`, `references` (the columns of published figures, the study's own first) and
`parts`, each an experiment of the study: `title`, `setup`, `must_show` (the orderings that a reproduction has to have),
`compare`, and optionally `bands` (areas of a metric figure, with `where` only of runs with these settings), `labs` (the
labs that reproduce it; without it all), `varied` (it is shown where one of these parameters varies, in place of the
parts that have no `varied`) and `references` (columns of its own).

A row of `compare` has `text`, `metric`, `reference` (a text, or one for each column) and `where`: parameter and value,
where a pair is the least and the greatest number, or a list of words any of them; `congestion_control` is known of
every run. With `against`, settings too, the number is a change in per cent, from the point that has these settings and
is the same otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from fabriclab.report.drawing.pools import Measure, PooledRuns, format_interval, format_measure
from fabriclab.report.drawing.style import algorithm_name
from fabriclab.report.measured.quantities import format_metric, setting_number
from fabriclab.results import ResultsError

STUDY_FORMAT = "fabriclab-study-2"


@dataclass(frozen=True)
class Band:
    """An area of a metric figure in which a study's results lie; base units."""

    metric: str
    x: str
    x_from: float
    x_to: float
    low: float
    high: float
    label: str
    where: Mapping[str, Any] = field(default_factory=dict)
    """Settings that it was measured with, as in a row of `compare`."""

    def concerns(self, pools: Sequence[PooledRuns]) -> bool:
        """Return whether no run is known to have other settings."""
        values = [(wanted, _value(name, pool)) for name, wanted in self.where.items() for pool in pools if pool.runs]
        return all(value is None or _holds(wanted, value) for wanted, value in values)


@dataclass(frozen=True)
class Comparison:
    """A statement of a study and what these runs say to it.

    `references` has a text for each column of the study, `ours` one for each congestion control.
    """

    text: str
    references: tuple[str, ...]
    ours: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """An experiment of a study."""

    title: str
    setup: str
    must_show: tuple[str, ...]
    bands: tuple[Band, ...]
    rows: tuple[dict[str, Any], ...]
    labs: tuple[str, ...]
    varied: tuple[str, ...]
    references: tuple[str, ...]
    """Columns of published figures."""

    def concerns(self, lab: str, varied: Collection[str]) -> bool:
        """Return whether a report of a lab in which these settings vary is one of this experiment."""
        return (not self.labs or lab in self.labs) and (not self.varied or any(name in varied for name in self.varied))


@dataclass(frozen=True)
class Study:
    """A published result: its source, and the experiments that ours are compared with."""

    name: str
    title: str
    source: str
    references: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def bands(self) -> tuple[Band, ...]:
        """The bands of all parts."""
        return tuple(band for part in self.parts for band in part.bands)


@dataclass(frozen=True)
class ComparedPart:
    """An experiment of a study with our numbers beside its own; `rows` is empty where no run has its settings."""

    part: Part
    rows: tuple[Comparison, ...]


def read_study(name: str) -> Study | None:
    """Return the study of that name, None when there are no data of it. Raises ResultsError when its file is broken."""
    file = resources.files("fabriclab.report") / "studies" / f"{name}.json"
    if not file.is_file():
        return None
    data = json.loads(file.read_text(encoding="utf-8"))
    if data.get("format") != STUDY_FORMAT:
        raise ResultsError(f"studies/{name}.json: format: '{data.get('format')}'; it should be '{STUDY_FORMAT}'")
    parts = tuple(_part(part, data["references"]) for part in data["parts"])
    return Study(data["id"], data["title"], data["source"], tuple(data["references"]), parts)


def compare_with(
    study: Study, pools: Sequence[PooledRuns], lab: str, varied: Collection[str] = ()
) -> list[ComparedPart]:
    """Return the parts of the study that concern these runs, each statement with what the matching ones measured.

    Parts that no run matches are left out, unless none matches any: then they are all there, without rows.
    """
    parts = [part for part in study.parts if part.concerns(lab, varied)]
    compared = [ComparedPart(part, tuple(_compare(row, pools, part.references) for row in part.rows)) for part in parts]
    matching = [each for each in compared if any(row.ours for row in each.rows)]
    special = [each for each in matching if each.part.varied]
    return special or matching or [ComparedPart(part, ()) for part in parts]


def _part(data: Mapping[str, Any], references: Sequence[str]) -> Part:
    bands = tuple(Band(**band) for band in data.get("bands", ()))
    labs, varied, own = (tuple(data.get(name, ())) for name in ("labs", "varied", "references"))
    return Part(
        data["title"],
        data["setup"],
        tuple(data["must_show"]),
        bands,
        tuple(data["compare"]),
        labs,
        varied,
        own or tuple(references),
    )


def _compare(row: Mapping[str, Any], pools: Sequence[PooledRuns], columns: Sequence[str]) -> Comparison:
    matching = [pool for pool in pools if pool.runs and _matches(row["where"], pool)]
    by_algorithm: dict[str, list[PooledRuns]] = {}
    for pool in matching:
        if pool.measure(row["metric"]).value is not None:
            by_algorithm.setdefault(pool.runs[0].congestion_control, []).append(pool)
    ours = tuple(
        f"{algorithm_name(name)}: {text}"
        for name, alike in by_algorithm.items()
        if (text := _measured(row, alike, pools))
    )
    given = [row["reference"]] if isinstance(row["reference"], str) else list(row["reference"])
    return Comparison(str(row["text"]), tuple(given + [""] * (len(columns) - len(given))), ours)


def _measured(row: Mapping[str, Any], matching: Sequence[PooledRuns], pools: Sequence[PooledRuns]) -> str:
    """Return what the matching points measured, or by how much that differs from others; empty without these."""
    measures = [pool.measure(row["metric"]) for pool in matching]
    if "against" not in row:
        return _range(row["metric"], measures)
    changes = [_change(row, pool, pools) for pool in matching]
    known = sorted(change for change in changes if change is not None)
    if not known:
        return ""
    low, high = (f"{100 * change:+.1f} %" for change in (known[0], known[-1]))
    return f"{low if low == high else f'{low} to {high}'}, {_range(row['metric'], measures)}"


def _change(row: Mapping[str, Any], pool: PooledRuns, pools: Sequence[PooledRuns]) -> float | None:
    """Return (value - base) / base; None without a base."""
    base = _base(row, pool, pools)
    if base is None:
        return None
    value, reference = (each.measure(row["metric"]).value for each in (pool, base))
    return (value - reference) / reference if value is not None and reference else None


def _base(row: Mapping[str, Any], pool: PooledRuns, pools: Sequence[PooledRuns]) -> PooledRuns | None:
    """Return the point that differs from the pool in the settings of `against` alone,
    or the only one that has these."""

    def others(each: PooledRuns) -> dict[str, Any]:
        return {name: value for name, value in each.pool.settings.items() if name not in row["against"]}

    having = [each for each in pools if each.runs and _matches({**row["where"], **row["against"]}, each)]
    alike = [each for each in having if others(each) == others(pool)]
    return next(iter(alike or (having if len(having) == 1 else [])), None)


def _matches(where: Mapping[str, Any], pool: PooledRuns) -> bool:
    return all(_holds(wanted, _value(name, pool)) for name, wanted in where.items())


def _value(name: str, pool: PooledRuns) -> Any:
    return pool.runs[0].congestion_control if name == "congestion_control" else pool.parameters.get(name)


def _holds(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, list):
        low, high = (setting_number(wanted[0]), setting_number(wanted[-1]))
        number = setting_number(value)
        if low is None or high is None:
            return str(value) in map(str, wanted)
        return number is not None and low <= number <= high
    expected = setting_number(wanted)
    return str(value).lower() == str(wanted).lower() if expected is None else setting_number(value) == expected


def _range(metric: str, measures: Sequence[Measure]) -> str:
    """Return a single number with its interval, of several the least and the greatest."""
    if len(measures) == 1:
        interval = format_interval(metric, measures[0])
        return format_measure(metric, measures[0]) + (f" ({interval})" if interval else "")
    values = [measure.value for measure in measures if measure.value is not None]
    low, high = format_metric(metric, min(values)), format_metric(metric, max(values))
    return low if low == high else f"{low} to {high}"
