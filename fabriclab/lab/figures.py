"""The figures of the report: which there are, and what each may say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabriclab.formats.figures import FIGURE_KINDS
from fabriclab.keys.values import Word
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.figure_keys import FIGURE, FIGURE_LOG_X, FIGURE_QUEUE, REPORT
from fabriclab.lab.reading.document import Value
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section, Written
from fabriclab.units import UnitError, format_size, parse_size

Where = dict[str, list[str | int | bool]]
"""Values of parameters: the points that a figure shows have one of each."""
Figure = Mapping[str, str | int | float | bool | list[str] | list[int] | Where]

_KIND: Word[str] = Word(FIGURE_KINDS)


@dataclass(frozen=True)
class FigureScope:
    """What a figure may name. `traffic` is None where a trace of the user's brings classes of its own."""

    names: Names
    parameters: Sequence[str]
    traffic: Sequence[str] | None
    metric: Callable[[str], str]
    """Returns a metric's name. Raises ValueError."""
    setting: Callable[[str, Written[str]], str | int | bool]
    """Returns the value of a parameter in the form that values are compared in; what is wrong is recorded."""


def read_figures(root: Section, scope: FigureScope) -> tuple[Figure, ...]:
    """Return the figures of the `report` section; what is wrong is recorded."""
    report = root.section("report", REPORT)
    if report is None:
        return ()
    return tuple(_read_figure(value, key, root.problems, scope) for key, value in report.items("figures") or [])


def _read_figure(value: Value, key: str, problems: Problems, scope: FigureScope) -> Figure:
    section = Section(value, key, problems, None)
    section.require("kind", example=f"kind: one of {', '.join(FIGURE_KINDS)}")
    kind = section.value("kind", _KIND)
    if kind is None:
        return {}
    section = Section(value, key, problems, FIGURE.kinds[kind.value])
    if kind.value == "metric":
        section.require("metric", example="metric: a number of the summary, such as goodput_bps")
        section.require("x", example="x: a parameter, the horizontal axis")
    parameter = _one_of(scope.parameters, "parameter")
    figure: dict[str, str | int | float | bool | list[str] | list[int] | Where] = {"kind": kind.value}
    texts: list[tuple[str, Written[str] | None]] = [
        ("metric", section.convert("metric", "a metric's name", scope.metric)),
        ("x", section.convert("x", "a parameter", parameter)),
        ("port", _place(section, "port", "a port, node:interface", scope.names.ports, scope)),
        ("switch", _place(section, "switch", "a switch", scope.names.switches, scope)),
    ]
    figure.update({name: written.value for name, written in texts if written is not None})
    others: list[tuple[str, Written[int] | Written[bool] | None]] = [
        ("queue", section.read(FIGURE_QUEUE)),
        ("log_x", section.read(FIGURE_LOG_X)),
    ]
    figure.update({name: written.value for name, written in others if written is not None})
    traffic = _one_of(scope.traffic, "piece of traffic") if scope.traffic is not None else str
    lists: list[tuple[str, list[str] | list[int] | Where]] = [
        ("series", _words(section, "series", parameter)),
        ("traffic", _words(section, "traffic", traffic)),
        ("bins", _bins(section)),
        ("where", _where(section, scope)),
    ]
    figure.update({name: values for name, values in lists if values})
    return figure


def _place(section: Section, name: str, wanted: str, valid: Sequence[str], scope: FigureScope) -> Written[str] | None:
    """Return a name of the topology's, whatever it is where the topology has problems of its own."""
    return section.convert(name, wanted, _one_of(valid, name)) if scope.names.complete else section.scalar(name, wanted)


def _words(section: Section, name: str, convert: Callable[[str], str]) -> list[str]:
    words = []
    for word in section.words(name) or []:
        try:
            words.append(convert(word.value))
        except ValueError as error:
            word.complain(section.problems, str(error))
    return words


def _where(section: Section, scope: FigureScope) -> Where:
    where = section.section("where", scope.parameters)
    if where is None:
        return {}
    return {name: [scope.setting(name, word) for word in where.words(name) or []] for name in where.names()}


def _bins(section: Section) -> list[int]:
    """Return the upper bounds of bins of flow sizes, in bytes; above the last there is one more bin."""
    bounds: list[int] = []
    words = section.words("bins") or []
    for word in words:
        try:
            bounds.append(parse_size(word.value))
        except UnitError as error:
            word.complain(section.problems, str(error))
    for (first, second), word in zip(pairwise(bounds), words[1:], strict=False):
        if second <= first:
            word.complain(
                section.problems,
                f"{shown(word.value)} is not above {format_size(first)}; write the bounds of the bins upwards",
            )
    return bounds


def _one_of(valid: Sequence[str], what: str) -> Callable[[str], str]:
    def convert(text: str) -> str:
        if text not in valid:
            raise ValueError(f"{shown(text)} is not a {what}; {did_you_mean(text, valid)}")
        return text

    return convert
