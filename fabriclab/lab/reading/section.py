"""Reading one mapping of a lab: each key by its meaning, whatever is wrong recorded with its place
and what would be right."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value, describe
from fabriclab.lab.reading.percent import format_percent, parse_percent
from fabriclab.lab.reading.problems import Place, Problems, did_you_mean, listed, nearest, shown
from fabriclab.units import DURATION, RATE, SIZE, Dimension, UnitError, format_quantity, parse_quantity

T = TypeVar("T")
W = TypeVar("W", bound=str)
WHOLE_NUMBER = re.compile(r"[0-9]{1,18}")
TRUE_WORDS = ("true", "on", "yes")
FALSE_WORDS = ("false", "off", "no")


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

    def __init__(self, value: Value, key: str, problems: Problems, known: Sequence[str] | None) -> None:
        """Wrap `value`; `known` are the valid keys, None where any may stand (names)."""
        self.key = key
        self.problems = problems
        self._known = known
        self._is_mapping = isinstance(value, MappingValue)
        self.place = value.place
        self.mapping = value if isinstance(value, MappingValue) else MappingValue({}, {}, value.place)
        if not isinstance(value, MappingValue):
            wanted = f" of {listed(known)}" if known else ", a line of it is `key: value`"
            problems.add(value.place, key, f"{describe(value)} stands here; a mapping is wanted{wanted}")
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

    def section(self, name: str, known: Sequence[str] | None) -> Section | None:
        """Return the mapping below `name`; None when there is none."""
        value = self.get(name)
        return None if value is None else Section(value, self.path(name), self.problems, known)

    def items(self, name: str) -> list[tuple[str, Value]] | None:
        """Return the list below `name`, each item with its key (`links[3]`); None when it is absent or no list."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, SequenceValue):
            self.complain(name, f"{describe(value)} stands here; a list is wanted")
            return None
        return [(f"{self.path(name)}[{index}]", item) for index, item in enumerate(value.items)]

    def scalar(self, name: str, wanted: str) -> Written[str] | None:
        """Return the text of `name`; None when it is absent, or after recording that it is no plain value."""
        value = self.get(name)
        return None if value is None else as_text(value, self.path(name), self.problems, wanted)

    def read(self, name: str, wanted: str, convert: Callable[[str], T]) -> Written[T] | None:
        """Return `convert` of the text of `name`; a ValueError of it is recorded with its message."""
        written = self.scalar(name, wanted)
        if written is None:
            return None
        try:
            return Written(convert(written.text), written.key, written.text, written.place)
        except ValueError as error:
            written.complain(self.problems, str(error))
            return None

    def size(self, name: str, minimum: int = 0, maximum: int | None = None, why: str = "") -> Written[int] | None:
        """Return the size below `name` in bytes; None when it is absent or wrong, which is recorded."""
        return self.quantity(name, SIZE, minimum, maximum, why)

    def rate(self, name: str, minimum: int = 0, maximum: int | None = None, why: str = "") -> Written[int] | None:
        """Return the rate below `name` in bit/s; None when it is absent or wrong, which is recorded."""
        return self.quantity(name, RATE, minimum, maximum, why)

    def duration(self, name: str, minimum: int = 0, maximum: int | None = None, why: str = "") -> Written[int] | None:
        """Return the time below `name` in nanoseconds; None when it is absent or wrong, which is recorded."""
        return self.quantity(name, DURATION, minimum, maximum, why)

    def quantity(
        self, name: str, dimension: Dimension, minimum: int, maximum: int | None, why: str
    ) -> Written[int] | None:
        """Return a quantity within bounds, in the smallest unit of its dimension."""

        def convert(text: str) -> int:
            value = parse_quantity(text, dimension)
            if value < minimum or (maximum is not None and value > maximum):
                raise UnitError(
                    _out_of_bounds(
                        text, _bounds(minimum, maximum, lambda bound: format_quantity(bound, dimension)), why
                    )
                )
            return value

        return self.read(name, f"a {dimension.name} such as {dimension.example!r}", convert)

    def count(self, name: str, minimum: int, maximum: int, why: str = "") -> Written[int] | None:
        """Return a whole number within bounds."""

        def convert(text: str) -> int:
            bounds = _bounds(minimum, maximum, str)
            if WHOLE_NUMBER.fullmatch(text) is None:
                raise ValueError(f"{shown(text)} is no whole number; write one {bounds}")
            if not minimum <= int(text) <= maximum:
                raise ValueError(_out_of_bounds(text, bounds, why))
            return int(text)

        return self.read(name, "a whole number", convert)

    def percent(self, name: str, minimum: int, maximum: int, why: str = "") -> Written[int] | None:
        """Return a share in parts of a million; so are the bounds."""

        def convert(text: str) -> int:
            bounds = _bounds(minimum, maximum, format_percent)
            ppm = parse_percent(text)
            if ppm is None:
                raise ValueError(f"{shown(text)} is no percentage; write one {bounds}, such as '40 %'")
            if not minimum <= ppm <= maximum:
                raise ValueError(_out_of_bounds(text, bounds, why))
            return ppm

        return self.read(name, "a percentage such as '40 %'", convert)

    def choice(self, name: str, words: Sequence[W], aliases: Mapping[str, W] | None = None) -> Written[W] | None:
        """Return the one of `words` that stands below `name`, or that its alias stands for; None when it is absent or
        none of them, which is recorded."""
        valid: dict[str, W] = {**dict(zip(words, words, strict=True)), **(aliases or {})}

        def convert(text: str) -> W:
            if text not in valid:
                near = nearest(text, words)
                hint = f"did you mean {near!r}? " if near else ""
                raise ValueError(f"{shown(text)} is unknown; {hint}valid here: {listed(words)}")
            return valid[text]

        return self.read(name, f"one of {listed(words)}", convert)

    def flag(self, name: str) -> Written[bool] | None:
        """Return the truth value below `name`; None when it is absent or no such, which is recorded."""

        def convert(text: str) -> bool:
            if text.lower() not in TRUE_WORDS + FALSE_WORDS:
                raise ValueError(f"{shown(text)} is neither true nor false")
            return text.lower() in TRUE_WORDS

        return self.read(name, "true or false", convert)

    def words(self, name: str) -> list[Written[str]] | None:
        """Return a list of texts; a single text is a list whose items are separated by commas (as
        on the command line)."""
        value = self.get(name)
        return None if value is None else as_words(value, self.path(name), self.problems)


