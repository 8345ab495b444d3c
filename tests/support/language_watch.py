"""Readers at work: which keys they know, and what they ask of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from fabriclab.keys.mappings import Keys
from fabriclab.keys.values import Plain
from fabriclab.lab.reading.document import ScalarValue, Value
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section, Written


class Asked(NamedTuple):
    """What a reader asked of a key."""

    file: str
    key: str
    kind: str
    """The `kind` that stands beside the key; empty where there is none."""
    value: Plain[Any]


@dataclass
class Watch:
    """What was asked while it was watched."""

    asked: list[Asked] = field(default_factory=list)
    touched: set[tuple[str, str]] = field(default_factory=set)
    """The keys at which a reader looked in any way, by file."""
    known: dict[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)
    """The keys that may stand in a mapping, by file, the mapping's own key and its kind."""


def kind_of(section: Section) -> str:
    value = section.mapping.entries.get("kind")
    return value.text if isinstance(value, ScalarValue) else ""


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Record what readers ask of sections while this lasts."""
    watch = Watch()
    make, ask, look = Section.__init__, Section.value, Section.get

    def init(self: Section, value: Value, key: str, problems: Problems, known: Keys | Sequence[str] | None) -> None:
        make(self, value, key, problems, known)
        if self._known is not None and self._is_mapping:
            watch.known[self.place.file, key, kind_of(self)] = tuple(self._known)

    def asking(self: Section, name: str, kind: Plain[Any]) -> Written[Any] | None:
        # Some keys are asked of every kind of figure, and refused as unknown.
        if self._known is None or name in self._known:
            watch.asked.append(Asked(self.place.file, self.path(name), kind_of(self), kind))
        return ask(self, name, kind)

    def looking(self: Section, name: str) -> Value | None:
        watch.touched.add((self.place.file, self.path(name)))
        return look(self, name)

    with monkeypatch.context() as patched:
        patched.setattr(Section, "__init__", init)
        patched.setattr(Section, "value", asking)
        patched.setattr(Section, "get", looking)
        yield watch
