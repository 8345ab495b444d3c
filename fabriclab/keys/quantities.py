"""Numbers at keys: quantities with a unit, whole numbers, shares, factors, truth values.

JSON schema cannot compare a quantity with its bounds: those are told in words, and `parse` checks them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from fabriclab.keys.values import OutOfRangeError, Plain, Scalar, Schema, Shared, Text
from fabriclab.keys.wording import shown
from fabriclab.units import (
    DURATION,
    TOLERANCE,
    Dimension,
    format_fraction,
    format_percent,
    format_quantity,
    parse_fraction,
    parse_percent,
    parse_quantity,
)

WHOLE_NUMBER = re.compile(r"[0-9]{1,18}")
LARGEST = 10**18 - 1
"""The largest number that a lab can write; a `Number` with it has no upper bound of its own."""
TRUE_WORDS = ("true", "on", "yes")
FALSE_WORDS = ("false", "off", "no")
_NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_STEPS = {10**3: "microseconds", 10**6: "milliseconds", 10**9: "seconds"}
"""Whole numbers of what durations may have to be, in nanoseconds."""
_NOTHING = {DURATION.name: "0 s", TOLERANCE.name: "0 ppm"}
"""How zero reads where the smallest unit is not the usual one."""


@dataclass(frozen=True)
class Quantity(Shared[int], Plain[int]):
    """A number with a unit; the bounds are in the smallest unit of the dimension."""

    dimension: Dimension
    least: int = 0
    most: int | None = None
    why: str = ""
    """What a message says of the bounds."""
    step: int = 1
    """Of what it is a multiple."""
    why_step: str = ""

    @property
    def name(self) -> str:  # type: ignore[override] # a field of Shared, here of the dimension
        """Its dimension's: the bounds are not part of the schema."""
        return self.dimension.name

    def body(self) -> Schema:
        """Return its JSON schema: a text with one of the units, with a blank before it or without."""
        name, example = self.dimension.name, self.dimension.example
        wrong = f"Write a {name}: a number with its unit ({self.dimension.all_units()}), such as {example}."
        return {
            "type": "string",
            "pattern": f"^{quantity_pattern(self.dimension)}$",
            "patternErrorMessage": wrong,
            "errorMessage": wrong,
        }

    def told(self) -> str:
        """Return its kind and its bounds."""
        least = self._format(self.least)
        if self.most is not None:
            return f"a {self.dimension.name} from {least} to {self._format(self.most)}"
        return f"a {self.dimension.name} of at least {least}" if self.least else f"a {self.dimension.name}"

    @property
    def wanted(self) -> str:
        """Its kind with an example."""
        return f"a {self.dimension.name} such as {self.dimension.example!r}"

    def parse(self, text: str) -> int:
        """Return the quantity in the smallest unit. Raises ValueError."""
        value = parse_quantity(text, self.dimension)
        if value < self.least or (self.most is not None and value > self.most):
            raise out_of_range(text, bounds(self.least, self.most, self._format), self.why)
        if value % self.step and self.dimension is DURATION:
            raise OutOfRangeError(f"{shown(text)} is not a whole number of {_STEPS[self.step]}, {self.why_step}")
        if value % self.step:
            right = self._format(value - value % self.step)
            raise OutOfRangeError(f"{shown(text)} is not a multiple of {self._format(self.step)}; write {right}")
        return value

    def written(self, value: int) -> Scalar:
        """Return the quantity in the unit that reads best."""
        return self._format(value)

    def is_one(self, value: object) -> bool:
        """Return whether it is a whole number."""
        return isinstance(value, int) and not isinstance(value, bool)

    def canonical(self, text: str) -> Scalar | None:
        """Return the quantity in the unit that reads best, whatever its bounds: their error is the reader's."""
        try:
            return format_quantity(parse_quantity(text, self.dimension), self.dimension)
        except ValueError:
            return None

    def _format(self, value: int) -> str:
        # Nothing of it reads best in the unit that people think in.
        nothing = _NOTHING.get(self.dimension.name)
        return nothing if value == 0 and nothing is not None else format_quantity(value, self.dimension)


@dataclass(frozen=True)
class Number(Plain[int]):
    """A whole number within bounds."""

    least: int
    most: int
    what: str = "a whole number"
    why: str = ""

    def schema(self) -> Schema:
        """Return its JSON schema."""
        return {
            "type": ["integer", "string"],
            "minimum": self.least,
            "maximum": self.most,
            "pattern": r"^\s*[0-9]{1,18}\s*$",
            "patternErrorMessage": f"Write a whole number from {self.least} to {self.most}.",
        }

    def told(self) -> str:
        """Return its bounds."""
        if self.most == LARGEST:
            return f"{self.what} of at least {self.least:,}"
        return f"{self.what} from {self.least:,} to {self.most:,}"

    @property
    def wanted(self) -> str:
        """Its kind."""
        return "a whole number"

    def parse(self, text: str) -> int:
        """Return the number. Raises ValueError."""
        within = bounds(self.least, self.most, str)
        if WHOLE_NUMBER.fullmatch(text) is None:
            raise ValueError(f"{shown(text)} is not a whole number; write one {within}")
        if not self.least <= int(text) <= self.most:
            raise out_of_range(text, within, self.why)
        return int(text)

    def written(self, value: int) -> Scalar:
        """Return the number itself."""
        return value

    def is_one(self, value: object) -> bool:
        """Return whether it is a whole number."""
        return isinstance(value, int) and not isinstance(value, bool)

    def canonical(self, text: str) -> Scalar | None:
        """Return the number, whatever its bounds."""
        return int(text) if WHOLE_NUMBER.fullmatch(text.strip()) else None


