"""What may stand at a key: texts, words, alternatives and lists (quantities and numbers: `quantities.py`).

A value tells itself in words and as a JSON schema, reads a text, and returns the one form in which two texts that mean
the same are compared. YAML gives an editor numbers and truth values where the readers see texts, so a number may also
be a text in quotation marks here, as it may in a lab.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from fabriclab.keys.wording import listed, nearest, shown

Schema = dict[str, Any]
"""A JSON schema as Python's plain data."""
Scalar = str | int | bool
"""A value as a lab has it, and as values are compared."""
SCALAR_TYPES = ["string", "number", "boolean"]
"""What a plain value may be for an editor."""
T = TypeVar("T")


class OutOfRangeError(ValueError):
    """A text is a value of the kind, but lies outside its bounds."""


class Value(ABC, Generic[T]):
    """What may stand at a key; a reader makes a `T` of it."""

    @abstractmethod
    def schema(self) -> Schema:
        """Return its JSON schema, draft-07."""

    @abstractmethod
    def told(self) -> str:
        """Return it in words, such as `a duration from 1 ms to 120 s`."""

    def parts(self) -> Iterator[Value[Any]]:
        """Yield the values that it is made of."""
        yield from ()

    def canonical(self, text: str) -> Scalar | None:
        """Return the one form in which texts are compared: `64 KB` for `0.064 MB`. None: the text is no such value."""
        return None


class Plain(Value[T]):
    """A value that is written as one text."""

    @property
    def wanted(self) -> str:
        """What a message asks for where a mapping or a list stands."""
        return self.told()

    @abstractmethod
    def parse(self, text: str) -> T:
        """Return what a text means. Raises ValueError, which says what would be right."""

    def written(self, value: T) -> Scalar:
        """Return a value as a lab has it."""
        return str(value)

    def is_one(self, value: object) -> bool:
        """Return whether `parse` may return this."""
        return isinstance(value, str)

    def canonical(self, text: str) -> Scalar | None:
        """Return the one form in which texts are compared."""
        try:
            return self.written(self.parse(text.strip()))
        except ValueError:
            return None


class Shared(Value[T]):
    """What the schema has once, by a name, as many keys hold the same."""

    name: str

    @abstractmethod
    def body(self) -> Schema:
        """Return its JSON schema."""

    def schema(self) -> Schema:
        """Return a reference to what `body` returns."""
        return {"$ref": f"#/definitions/{self.name}"}


@dataclass(frozen=True)
class Text(Plain[str]):
    """Any plain value, or one of a pattern."""

    what: str
    pattern: str = ""
    """A regular expression of the whole text; empty: any."""
    wrong: str = ""
    """What is said of a text that is not of the pattern."""

    def schema(self) -> Schema:
        """Return its JSON schema."""
        if not self.pattern:
            return {"type": SCALAR_TYPES}
        found: Schema = {"type": "string", "pattern": f"^(?:{self.pattern})$"}
        return {**found, "patternErrorMessage": self.wrong} if self.wrong else found

    def told(self) -> str:
        """Return it in words."""
        return self.what

    def parse(self, text: str) -> str:
        """Return the text. Raises ValueError for one that is not of the pattern."""
        if self.pattern and re.fullmatch(self.pattern, text) is None:
            raise ValueError(f"{shown(text)} is not right; write {self.what}")
        return text


