"""The part of `experiment.yml` that spans runs: what is asked, parameters, variants, matrices, checks,
and the figures of the report."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.axes import MOST_POINTS, Axis, expand_values
from fabriclab.lab.figures import Figure, FigureScope, read_figures
from fabriclab.lab.metrics import check_metric, parse_metric_value
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section, Written, as_text, as_words, duplicates, first_line
from fabriclab.lab.settings import check_key, is_dotted, normalise, split_key
from fabriclab.lab.study_keys import CHECK, CHECK_OPERATOR, OPERATORS, SEED, VARIANT

_MINUTES = re.compile(r"[0-9]{1,5}(\.[0-9]{1,3})?")

Scalar = str | int | float | bool


@dataclass(frozen=True)
class Variant:
    """Values that are set together: dotted keys with what they become."""

    name: str
    values: Mapping[str, Value]


@dataclass(frozen=True)
class WrittenCheck:
    """A condition on a metric, in the metric's own unit; `where` limits it to points with these parameters."""

    metric: str
    operator: str
    value: float
    where: Mapping[str, Scalar]


@dataclass(frozen=True)
class Study:
    """What is varied, and what is looked at."""

    question: str | None
    minutes: float | None
    """What the first matrix takes of one CPU, as it was measured."""
    parameters: Mapping[str, tuple[str, ...]]
    """Each parameter's keys."""
    variants: Mapping[str, Variant]
    matrices: Mapping[str, tuple[Axis, ...]]
    checks: tuple[WrittenCheck, ...]
    figures: tuple[Figure, ...]
    places: Mapping[str, Place]
    """Where each check and figure stands, by its key: `checks[0]`, `report.figures[2]`; and the `where` of each:
    `checks[0].where`."""

    def setting_names(self) -> tuple[str, ...]:
        """Return what a setting may be called, dotted keys aside."""
        return (VARIANT, *self.parameters) if self.variants else tuple(self.parameters)


def parse_study(document: MappingValue, names: Names, problems: Problems) -> Study:
    """Return the study; what is wrong is recorded."""
    return _StudyReader(document, names, problems).read()


