"""What may stand at a key: quantities, numbers, words, lists. Each tells itself in words and as a JSON schema.

YAML gives an editor numbers and truth values where the readers see texts, so a number may also be a text in quotation
marks here, as it may in a lab. JSON schema cannot compare a quantity with its bounds: those are told in words, and the
reader checks them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabriclab.lab.reading.or_none import NONE as NONE_WORD
from fabriclab.lab.reading.percent import format_percent
from fabriclab.lab.reading.section import FALSE_WORDS, TRUE_WORDS
from fabriclab.units import Dimension, format_quantity

Schema = dict[str, Any]
"""A JSON schema as Python's plain data."""

_NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_SCALAR = ["string", "number", "boolean"]


class Value(ABC):
    """What may stand at a key."""

    @abstractmethod
    def schema(self) -> Schema:
        """Return its JSON schema, draft-07."""

    @abstractmethod
    def told(self) -> str:
        """Return it in words, such as `a duration from 1 ms to 120 s`."""

    def parts(self) -> Iterator[Value]:
        """Yield the values that it is made of."""
        yield from ()


class Shared(Value):
    """What the schema has once, by a name, as many keys hold the same."""

    name: str

    @abstractmethod
    def body(self) -> Schema:
        """Return its JSON schema."""

    def schema(self) -> Schema:
        """Return a reference to what `body` returns."""
        return {"$ref": f"#/definitions/{self.name}"}


@dataclass(frozen=True)
class Text(Value):
    """Any plain value, or one of a pattern."""

    what: str
    pattern: str = ""
    """A regular expression of the whole text; empty: any."""
    wrong: str = ""
    """What an editor says of a text that is not of the pattern."""

    def schema(self) -> Schema:
        """Return its JSON schema."""
        if not self.pattern:
            return {"type": _SCALAR}
        found: Schema = {"type": "string", "pattern": f"^(?:{self.pattern})$"}
        return {**found, "patternErrorMessage": self.wrong} if self.wrong else found

    def told(self) -> str:
        """Return it in words."""
        return self.what


@dataclass(frozen=True)
class Quantity(Shared):
    """A number with a unit; the bounds are in the smallest unit of the dimension."""

    dimension: Dimension
    least: int = 0
    most: int | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its dimension's: the bounds are no part of the schema."""
        return self.dimension.name

    def body(self) -> Schema:
        """Return its JSON schema: a text with one of the units, with a blank before it or without."""
        name, example = self.dimension.name, self.dimension.example
        wrong = f"A {name} is wanted here, a number with its unit ({self.dimension.all_units()}), such as {example}."
        return {
            "type": "string",
            "pattern": f"^{quantity_pattern(self.dimension)}$",
            "patternErrorMessage": wrong,
            "errorMessage": wrong,
        }

    def told(self) -> str:
        """Return its kind and its bounds."""
        least = format_quantity(self.least, self.dimension)
        if self.most is not None:
            return f"a {self.dimension.name} from {least} to {format_quantity(self.most, self.dimension)}"
        return f"a {self.dimension.name} of at least {least}" if self.least else f"a {self.dimension.name}"


@dataclass(frozen=True)
class Number(Value):
    """A whole number within bounds."""

    least: int
    most: int
    what: str = "a whole number"

    def schema(self) -> Schema:
        """Return its JSON schema."""
        return {
            "type": ["integer", "string"],
            "minimum": self.least,
            "maximum": self.most,
            "pattern": r"^\s*[0-9]{1,18}\s*$",
            "patternErrorMessage": f"A whole number from {self.least} to {self.most} is wanted here.",
        }

    def told(self) -> str:
        """Return its bounds."""
        return f"{self.what} from {self.least:,} to {self.most:,}"


@dataclass(frozen=True)
class Percent(Shared):
    """A share in per cent; the bounds are in parts of a million."""

    least: int
    most: int
    name = "percentage"

    def body(self) -> Schema:
        """Return its JSON schema."""
        return {
            "type": "string",
            "pattern": r"^\s*[0-9]{1,3}(?:\.[0-9]{1,8})?\s*%\s*$",
            "patternErrorMessage": "A percentage is wanted here, such as 40 %.",
            "errorMessage": "A percentage is wanted here, such as 40 %.",
        }

    def told(self) -> str:
        """Return its bounds."""
        return f"a percentage from {format_percent(self.least)} to {format_percent(self.most)}"


