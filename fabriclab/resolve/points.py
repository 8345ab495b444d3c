"""The points of a lab, for what has to look at all of them: the bare lab, its variants, its matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.where_clause import Scalar
from fabriclab.lab import Lab, LabError
from fabriclab.lab.study_keys import SEED, VARIANT
from fabriclab.resolve.resolver import Resolver


def settings_of_points(lab: Lab, *, with_variants: bool = False) -> list[dict[str, str]]:
    """Return what every point sets, each once.

    `with_variants`: the points of matrices with each variant, too, as `sweep --set variant=...` runs them. Seeds are
    left out where no parameter is the seed.
    """
    has_seed = any(SEED in keys for keys in lab.parameters.values())
    of_matrices = [
        {name: text for name, text in point.items() if has_seed or name != SEED}
        for matrix in lab.matrices
        for point in lab.points(matrix)
    ]
    variants = [{VARIANT: name} for name in lab.variants]
    mixed = [{**variant, **point} for variant in variants for point in of_matrices] if with_variants else []
    every = [{}, *variants, *of_matrices, *mixed]
    return list({tuple(sorted(settings.items())): settings for settings in every}.values())


def plans_of_points(resolver: Resolver, points: Iterable[Mapping[str, str]]) -> Iterator[Plan]:
    """Yield the plan of each point. One that cannot be planned is left out: `check` tells what is wrong with it."""
    for settings in points:
        with suppress(LabError):
            yield resolver.resolve(settings)


def parameters_of_points(resolver: Resolver, points: Iterable[Mapping[str, str]]) -> Iterator[Mapping[str, Scalar]]:
    """Yield the value of every parameter at each point; one that cannot be planned is left out as well."""
    for settings in points:
        with suppress(LabError):
            yield resolver.parameters(settings)
