"""Mutants of labs: what the schema refuses the reader refuses, and of a mutant's shape both think the same."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from editors_view import complaints
from language_samples import find, mappings
from shipped_labs import shipped_lab

from fabriclab.keys.mappings import Keys, Kinds
from fabriclab.lab import LabError
from fabriclab.lab.keys import EXPERIMENT
from fabriclab.lab.lab import Lab, _Documents, _read_lab
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value
from fabriclab.lab.reading.problems import Place, Problems

LABS = ("incast", "dctcp-queue", "bufferbloat", "shared-buffer", "link-failure", "query-mix")
MUTANTS = 120
"""Of each lab."""
AT = Place("mutant")
WRONG = ("zzz", "12", "12 parsecs", "-5", "1e9", "64 kbps", "3 ms", "5 MB", "40 %", "true", "7..3", "")
"""Texts that few keys take."""
OF_SHAPE = (
    *("unknown key", "must be a mapping", "must be a list", ", not a mapping", ", not a list", ", but is empty"),
    "missing; write title",
)
"""What the reader says of a wrong shape."""


@dataclass(frozen=True)
class Mutant:
    """A document with one thing changed."""

    document: MappingValue
    what: str
    is_shape: bool
    """Whether what was changed is a key's name or what a value is, not which value it is."""


def places(value: Value, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every value below."""
    entries: Sequence[tuple[str | int, Value]] = (
        list(value.entries.items())
        if isinstance(value, MappingValue)
        else list(enumerate(value.items))
        if isinstance(value, SequenceValue)
        else []
    )
    for name, below in entries:
        yield (*path, name)
        yield from places(below, (*path, name))


def at(value: Value, path: Sequence[str | int]) -> Value:
    for word in path:
        value = value.entries[str(word)] if isinstance(value, MappingValue) else value.items[int(word)]  # type: ignore[union-attr]
    return value


def put(value: Value, path: Sequence[str | int], new: Value | None, name: str | None = None) -> Value:
    """Return a copy with another value at a path, or with the key there called otherwise."""
    first, *rest = path
    if isinstance(value, SequenceValue):
        items = [put(item, rest, new, name) if rest else new for item in value.items if item is value.items[int(first)]]
        every = [items.pop() if index == first else item for index, item in enumerate(value.items)]
        return SequenceValue(tuple(item for item in every if item is not None), AT)
    assert isinstance(value, MappingValue)
    entries = {}
    for key, below in value.entries.items():
        if key != first:
            entries[key] = below
        elif rest:
            entries[key] = put(below, rest, new, name)
        else:
            entries[name or key] = below if new is None else new
    return MappingValue(entries, {}, AT)


def is_fixed(document: Value, path: Sequence[str | int]) -> bool:
    """Whether the last word of a path is a key of the language, not a name of the author's."""
    dotted = ".".join(str(word) for word in path[:-1] if isinstance(word, str))
    if any("." in str(word) and ".." not in str(word) for word in path):
        return False
    parents = [one for value in find(EXPERIMENT, dotted) for one in mappings(value)]
    return bool(parents) and all(isinstance(one, Keys | Kinds) for one in parents)


def mistyped(word: str, draw: random.Random) -> str:
    at = draw.randrange(len(word))
    return word[:at] + draw.choice("abcdefgh_") + word[at + draw.randrange(2) :]


def mutant(document: MappingValue, draw: random.Random) -> Mutant:
    """Return a document with a key mistyped, or another value at a key."""
    path = draw.choice([one for one in places(document) if isinstance(one[-1], str)])
    dotted = ".".join(map(str, path))
    if draw.random() < 0.4 and is_fixed(document, path):
        name = f"{mistyped(str(path[-1]), draw)}_x"
        return Mutant(put(document, path, None, name), f"{dotted} called {name}", True)  # type: ignore[arg-type]
    shape: dict[str, Value] = {
        "a mapping": MappingValue({"zzz": ScalarValue("1", AT)}, {}, AT),
        "a list of lists": SequenceValue((SequenceValue((ScalarValue("1", AT),), AT),), AT),
    }
    if draw.random() < 0.3:
        what = draw.choice(list(shape))
        return Mutant(put(document, path, shape[what]), f"{dotted}: {what}", False)  # type: ignore[arg-type]
    text = draw.choice(WRONG)
    return Mutant(put(document, path, ScalarValue(text, AT)), f"{dotted}: {text!r}", False)  # type: ignore[arg-type]


def refused(lab: Lab, document: MappingValue) -> list[str]:
    """Return what the reader says of a document, and of each of its variants."""
    try:
        # As `parse_documents`, but for the topology, which no mutant changes.
        written = _Documents(lab.directory, lab.topology_document, document)
        list(_read_lab(written, lab.topology, True, Problems()).checked_points(()))
    except LabError as error:
        return [str(one) for one in error.mistakes]
    return []


@pytest.fixture(scope="module", params=LABS)
def mutants(request: pytest.FixtureRequest) -> tuple[Lab, list[Mutant]]:
    lab = shipped_lab(request.param)
    draw = random.Random(f"mutants of {request.param}")
    return lab, [mutant(lab.document, draw) for _ in range(MUTANTS)]


@pytest.mark.no_cover
def test_both_think_the_same_of_mutants(mutants: tuple[Lab, list[Mutant]]) -> None:
    lab, every = mutants
    wrong, found = [], 0
    for one in every:
        by_schema, by_reader = complaints(one.document), refused(lab, one.document)
        found += bool(by_schema)
        if by_schema and not by_reader:
            wrong.append(f"{one.what}: the schema alone refuses it: {by_schema[0]}")
        # What `where` may have below it are the lab's own parameters.
        of_shape = [message for message in by_reader if any(word in message for word in OF_SHAPE)]
        shape = one.is_shape or any(".where." not in message for message in of_shape)
        if by_reader and not by_schema and shape:
            wrong.append(f"{one.what}: the reader alone refuses it: {by_reader[0]}")
    assert "\n".join(wrong) == ""
    assert found > MUTANTS / 4