def as_text(value: Value, key: str, problems: Problems, wanted: str) -> Written[str] | None:
    """Return a scalar's text without outer blanks; anything else, and nothing, is recorded."""
    if not isinstance(value, ScalarValue) or value.is_null:
        problems.add(value.place, key, f"{describe(value)} stands here; {wanted} is wanted")
        return None
    return Written(value.text.strip(), key, value.text.strip(), value.place)


def as_words(value: Value, key: str, problems: Problems) -> list[Written[str]] | None:
    """Return the texts of a list, or of a text whose parts are separated by commas; None after recording a problem."""
    if isinstance(value, SequenceValue):
        words = [as_text(item, f"{key}[{index}]", problems, "a word") for index, item in enumerate(value.items)]
        if not words:
            problems.add(value.place, key, "an empty list; name at least one")
        return [word for word in words if word is not None] or None
    written = as_text(value, key, problems, "a word or a list of words")
    if written is None:
        return None
    return [Written(part.strip(), key, written.text, written.place) for part in written.text.split(",")]


def mistyped(name: str, mapping: MappingValue, known: Sequence[str]) -> bool:
    """Return whether an unknown key of `mapping` was probably meant to be `name`;
    that key is complained about already."""
    return any(key not in known and nearest(key, known) == name for key in mapping.entries)


def _bounds(minimum: int, maximum: int | None, show: Callable[[int], str]) -> str:
    return f"of at least {show(minimum)}" if maximum is None else f"from {show(minimum)} to {show(maximum)}"


def _out_of_bounds(text: str, bounds: str, why: str) -> str:
    return f"{shown(text)} is out of range; write one {bounds}" + (f" ({why})" if why else "")


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
