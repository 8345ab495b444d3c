"""Which point of one side belongs to which of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriclab.formats.where_clause import Scalar
from fabriclab.report.drawing.curves import setting_label
from fabriclab.results import Pool, Results, Sweep, pooled
from fabriclab.results.sweep import SEED, compare_runs

Key = tuple[str, ...]


@dataclass(frozen=True)
class Matched:
    """Points of both sides that have the same settings, and those without a partner, as words."""

    pairs: tuple[tuple[dict[str, Scalar], str, Pool, Pool], ...]
    only_base: tuple[str, ...]
    only_other: tuple[str, ...]


def side(subject: Results | Sweep) -> tuple[Pool, ...]:
    """Return the points of a run or of a sweep that have results, those that differ in their seed together."""
    sweep = compare_runs([subject]) if isinstance(subject, Results) else subject
    return tuple(pool for pool in pooled(sweep) if pool.runs)


def match(base: Sequence[Pool], other: Sequence[Pool]) -> Matched:
    """Return which points belong together: those that agree in every setting that varies within a side.

    A setting that is constant within both sides and differs between them is what is compared; single points belong
    together whatever they differ in. Raises ResultsError where settings don't tell the points of a side apart.
    """
    if len(base) == len(other) == 1:
        return Matched((({}, "", base[0], other[0]),), (), ())
    names = _varied(base, other)
    here, there = _by_settings(base, names), _by_settings(other, names)
    pairs = tuple(
        (
            {name: pool.parameters[name] for name in names if name in pool.parameters},
            _label(pool, names),
            pool,
            there[key],
        )
        for key, pool in here.items()
        if key in there
    )
    return Matched(
        pairs,
        tuple(_label(pool, names) for key, pool in here.items() if key not in there),
        tuple(_label(pool, names) for key, pool in there.items() if key not in here),
    )


def _varied(*sides: Sequence[Pool]) -> list[str]:
    names = dict.fromkeys(name for pools in sides for pool in pools for name in pool.parameters if name != SEED)
    return [name for name in names if any(len({_value(pool, name) for pool in pools}) > 1 for pools in sides)]


def _by_settings(pools: Sequence[Pool], names: Sequence[str]) -> dict[Key, Pool]:
    """Return the points by their settings, of which no two have the same: else they would be one pool."""
    return {tuple(_value(pool, name) for name in names): pool for pool in pools}


def _value(pool: Pool, name: str) -> str:
    """Return a setting as what it is compared by: `64KB` is `64 KB`."""
    return "".join(str(pool.parameters.get(name, "")).split()).lower()


def _label(pool: Pool, names: Sequence[str]) -> str:
    return ", ".join(setting_label(name, pool.parameters[name]) for name in names if name in pool.parameters)
