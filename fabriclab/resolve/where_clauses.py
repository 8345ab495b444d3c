"""The `where` of an experiment's checks and figures: each has to concern a point of its lab.

A clause that concerns none would leave its check unasked, or its figure empty, without a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from fabriclab.formats.where_clause import Scalar, concerns
from fabriclab.keys.wording import listed
from fabriclab.lab import Lab
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.study_keys import VARIANT
from fabriclab.resolve.points import parameters_of_points, settings_of_points
from fabriclab.resolve.resolver import Resolver

Parameters = Mapping[str, Scalar]
"""The value of every parameter at one point, as a plan has it."""
_NUMBER = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class _Clause:
    key: str
    where: Mapping[str, Any]
    place: Place
    consequence: str


def refuse_idle_clauses(lab: Lab, resolver: Resolver, points: Iterable[Parameters]) -> None:
    """Raise LabError for each `where` of a check or a figure that concerns no point.

    `points` are those at hand. Only for a clause that concerns none of them are others planned: those of the variants
    and of every matrix, the likeliest first, until each clause has one.
    """
    seen = list(points)
    _refuse(lab, _idle(lab, resolver, seen), seen)


def told_of_idle_clauses(lab: Lab, resolver: Resolver, point: Parameters) -> list[str]:
    """Return a sentence on the clauses that concern no point, for a run of one point; nothing where there are none.

    Whoever changes a line of a lab runs it before the checks of its matrices fit again. But LabError is raised for a
    clause of a parameter of which no value is known: no setting of the lab's own could ever meet it.
    """
    seen = [point]
    idle = _idle(lab, resolver, seen)
    _refuse(lab, [clause for clause in idle if not set(clause.where) <= {VARIANT, *point}], seen)
    keys = listed(clause.key for clause in idle)
    return (
        [f"{keys}: no point of the lab fits, so nothing is checked there; `fabriclab check` says why"] if idle else []
    )


def _idle(lab: Lab, resolver: Resolver, seen: list[Parameters]) -> list[_Clause]:
    """Return the clauses that concern no point of the lab; the points that were planned for it are added to `seen`."""
    idle = _left(_clauses(lab), seen)
    if not idle:
        return []
    points = settings_of_points(lab, with_variants=any(VARIANT in clause.where for clause in idle))
    normalise = cache(lab.normalise)
    # Most clauses name what a matrix sets. To plan such a point would tell nothing new, and takes milliseconds.
    idle = [clause for clause in idle if not _is_set_by_any(lab, normalise, clause, points)]
    others = _in_likeliest_order(resolver, normalise, idle, points) if idle else iter(())
    while idle and (parameters := next(others, None)) is not None:
        seen.append(parameters)
        idle = _left(idle, [parameters])
    return idle


def _refuse(lab: Lab, idle: Iterable[_Clause], seen: Sequence[Parameters]) -> None:
    problems = Problems()
    for clause in idle:
        problems.add(clause.place, clause.key, _message(lab, clause, seen), _text(clause.where))
    problems.raise_if_any()


def _clauses(lab: Lab) -> list[_Clause]:
    written: list[tuple[str, Any, str]] = [
        *((f"checks[{index}]", check.where, "asked") for index, check in enumerate(lab.study.checks)),
        *((f"report.figures[{index}]", figure.get("where"), "drawn") for index, figure in enumerate(lab.study.figures)),
    ]
    return [
        _Clause(f"{key}.where", where, lab.study.places[f"{key}.where"], consequence)
        for key, where, consequence in written
        if where
    ]


def _left(clauses: Iterable[_Clause], points: Sequence[Parameters]) -> list[_Clause]:
    return [each for each in clauses if not any(concerns(each.where, parameters) for parameters in points)]


def _is_set_by_any(
    lab: Lab, normalise: Callable[[str, str], Scalar], clause: _Clause, points: Sequence[Mapping[str, str]]
) -> bool:
    """Return whether a point sets each of a clause's parameters as the clause has it, and none of them twice."""
    setting = [settings for settings in points if clause.where.keys() <= settings.keys()]
    for settings, fit in zip(setting, _fits(normalise, clause, setting), strict=True):
        keys = Counter(key for name in settings for key in lab.parameters.get(name, (name,)))
        if fit >= 0 and all(keys[lab.parameters[name][0]] == 1 for name in clause.where if name in lab.parameters):
            return True
    return False


def _in_likeliest_order(
    resolver: Resolver,
    normalise: Callable[[str, str], Scalar],
    clauses: Sequence[_Clause],
    points: Sequence[Mapping[str, str]],
) -> Iterator[Parameters]:
    """Yield the parameters of points: first those of the likeliest point of each clause, then of those that fit any."""
    fits = list(zip(*(_fits(normalise, clause, points) for clause in clauses), strict=True))
    bare = next(parameters_of_points(resolver, [{}]), {})

    def likeliest_of(clause: int) -> int:
        """Return the point that has the clause if what it does not set is as in the bare lab; else one that sets most
        of it."""
        by_fit = sorted(range(len(points)), key=lambda point: -fits[point][clause])
        guessed = ({**bare, **{name: normalise(name, text) for name, text in points[one].items()}} for one in by_fit)
        fitting = zip(by_fit, guessed, strict=True)
        return next((one for one, guess in fitting if concerns(clauses[clause].where, guess)), by_fit[0])

    likeliest = {likeliest_of(clause) for clause in range(len(clauses))}

    def order(point: int) -> tuple[bool, bool]:
        return point not in likeliest, all(keys < 0 for keys in fits[point])

    ordered = [points[point] for point in sorted(range(len(points)), key=order)]
    return parameters_of_points(resolver, ordered)


def _fits(normalise: Callable[[str, str], Scalar], clause: _Clause, points: Sequence[Mapping[str, str]]) -> list[int]:
    """Return how many of a clause's parameters each point sets as the clause has them, -1 where one is set otherwise.

    Hundreds of points set the same few values.
    """

    @cache
    def is_meant(name: str, text: str) -> bool:
        return concerns({name: clause.where[name]}, {name: normalise(name, text)})

    set_here = ([name for name in clause.where if name in settings] for settings in points)
    return [
        len(names) if all(is_meant(name, settings[name]) for name in names) else -1
        for names, settings in zip(set_here, points, strict=True)
    ]


def _message(lab: Lab, clause: _Clause, points: Sequence[Parameters]) -> str:
    wanted, there = _text(clause.where), "; ".join(_values(lab, name, points) for name in clause.where)
    return f"no point of the lab has {wanted}, so it is never {clause.consequence}; the points have {there}"


def _text(where: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {' or '.join(map(_word, _several(value)))}" for name, value in where.items())


def _values(lab: Lab, name: str, points: Sequence[Parameters]) -> str:
    """Return a parameter's name and the values that points have; where none has one, how a point comes to have one."""
    known = {_word(parameters[name]) for parameters in points if name in parameters}
    if known:
        return f"{name} {listed(sorted(known, key=_in_numbers_order))}"
    if name == VARIANT:
        return "no variant; name one in a matrix"
    key = lab.parameters[name][0]
    return f"no {name} that can be compared; write {key} in the experiment, or {name} in a matrix"


def _in_numbers_order(word: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts 8 before 16."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBER.split(word))


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _word(value: Scalar) -> str:
    """Return a value as a lab writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
