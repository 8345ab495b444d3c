"""Reading one mapping of a lab: each key by its record, whatever is wrong recorded with its place and what would be
right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from fabriclab.keys.mappings import Key, Keys
from fabriclab.keys.values import Plain
from fabriclab.keys.wording import did_you_mean, listed, nearest
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value, must_be
from fabriclab.lab.reading.problems import Place, Problems

T = TypeVar("T")
R = TypeVar("R", bound="Record")


class Record(Protocol):
    """A dataclass of what was written at the keys of a mapping."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclass(frozen=True)
class Written(Generic[T]):
    """A value with the key and place it was written at, so that a later check can point there."""

    value: T
    key: str
    text: str
    place: Place

    def complain(self, problems: Problems, message: str) -> None:
        """Record that this value is wrong."""
        problems.add(self.place, self.key, message, self.text)


def value_or(written: Written[T] | None, default: T) -> T:
    """Return what was written, else the default."""
    return default if written is None else written.value


def value_of(written: Written[T] | None) -> T | None:
    """Return what was written, None when nothing was."""
    return None if written is None else written.value


class Section:
    """A mapping that is being read. Unknown keys are recorded at once, with the nearest valid word."""

    def __init__(self, value: Value, key: str, problems: Problems, known: Keys | Sequence[str] | None) -> None:
        """Wrap `value`; `known` are the valid keys, None where any may stand (names)."""
        known = known.names if isinstance(known, Keys) else known
        self.key = key
        self.problems = problems
        self._known = known
        self._is_mapping = isinstance(value, MappingValue)
        self.place = value.place
        self.mapping = value if isinstance(value, MappingValue) else MappingValue({}, {}, value.place)
        if not isinstance(value, MappingValue):
            wanted = f"a mapping (keys: {listed(known)})" if known else "a mapping, with lines such as `key: value`"
            problems.add(value.place, key, must_be(wanted, value))
        for name in self.mapping.entries:
            if known is not None and name not in known:
                problems.add(
                    self.mapping.key_place(name), self.path(name), f"unknown key; {did_you_mean(name, known)}", name
                )

    def __contains__(self, name: str) -> bool:
        return name in self.mapping.entries

    def names(self) -> list[str]:
        """Return all keys in the order of the file."""
        return list(self.mapping.entries)

    def path(self, name: str) -> str:
        """Return the dotted key of `name`."""
        return f"{self.key}.{name}" if self.key else name

    def get(self, name: str) -> Value | None:
        """Return the value of `name` as it stands."""
        return self.mapping.entries.get(name)

    def complain(self, name: str, message: str) -> None:
        """Record that `name`, or its absence, is wrong."""
        value = self.get(name)
        text = value.text if isinstance(value, ScalarValue) else ""
        place = self.place if value is None else value.place
        self.problems.add(place, self.path(name), message, text)

    def require(self, *names: str, example: str = "") -> None:
        """Record each of `names` that is missing, unless a key stands there that is probably that one mistyped."""
        for name in names if self._is_mapping else ():
            if name not in self and not mistyped(name, self.mapping, self._known or ()):
                self.complain(name, f"missing; write {example or name + ': ...'}")

    def section(self, name: str, known: Keys | Sequence[str] | None) -> Section | None:
        """Return the mapping below `name`; None when there is none."""
        value = self.get(name)
        return None if value is None else Section(value, self.path(name), self.problems, known)

    def items(self, name: str) -> list[tuple[str, Value]] | None:
        """Return the list below `name`, each item with its key (`links[3]`); None when it is absent or no list."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, SequenceValue):
            self.complain(name, must_be("a list", value))
            return None
        return [(f"{self.path(name)}[{index}]", item) for index, item in enumerate(value.items)]

    def scalar(self, name: str, wanted: str) -> Written[str] | None:
        """Return the text of `name`; None when it is absent, or after recording that it is not a plain value."""
        value = self.get(name)
        return None if value is None else as_text(value, self.path(name), self.problems, wanted)

    def read(self, key: Key[T]) -> Written[T] | None:
        """Return what stands at a key; None when it is absent or wrong, which is recorded."""
        assert isinstance(key.value, Plain), f"{key.name} is not a plain value"
        return self.value(key.name, key.value)

    def value(self, name: str, kind: Plain[T]) -> Written[T] | None:
        """Return a value of a kind below `name`; None when it is absent or wrong, which is recorded."""
        return self.convert(name, kind.wanted, kind.parse)

    def convert(self, name: str, wanted: str, convert: Callable[[str], T]) -> Written[T] | None:
        """Return `convert` of the text of `name`; a ValueError of it is recorded with its message."""
        written = self.scalar(name, wanted)
        if written is None:
            return None
        try:
            return Written(convert(written.text), written.key, written.text, written.place)
        except ValueError as error:
            written.complain(self.problems, str(error))
            return None

    def fill(self, record: type[R], keys: Keys, **others: Any) -> R:
        """Return a record whose fields are what stands at the plain keys of their names; `others` are the rest."""
        names = set(record.__dataclass_fields__) - set(others)
        read = {key.name: self.read(key) for key in keys.keys if key.name in names and isinstance(key.value, Plain)}
        return record(**read, **others)

    def words(self, name: str) -> list[Written[str]] | None:
        """Return a list of texts; a single text is a list whose items are separated by commas (as
        on the command line)."""
        value = self.get(name)
        return None if value is None else as_words(value, self.path(name), self.problems)


def as_text(value: Value, key: str, problems: Problems, wanted: str) -> Written[str] | None:
    """Return a scalar's text without outer blanks; anything else, and nothing, is recorded."""
    if not isinstance(value, ScalarValue) or value.is_null:
        problems.add(value.place, key, must_be(wanted, value))
        return None
    return Written(value.text.strip(), key, value.text.strip(), value.place)


def as_words(value: Value, key: str, problems: Problems) -> list[Written[str]] | None:
    """Return the texts of a list, or of a text whose parts are separated by commas; None after recording a problem."""
    if isinstance(value, SequenceValue):
        words = [as_text(item, f"{key}[{index}]", problems, "a word") for index, item in enumerate(value.items)]
        if not words:
            problems.add(value.place, key, "the list is empty; name at least one")
        return [word for word in words if word is not None] or None
    written = as_text(value, key, problems, "a word or a list of words")
    if written is None:
        return None
    return [Written(part.strip(), key, written.text, written.place) for part in written.text.split(",")]


def mistyped(name: str, mapping: MappingValue, known: Sequence[str]) -> bool:
    """Return whether an unknown key of `mapping` was probably meant to be `name`;
    that key is complained about already."""
    return any(key not in known and nearest(key, known) == name for key in mapping.entries)


def first_line(text: str) -> str:
    """Return a text that stays on one line of a message or a title."""
    return " ".join(text.split())


def duplicates(words: Iterable[Written[str]]) -> list[Written[str]]:
    """Return the words that stand for at least the second time."""
    seen: set[str] = set()
    again = []
    for word in words:
        if word.value in seen:
            again.append(word)
        seen.add(word.value)
    return again