@dataclass(frozen=True)
class Factor(Value):
    """A number without a unit that may be a fraction, such as `1/8`."""

    what: str

    def schema(self) -> Schema:
        """Return its JSON schema."""
        number = r"[0-9]{1,12}(?:\.[0-9]{1,12})?"
        return {
            "type": ["number", "string"],
            "exclusiveMinimum": 0,
            "pattern": rf"^\s*{number}(?:\s*/\s*{number})?\s*$",
            "patternErrorMessage": f"{self.what.capitalize()} is wanted here, such as 1/8.",
        }

    def told(self) -> str:
        """Return it in words."""
        return self.what


@dataclass(frozen=True)
class Word(Value):
    """One of several words; an alias means one of them and is not proposed."""

    words: Sequence[str]
    aliases: Sequence[str] = ()

    def schema(self) -> Schema:
        """Return its JSON schema."""
        if not self.aliases:
            return {"enum": list(self.words)} if len(self.words) > 1 else {"const": self.words[0]}
        # An editor proposes what stands in `enum`, and need not propose aliases.
        others = "|".join(self.aliases)
        return {
            "anyOf": [{"enum": list(self.words)}, {"type": "boolean"}, {"type": "string", "pattern": f"^(?:{others})$"}]
        }

    def told(self) -> str:
        """Return the words."""
        *others, last = (f"`{word}`" for word in self.words)
        return f"{', '.join(others)} or {last}" if others else last


@dataclass(frozen=True)
class Flag(Shared):
    """A truth value."""

    name = "flag"

    def body(self) -> Schema:
        """Return its JSON schema: YAML's own, or one of the readers' words in any case."""
        words = "|".join("".join(f"[{c}{c.upper()}]" for c in word) for word in (*TRUE_WORDS, *FALSE_WORDS))
        return {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": rf"^\s*(?:{words})\s*$"}]}

    def told(self) -> str:
        """Return it in words."""
        return "`true` or `false`"


@dataclass(frozen=True)
class Either(Value):
    """One of several kinds of value."""

    values: tuple[Value, ...]

    def schema(self) -> Schema:
        """Return its JSON schema."""
        return {"anyOf": [value.schema() for value in self.values]}

    def told(self) -> str:
        """Return the kinds."""
        return ", or ".join(value.told() for value in self.values)

    def parts(self) -> Iterator[Value]:
        """Yield the kinds."""
        yield from self.values


@dataclass(frozen=True)
class Several(Value):
    """A list of plain values; also one text whose items are separated by commas, as on the command line."""

    item: Value
    what: str
    least: int = 1
    text: Value | None = None
    """What the one text may be; None: any plain value."""

    def schema(self) -> Schema:
        """Return its JSON schema."""
        one = {"type": _SCALAR} if self.text is None else self.text.schema()
        return {"anyOf": [one, {"type": "array", "items": self.item.schema(), "minItems": self.least}]}

    def told(self) -> str:
        """Return it in words."""
        return self.what

    def parts(self) -> Iterator[Value]:
        """Yield what an item may be."""
        yield self.item


@dataclass(frozen=True)
class Items(Value):
    """A list, nothing else."""

    item: Value
    what: str
    least: int = 0

    def schema(self) -> Schema:
        """Return its JSON schema."""
        return {"type": "array", "items": self.item.schema(), "minItems": self.least}

    def told(self) -> str:
        """Return it in words."""
        return self.what

    def parts(self) -> Iterator[Value]:
        """Yield what an item may be."""
        yield self.item


def quantity_pattern(dimension: Dimension) -> str:
    """Return a regular expression of a number with one of the units, with a blank before it or without."""
    units = sorted([*dimension.units, *dimension.binary, *dimension.spellings], key=len, reverse=True)
    return rf"\s*\+?{_NUMBER}\s*(?:{'|'.join(units)})\s*"


NONE = Word((NONE_WORD,))


def or_none(value: Value) -> Either:
    """Return the value, or the word that gives it up."""
    return Either((value, NONE))
