"""Published results beside ours: facts as data in `studies/<id>.json`, and the same numbers from the runs at hand.

A study's file: `id`, `title`, `setup`, `source`; `compare`: rows of `text`, `metric`, `reference` and `where` (parameter: a value, or the
least and the greatest as a pair; `congestion_control` is known of every run); `bands`: areas of a metric figure; `must_show`: the
orderings that a reproduction has to have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from fabriclab.report.quantities import format_metric, setting_number
from fabriclab.report.style import algorithm_name
from fabriclab.results import ResultsError, SweepPoint

STUDY_FORMAT = "fabriclab-study-1"


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


@dataclass(frozen=True)
class Comparison:
    """A statement of a study and what these runs say to it; `ours` is one text for each congestion control."""

    text: str
    reference: str
    ours: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """A published result."""

    name: str
    title: str
    setup: str
    source: str
    must_show: tuple[str, ...]
    bands: tuple[Band, ...]
    rows: tuple[dict[str, Any], ...]


def read_study(name: str) -> Study | None:
    """Return the study of that name, None when there are no data of it. Raises ResultsError when its file is broken."""
    file = resources.files("fabriclab.report") / "studies" / f"{name}.json"
    if not file.is_file():
        return None
    data = json.loads(file.read_text(encoding="utf-8"))
    if data.get("format") != STUDY_FORMAT:
        raise ResultsError(f"studies/{name}.json: format: '{data.get('format')}'; right is '{STUDY_FORMAT}'")
    bands = tuple(Band(**band) for band in data["bands"])
    return Study(data["id"], data["title"], data["setup"], data["source"], tuple(data["must_show"]), bands, tuple(data["compare"]))


def compare_with(study: Study, points: Sequence[SweepPoint]) -> list[Comparison]:
    """Return each statement of the study with the range of what the matching runs measured; nothing when no run matches any of them."""
    rows = [_compare(row, points) for row in study.rows]
    return rows if any(row.ours for row in rows) else []


def _compare(row: Mapping[str, Any], points: Sequence[SweepPoint]) -> Comparison:
    by_algorithm: dict[str, list[float]] = {}
    for point in points:
        value = point.results.summary.get(row["metric"]) if point.results is not None else None
        if point.results is None or value is None or not _matches(row["where"], point):
            continue
        by_algorithm.setdefault(point.results.congestion_control, []).append(float(value))
    ours = tuple(f"{algorithm_name(name)}: {_range(row['metric'], values)}" for name, values in by_algorithm.items())
    return Comparison(str(row["text"]), str(row["reference"]), ours)


def _matches(where: Mapping[str, Any], point: SweepPoint) -> bool:
    return all(_holds(wanted, _value(name, point)) for name, wanted in where.items())


def _value(name: str, point: SweepPoint) -> Any:
    if name == "congestion_control":
        return point.results.congestion_control if point.results is not None else None
    return point.parameters.get(name)


def _holds(wanted: Any, value: Any) -> bool:
    number = setting_number(value)
    if isinstance(wanted, list):
        low, high = (setting_number(bound) for bound in wanted)
        return number is not None and low is not None and high is not None and low <= number <= high
    expected = setting_number(wanted)
    return str(value) == str(wanted) if expected is None else number == expected


def _range(metric: str, values: Sequence[float]) -> str:
    low, high = format_metric(metric, min(values)), format_metric(metric, max(values))
    return low if low == high else f"{low} to {high}"