@dataclass(frozen=True)
class Percent(Shared[int], Plain[int]):
    """A share in per cent; the bounds are in parts of a million."""

    least: int
    most: int
    why: str = ""
    name = "percentage"

    def body(self) -> Schema:
        """Return its JSON schema."""
        return {
            "type": "string",
            "pattern": r"^\s*[0-9]{1,3}(?:\.[0-9]{1,8})?\s*%\s*$",
            "patternErrorMessage": "Write a percentage, such as 40 %.",
            "errorMessage": "Write a percentage, such as 40 %.",
        }

    def told(self) -> str:
        """Return its bounds."""
        return f"a percentage from {format_percent(self.least)} to {format_percent(self.most)}"

    @property
    def wanted(self) -> str:
        """Its kind with an example."""
        return "a percentage such as '40 %'"

    def parse(self, text: str) -> int:
        """Return parts of a million. Raises ValueError."""
        within = bounds(self.least, self.most, format_percent)
        ppm = parse_percent(text)
        if ppm is None:
            raise ValueError(f"{shown(text)} is not a percentage; write one {within}, such as '40 %'")
        if not self.least <= ppm <= self.most:
            raise out_of_range(text, within, self.why)
        return ppm

    def written(self, value: int) -> Scalar:
        """Return the share in per cent."""
        return format_percent(value)

    def is_one(self, value: object) -> bool:
        """Return whether it is a whole number."""
        return isinstance(value, int)

    def canonical(self, text: str) -> Scalar | None:
        """Return the share in per cent, whatever its bounds."""
        ppm = parse_percent(text.strip())
        return None if ppm is None else format_percent(ppm)


@dataclass(frozen=True)
class Factor(Plain[Fraction]):
    """A number without a unit that may be a fraction, such as `1/8`."""

    what: str
    least: Fraction
    most: Fraction

    def schema(self) -> Schema:
        """Return its JSON schema."""
        number = r"[0-9]{1,12}(?:\.[0-9]{1,12})?"
        return {
            "type": ["number", "string"],
            "exclusiveMinimum": 0,
            "pattern": rf"^\s*{number}(?:\s*/\s*{number})?\s*$",
            "patternErrorMessage": f"Write {self.what}, such as 1/8.",
        }

    def told(self) -> str:
        """Return it in words."""
        return self.what

    @property
    def wanted(self) -> str:
        """Its bounds with an example."""
        return f"{self.what}, such as 1/8"

    def parse(self, text: str) -> Fraction:
        """Return the exact number. Raises ValueError."""
        factor = parse_fraction(text)
        if factor is None:
            raise ValueError(f"{shown(text)} is not a factor; write {self.wanted}")
        if not self.least <= factor <= self.most:
            raise OutOfRangeError(f"{shown(text)} is out of range; write {self.wanted}")
        return factor

    def written(self, value: Fraction) -> Scalar:
        """Return the number as a fraction, a whole one as it is."""
        return format_fraction(value)

    def is_one(self, value: object) -> bool:
        """Return whether it is a fraction."""
        return isinstance(value, Fraction)

    def canonical(self, text: str) -> Scalar | None:
        """Return the shortened fraction, whatever its bounds."""
        factor = parse_fraction(text)
        return None if factor is None else format_fraction(factor)


@dataclass(frozen=True)
class Flag(Shared[bool], Plain[bool]):
    """A truth value."""

    name = "flag"

    def body(self) -> Schema:
        """Return its JSON schema: YAML's own, or one of the readers' words in any case."""
        words = "|".join("".join(f"[{c}{c.upper()}]" for c in word) for word in (*TRUE_WORDS, *FALSE_WORDS))
        return {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": rf"^\s*(?:{words})\s*$"}]}

    def told(self) -> str:
        """Return it in words."""
        return "`true` or `false`"

    @property
    def wanted(self) -> str:
        """Its words."""
        return "true or false"

    def parse(self, text: str) -> bool:
        """Return the truth value. Raises ValueError."""
        if text.lower() not in TRUE_WORDS + FALSE_WORDS:
            raise ValueError(f"{shown(text)} is neither true nor false")
        return text.lower() in TRUE_WORDS

    def written(self, value: bool) -> Scalar:
        """Return the truth value itself."""
        return value

    def is_one(self, value: object) -> bool:
        """Return whether it is a truth value."""
        return isinstance(value, bool)


class NamesOrCount(Text):
    """A name, or how many are meant."""

    def canonical(self, text: str) -> Scalar | None:
        """Return the name, or the number."""
        return int(text) if WHOLE_NUMBER.fullmatch(text) else text


def quantity_pattern(dimension: Dimension) -> str:
    """Return a regular expression of a number with one of the units, with a blank before it or without."""
    units = sorted([*dimension.units, *dimension.binary, *dimension.spellings], key=len, reverse=True)
    return rf"\s*\+?{_NUMBER}\s*(?:{'|'.join(units)})\s*"


def bounds(least: int, most: int | None, show: Callable[[int], str]) -> str:
    """Return bounds in words."""
    return f"of at least {show(least)}" if most is None else f"from {show(least)} to {show(most)}"


def out_of_range(text: str, within: str, why: str) -> OutOfRangeError:
    """Return the error of a text outside its bounds."""
    return OutOfRangeError(f"{shown(text)} is out of range; write one {within}" + (f" ({why})" if why else ""))
