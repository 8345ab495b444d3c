"""The points of our labs' matrices, which the claims of studies are about, and what a point has set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from fabriclab.formats.where_clause import Scalar, concerns
from fabriclab.lab import parse_lab
from fabriclab.resolve import Resolver
from fabriclab.results.sweep import SEED
from fabriclab.shipped import shipped
from fabriclab.studies.claims import Number


def fits(where: Mapping[str, Scalar | tuple[Scalar, ...]], parameters: Mapping[str, Scalar]) -> bool:
    """Return whether a point has these settings, each with that value or one of several."""
    wanted = {name: list(value) if isinstance(value, tuple) else value for name, value in where.items()}
    return concerns(wanted, parameters)


@dataclass(frozen=True)
class Point:
    """A point of a lab's matrix."""

    written: Mapping[str, str]
    settings: Mapping[str, Scalar]
    resolver: Resolver

    @cached_property
    def parameters(self) -> Mapping[str, Scalar]:
        """The value of every parameter; that takes some milliseconds."""
        return {**self.resolver.parameters(self.written), **self.settings}

    def has(self, where: Mapping[str, Scalar | tuple[Scalar, ...]]) -> bool:
        """Return whether it has these settings, each with that value or one of several."""
        is_set = {name: value for name, value in where.items() if name in self.settings}
        return fits(is_set, self.settings) and (len(is_set) == len(where) or fits(where, self.parameters))


class LabPoints:
    """The points of a lab's matrices, as our lab of that name has them; seeds aside."""

    def __init__(self, name: str) -> None:
        lab = parse_lab(shipped("labs") / name, every_point=False)
        resolver = Resolver(lab)
        self._points: dict[str, list[Point]] = {}
        self.telling: set[str] = set()
        """Settings that a matrix has, those of traffic only where a matrix has several values of them."""
        for matrix in lab.matrices:
            unseeded = [{key: text for key, text in point.items() if key != SEED} for point in lab.points(matrix)]
            points = [
                Point(written, {key: lab.normalise(key, text) for key, text in written.items()}, resolver)
                for written in {str(written): written for written in unseeded}.values()
            ]
            self._points[matrix] = points
            for key in points[0].settings:
                is_of_traffic = all(each.startswith("traffic.") for each in lab.parameters.get(key, (key,)))
                if not is_of_traffic or len({point.settings[key] for point in points}) > 1:
                    self.telling.add(key)

    def of(self, number: Number) -> list[Point]:
        """Return the points that a number is of."""
        return [point for point in self._points.get(number.matrix, ()) if point.has(number.where)]


@lru_cache(maxsize=4)
def points_of(lab: str) -> LabPoints:
    """Return the points of our lab of that name."""
    return LabPoints(lab)