@dataclass(frozen=True)
class Word(Plain[T]):
    """One of several words. An alias stands for one of them and is not proposed."""

    words: Sequence[str]
    aliases: Mapping[str, str] = field(default_factory=dict, hash=False)
    meanings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a word becomes where it does not stand for itself, such as None for `off`."""

    def schema(self) -> Schema:
        """Return its JSON schema."""
        # YAML reads a word of digits as a number.
        words = [int(word) if word.isdecimal() else word for word in self.words]
        others = [*self.aliases, *(word for word in self.words if word.isdecimal())]
        proposed: Schema = {"enum": words} if len(words) > 1 else {"const": words[0]}
        if not others:
            return proposed
        # An editor proposes what stands in `enum`, and need not propose aliases.
        flag: list[Schema] = [{"type": "boolean"}] if self.aliases else []
        return {"anyOf": [proposed, *flag, {"type": "string", "pattern": f"^(?:{'|'.join(others)})$"}]}

    def told(self) -> str:
        """Return the words."""
        *others, last = (f"`{word}`" for word in self.words)
        return f"{', '.join(others)} or {last}" if others else last

    @property
    def wanted(self) -> str:
        """The words."""
        return f"one of {listed(self.words)}" if len(self.words) > 1 else f"'{self.words[0]}'"

    def parse(self, text: str) -> T:
        """Return what a word, or its alias, means. Raises ValueError for any other."""
        word = self._word(text)
        if word is None:
            near = nearest(text, self.words)
            hint = f"did you mean {near!r}? " if near else ""
            raise ValueError(f"{shown(text)} is unknown; {hint}valid here: {listed(self.words)}")
        found: T = self.meanings.get(word, word)
        return found

    def written(self, value: T) -> Scalar:
        """Return the word that means this."""
        return next((word for word, meaning in self.meanings.items() if meaning == value), str(value))

    def is_one(self, value: object) -> bool:
        """Return whether a word means this."""
        return value in [self.meanings.get(word, word) for word in self.words]

    def canonical(self, text: str) -> Scalar | None:
        """Return the word itself."""
        return self._word(text.strip())

    def _word(self, text: str) -> str | None:
        return text if text in self.words else self.aliases.get(text)


@dataclass(frozen=True)
class Either(Plain[T]):
    """One of several kinds of value."""

    values: tuple[Value[Any], ...]
    refusal: str = ""
    """What is said of a text that is none of them, behind it: `is not a window; write ...`. Empty: what the first kind
    says."""

    def schema(self) -> Schema:
        """Return its JSON schema."""
        return {"anyOf": [value.schema() for value in self.values]}

    def told(self) -> str:
        """Return the kinds."""
        return ", or ".join(value.told() for value in self.values)

    def parts(self) -> Iterator[Value[Any]]:
        """Yield the kinds."""
        yield from self.values

    @property
    def wanted(self) -> str:
        """The kinds."""
        return ", or ".join(value.wanted if isinstance(value, Plain) else value.told() for value in self.values)

    def parse(self, text: str) -> T:
        """Return what a text means to the first kind that takes it, words first. Raises ValueError where none does."""
        kinds = self._plain()
        errors: dict[int, ValueError] = {}
        for kind in self._words_first():
            try:
                found: T = kind.parse(text)
            except ValueError as error:
                errors[kinds.index(kind)] = error
            else:
                return found
        outside = next((error for error in errors.values() if isinstance(error, OutOfRangeError)), None)
        if outside is None and self.refusal:
            raise ValueError(f"{shown(text)} {self.refusal}")
        words = [word for kind in kinds if isinstance(kind, Word) for word in kind.words]
        told = outside or errors[0]
        quoted = " or ".join(f"'{word}'" for word in words)
        raise told if not words or isinstance(kinds[0], Word) else ValueError(f"{told}, or {quoted}")

    def written(self, value: T) -> Scalar:
        """Return the value as the first kind that has such a one writes it, words first."""
        return next(one for one in self._words_first() if one.is_one(value)).written(value)

    def is_one(self, value: object) -> bool:
        """Return whether one of the kinds may be this."""
        return any(one.is_one(value) for one in self._plain())

    def canonical(self, text: str) -> Scalar | None:
        """Return the form that the first kind that takes the text has."""
        forms = (value.canonical(text) for value in self.values)
        return next((form for form in forms if form is not None), None)

    def _plain(self) -> list[Plain[Any]]:
        return [value for value in self.values if isinstance(value, Plain)]

    def _words_first(self) -> list[Plain[Any]]:
        return sorted(self._plain(), key=lambda kind: not isinstance(kind, Word))


@dataclass(frozen=True)
class Several(Value[tuple[T, ...]]):
    """A list of plain values; also one text whose items are separated by commas, as on the command line."""

    item: Value[T]
    what: str
    least: int = 1
    text: Value[Any] | None = None
    """What the one text may be; None: any plain value."""
    is_set: bool = False
    """Whether the order of the items says nothing."""

    def schema(self) -> Schema:
        """Return its JSON schema."""
        one = {"type": SCALAR_TYPES} if self.text is None else self.text.schema()
        return {"anyOf": [one, {"type": "array", "items": self.item.schema(), "minItems": self.least}]}

    def told(self) -> str:
        """Return it in words."""
        return self.what

    def parts(self) -> Iterator[Value[Any]]:
        """Yield what an item may be."""
        yield self.item

    def canonical(self, text: str) -> Scalar | None:
        """Return the items, each in its own form; of a set in their order."""
        words = [word.strip() for word in text.split(",")]
        forms = [word if (form := self.item.canonical(word)) is None else form for word in words]
        if len(forms) == 1:
            return forms[0] if not self.is_set else str(forms[0])
        return ", ".join(map(str, sorted(forms, key=_in_order) if self.is_set else forms))


@dataclass(frozen=True)
class Items(Value[tuple[T, ...]]):
    """A list, nothing else."""

    item: Value[T]
    what: str
    least: int = 0

    def schema(self) -> Schema:
        """Return its JSON schema."""
        return {"type": "array", "items": self.item.schema(), "minItems": self.least}

    def told(self) -> str:
        """Return it in words."""
        return self.what

    def parts(self) -> Iterator[Value[Any]]:
        """Yield what an item may be."""
        yield self.item


def _in_order(form: Scalar) -> tuple[bool, Scalar]:
    return isinstance(form, str), form


NONE = "none"
NONE_WORD: Word[None] = Word((NONE,), meanings={NONE: None})
"""The word that gives a value, or a part, up."""


def or_none(value: Value[T], refusal: str = "") -> Either[T | None]:
    """Return the value, or the word that gives it up."""
    return Either((value, NONE_WORD), refusal)
