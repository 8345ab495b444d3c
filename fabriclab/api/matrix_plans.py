"""The plans of a matrix's points, each with its first seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fabriclab.api.lab import load_lab
from fabriclab.formats.plan.model import Plan
from fabriclab.lab.study_keys import SEED
from fabriclab.resolve import Resolver


def resolver_of(lab: Path) -> Resolver:
    """Return what plans the points of the lab in a directory. Raises LabError for mistakes in the lab."""
    return Resolver(load_lab(lab).written)


def first_plans(resolver: Resolver, matrix: str, seeds: Sequence[int] = ()) -> Iterator[Plan]:
    """Yield the plan of each point of a matrix with the first of its seeds; `seeds` take the place of the matrix's own.

    The matrices of a lab share its resolver, and so what their points have in common. Raises LabError for mistakes in
    the lab.
    """
    seen = set()
    for point in resolver.lab.points(matrix, seeds):
        name = frozenset((key, value) for key, value in point.items() if key != SEED)
        if name not in seen:
            seen.add(name)
            yield resolver.resolve(point)
