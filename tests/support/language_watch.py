"""Readers at work: which keys they know, and what they ask of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from fabriclab.lab.reading.document import ScalarValue, Value
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section
from fabriclab.units import Dimension


@dataclass(frozen=True)
class Asked:
    """What a reader asked of a key: the name of Section's method, and its words or bounds."""

    file: str
    key: str
    kind: str
    """The `kind` that stands beside the key; empty where there is none."""
    method: str
    details: tuple[Any, ...] = ()


@dataclass
class Watch:
    """What was asked while it was watched."""

    asked: set[Asked] = field(default_factory=set)
    known: dict[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)
    """The keys that may stand in a mapping, by file, the mapping's own key and its kind."""


def kind_of(section: Section) -> str:
    value = section.get("kind")
    return value.text if isinstance(value, ScalarValue) else ""


def details_of(method: str, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Return the words or bounds among a method's arguments."""
    if method == "quantity":
        dimension, least, most, _ = arguments
        assert isinstance(dimension, Dimension)
        return dimension.name, least, most
    if method == "choice":
        words, *aliases = arguments
        return tuple(words), tuple(aliases[0] if aliases and aliases[0] else ())
    return tuple(arguments[:2])


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Record what readers ask of sections while this lasts."""
    watch = Watch()
    make = Section.__init__

    def init(self: Section, value: Value, key: str, problems: Problems, known: Sequence[str] | None) -> None:
        make(self, value, key, problems, known)
        if known is not None and self._is_mapping:
            watch.known[self.place.file, key, kind_of(self)] = tuple(known)

    def noting(method: str) -> Callable[..., Any]:
        original = getattr(Section, method)

        def ask(self: Section, name: str, *arguments: Any) -> Any:
            # Some keys are asked of every kind of figure, and refused as unknown.
            if self._known is None or name in self._known:
                details = details_of(method, arguments)
                watch.asked.add(Asked(self.place.file, self.path(name), kind_of(self), method, details))
            return original(self, name, *arguments)

        return ask

    with monkeypatch.context() as patched:
        patched.setattr(Section, "__init__", init)
        for method in ("quantity", "count", "percent", "choice", "flag"):
            patched.setattr(Section, method, noting(method))
        yield watch