class _StudyReader:
    """Reads one part after the other; later parts name what the earlier ones define."""

    def __init__(self, document: MappingValue, names: Names, problems: Problems) -> None:
        self._document = document
        self._root = Section(document, "", problems, None)
        self._names = names
        self._problems = problems
        traffic = document.entries.get("traffic")
        self._classes = _traffic_classes(traffic)
        self._parameters: dict[str, tuple[str, ...]] = {}
        self._variants: dict[str, Variant] = {}

    def read(self) -> Study:
        question = self._root.scalar("question", "a question")
        minutes = self._root.convert("minutes", "minutes of one CPU", _parse_minutes)
        self._read_each("parameters", self._read_parameter)
        self._read_each("variants", self._read_variant)
        matrices: dict[str, tuple[Axis, ...]] = {}
        self._read_each("matrix", lambda name, value, key: matrices.update({name: self._read_matrix(value, key)}))
        written = self._root.items("checks") or []
        checks = [check for key, value in written if (check := self._read_check(value, key))]
        figures = read_figures(
            self._root, FigureScope(self._names, self._setting_names(), self._classes, self._metric, self._setting)
        )
        return Study(
            question=first_line(question.value) if question else None,
            minutes=minutes.value if minutes else None,
            parameters=self._parameters,
            variants=self._variants,
            matrices=matrices,
            checks=tuple(checks),
            figures=figures,
            places=_places([*written, *self._written_figures()]),
        )

    def _written_figures(self) -> list[tuple[str, Value]]:
        report = self._document.entries.get("report")
        figures = report.entries.get("figures") if isinstance(report, MappingValue) else None
        items = figures.items if isinstance(figures, SequenceValue) else ()
        return [(f"report.figures[{index}]", item) for index, item in enumerate(items)]

    def _read_each(self, part: str, read: Callable[[str, Value, str], None]) -> None:
        section = self._root.section(part, None)
        for name in section.names() if section else ():
            value = section.get(name) if section else None
            if section is not None and value is not None:
                read(name, value, section.path(name))

    def _read_parameter(self, name: str, value: Value, key: str) -> None:
        if name in (VARIANT, SEED) or len(split_key(name)) > 1:
            message = (
                f"{shown(name)} cannot name a parameter; write a word without dots other than '{VARIANT}' and '{SEED}'"
            )
            self._problems.add(value.place, key, message, name)
        targets = as_words(value, key, self._problems)
        for target in targets or []:
            self._check_key(target.value, Written(target.value, key, target.text, target.place))
        self._parameters[name] = tuple(target.value for target in targets or [])

    def _check_key(self, dotted: str, written: Written[str]) -> bool:
        try:
            check_key(dotted, self._document, self._names)
        except ValueError as error:
            written.complain(self._problems, str(error))
            return False
        return True

    def _read_variant(self, name: str, value: Value, key: str) -> None:
        section = Section(value, key, self._problems, None)
        values = {}
        for dotted in section.names():
            entry = section.get(dotted)
            place = section.mapping.key_place(dotted)
            if isinstance(entry, MappingValue):
                whole = f"{dotted}.{next(iter(entry.entries), 'key')}"
                message = f"must be a value, not a mapping; write the whole key with dots, such as {whole}: value"
                self._problems.add(entry.place, section.path(dotted), message, dotted)
            elif entry is not None and self._check_key(dotted, Written(dotted, key, dotted, place)):
                values[dotted] = entry
        self._variants[name] = Variant(name, values)

    def _read_matrix(self, value: Value, key: str) -> tuple[Axis, ...]:
        section = Section(value, key, self._problems, None)
        axes = [self._read_axis(section, name) for name in section.names()]
        points = math.prod(len(axis.values) for axis in axes)
        if points > MOST_POINTS:
            self._problems.add(section.place, key, f"{points} points; a matrix has at most {MOST_POINTS}")
            return ()
        return tuple(axes)

    def _read_axis(self, section: Section, name: str) -> Axis:
        valid = self._setting_names()
        if name not in valid and not (is_dotted(name) and self._is_key(section, name)):
            place = section.mapping.key_place(name)
            message = f"{shown(name)} is not a parameter; {did_you_mean(name, (*valid, SEED))}"
            self._problems.add(place, section.path(name), message, name)
        value = section.get(name)
        items = (
            value.items if isinstance(value, SequenceValue) else (value,)
        )  # a single value: an axis of one point, or a range
        written = [as_text(item, section.path(name), self._problems, "a value") for item in items if item is not None]
        values = expand_values((word for word in written if word is not None), self._problems)
        if not items:
            section.complain(name, "the list is empty; write at least one value")
        for again in duplicates([Written(str(self._normalise(name, w.value)), w.key, w.text, w.place) for w in values]):
            again.complain(self._problems, f"{shown(again.text)} occurs twice on this axis")
        if name == VARIANT:
            for word in values:
                self._check_variant(word)
        return Axis(name, tuple(ScalarValue(word.text, word.place) for word in values))

    def _is_key(self, section: Section, name: str) -> bool:
        return self._check_key(name, Written(name, section.path(name), name, section.mapping.key_place(name))) or True

    def _setting_names(self) -> tuple[str, ...]:
        return (VARIANT, *self._parameters) if self._variants else tuple(self._parameters)

    def _check_variant(self, word: Written[str]) -> None:
        if word.value not in self._variants:
            word.complain(
                self._problems, f"{shown(word.value)} is not a variant; {did_you_mean(word.value, self._variants)}"
            )

    def _normalise(self, name: str, text: str) -> str | int | bool:
        keys = self._parameters.get(name) or ((name,) if is_dotted(name) else ())
        return normalise(keys[0], text, self._document) if keys else text.strip()

    def _read_check(self, value: Value, key: str) -> WrittenCheck | None:
        before = len(self._problems)
        check = Section(value, key, self._problems, CHECK)
        check.require("metric", example="metric: a number of the summary, such as goodput_bps")
        check.require("operator", example=f"operator: one of {', '.join(OPERATORS.words)}")
        check.require("value", example="value: what the metric is compared with, such as 900 Mbps")
        metric = check.convert("metric", "a metric's name", self._metric)
        operator = check.read(CHECK_OPERATOR)
        where = self._read_where(check)
        if metric is None:
            return None
        number = check.convert("value", "a value", lambda text: parse_metric_value(metric.value, text))
        if operator is None or number is None or len(self._problems) > before:
            return None
        return WrittenCheck(metric.value, operator.value, number.value, where)

    def _metric(self, text: str) -> str:
        return check_metric(text, self._names, self._classes)

    def _read_where(self, section: Section) -> dict[str, Scalar]:
        where = section.section("where", self._setting_names())
        values: dict[str, Scalar] = {}
        for name in where.names() if where else ():
            written = where.scalar(name, "a value") if where else None
            if written is not None:
                values[name] = self._setting(name, written)
        return values

    def _setting(self, name: str, written: Written[str]) -> str | int | bool:
        if name == VARIANT:
            self._check_variant(written)
        return self._normalise(name, written.value)


def _places(written: Iterable[tuple[str, Value]]) -> dict[str, Place]:
    """Return where items stand and, by `KEY.where`, where the `where` of each does."""
    places = {}
    for key, value in written:
        places[key] = value.place
        if isinstance(value, MappingValue) and "where" in value.entries:
            places[f"{key}.where"] = value.key_place("where")
    return places


def _parse_minutes(text: str) -> float:
    """Return a number of minutes. Raises ValueError for anything else."""
    if _MINUTES.fullmatch(text) is None or not float(text):
        raise ValueError(
            f"{shown(text)} is not a number of minutes; write the minutes that the first matrix took on one CPU, such "
            "as 2.5"
        )
    return float(text)


def _traffic_classes(traffic: Value | None) -> tuple[str, ...] | None:
    """Return the classes of flows, the traffic's names; None when a trace of the user's brings classes of its own."""
    if not isinstance(traffic, MappingValue):
        return ()
    kinds = [one.entries.get("kind") for one in traffic.entries.values() if isinstance(one, MappingValue)]
    if any(isinstance(kind, ScalarValue) and kind.text == "trace" for kind in kinds):
        return None
    return tuple(traffic.entries)
