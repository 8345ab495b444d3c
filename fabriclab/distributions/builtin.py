"""The distributions that come with the project: the files of `traffic/workloads`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from fabriclab.distributions.distribution import Distribution
from fabriclab.distributions.formats import read
from fabriclab.shipped import shipped

DIRECTORY = shipped("traffic/workloads")


@cache
def names() -> tuple[str, ...]:
    """Return the names of the distributions, sorted."""
    return tuple(sorted(path.stem for path in DIRECTORY.glob("*.txt")))


@cache
def builtin(name: str) -> Distribution:
    """Return the distribution of that name. Raises KeyError for a name that is not among `names()`."""
    if name not in names():
        raise KeyError(name)
    path = DIRECTORY / f"{name}.txt"
    return replace(read(path.read_text(encoding="utf-8"), str(path)), name=name)
