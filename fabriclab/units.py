"""Rates, sizes and durations as people write them: `1 Gbps`, `64 KB`, `25 us`.

Shares (`0.1 %`) and factors (`1/8`) stand here, too. Everything is exact: a text becomes a whole number of bits per
second, bytes, nanoseconds or parts of a million, or a fraction, or it is an error. A quantity without a unit is always
an error: a bare `64` has misled too many experiments. `KB` is 1000 bytes and `KiB` is 1024 (IEC 80000-13); rates are
decimal, as everywhere in networking.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction

_NUMBER_AND_UNIT = re.compile(r"(?P<sign>[+-]?)(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(?P<unit>[^\s0-9.][^\s]*)?")
_LARGEST = 2**63 - 1
"""The kernel counts in signed 64-bit numbers."""
_MOST_CHARACTERS = 40
"""Enough for any sensible quantity; bounds the work on hostile input."""


WHOLE_PPM = 10**6
_PPM_OF_PERCENT = 10_000
_PERCENT = re.compile(r"(?P<number>[0-9]{1,3}(?:\.[0-9]{1,8})?)\s*%")
_PLAIN_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,12})?"
_FRACTION = re.compile(rf"(?P<over>{_PLAIN_NUMBER})(?:\s*/\s*(?P<under>{_PLAIN_NUMBER}))?")


class UnitError(ValueError):
    """A text that is not a quantity of the wanted kind; the message says what would be right."""


@dataclass(frozen=True)
class Dimension:
    """A kind of quantity: its units from the smallest to the largest, and other spellings of them."""

    name: str
    units: Mapping[str, int]
    example: str
    spellings: Mapping[str, str] = field(default_factory=dict)
    binary: Mapping[str, int] = field(default_factory=dict)
    """Units that format_ uses only where the decimal ones would need many digits."""

    def scale(self, unit: str) -> int | None:
        """Return how many of the smallest unit one `unit` is; None for a unit of another kind."""
        canonical = self.spellings.get(unit, unit)
        return self.units.get(canonical, self.binary.get(canonical))

    def all_units(self) -> str:
        """Return the canonical units for an error message."""
        return ", ".join([*self.units, *self.binary])


RATE = Dimension(
    "rate",
    {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12},
    "1 Gbps",
    spellings={
        **{
            "bit": "bps",
            "kbit": "kbps",
            "Mbit": "Mbps",
            "Gbit": "Gbps",
            "Tbit": "Tbps",
            "mbit": "Mbps",
            "gbit": "Gbps",
            "tbit": "Tbps",
        },
        **{"bit/s": "bps", "kbit/s": "kbps", "Mbit/s": "Mbps", "Gbit/s": "Gbps", "Tbit/s": "Tbps"},
    },
)
SIZE = Dimension(
    "size",
    {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9},
    "64 KB",
    spellings={"byte": "B", "bytes": "B", "kB": "KB"},
    binary={"KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
)
DURATION = Dimension(
    "duration",
    {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9},
    "25 us",
    spellings={"\u00b5s": "us", "\u03bcs": "us", "sec": "s"},
)
TOLERANCE = Dimension("tolerance", {"ppb": 1, "ppm": 10**3}, "50 ppm")
_DIMENSIONS = (RATE, SIZE, DURATION)


def parse_rate(text: str) -> int:
    """Return bits per second: `10 Mbps` is 10,000,000. Raises UnitError."""
    return parse_quantity(text, RATE)


def parse_size(text: str) -> int:
    """Return bytes: `64 KB` is 64,000 and `64 KiB` is 65,536. Raises UnitError."""
    return parse_quantity(text, SIZE)


def parse_duration(text: str) -> int:
    """Return nanoseconds: `25 us` is 25,000. Raises UnitError."""
    return parse_quantity(text, DURATION)


def parse_quantity(text: str, dimension: Dimension) -> int:
    """Return `text` in the smallest unit of `dimension`. Raises UnitError."""
    written = text.strip()
    match = _NUMBER_AND_UNIT.fullmatch(written) if len(written) <= _MOST_CHARACTERS else None
    if match is None:
        raise UnitError(
            f"{_shortened(written)!r} is not a {dimension.name}; write a number and a unit, such as "
            f"{dimension.example!r}"
        )
    if match["sign"] == "-":
        raise UnitError(f"{written!r} is negative; a {dimension.name} is zero or more")
    if match["unit"] is None:
        raise UnitError(f"{written!r} has no unit; write one of {dimension.all_units()}, such as {dimension.example!r}")
    scale = dimension.scale(match["unit"])
    if scale is None:
        raise UnitError(_wrong_unit(written, match["unit"], dimension))
    with localcontext() as context:
        context.prec = 2 * _MOST_CHARACTERS  # exact: no product of that many digits is rounded
        value = Decimal(match["number"]) * scale
        if value != value.to_integral_value():
            raise UnitError(f"{written!r} is not a whole number of {next(iter(dimension.units))}")
    if value > _LARGEST:
        raise UnitError(f"{written!r} is too large for a {dimension.name}")
    return int(value)


def format_rate(bps: float, digits: int | None = None) -> str:
    """Return a rate for people: exact (`2.5 Gbps`), or rounded to `digits` significant digits."""
    return format_quantity(bps, RATE, digits)


def format_size(size_bytes: float, digits: int | None = None) -> str:
    """Return a size for people: exact (`64 KB`, `64 KiB`), or rounded to `digits` significant digits."""
    return format_quantity(size_bytes, SIZE, digits)


def format_duration(duration_ns: float, digits: int | None = None) -> str:
    """Return a duration for people: exact (`12.5 us`), or rounded to `digits` significant digits."""
    return format_quantity(duration_ns, DURATION, digits)


def format_count(count: int, noun: str) -> str:
    """Return so many of something in words: `1 switch`, `1,024 queries`. The noun is regular, in the singular."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def format_quantity(value: float, dimension: Dimension, digits: int | None = None) -> str:
    """Return `value`, which is in the smallest unit, in the unit that reads best.

    Without `digits` a whole number is written exactly and `parse_quantity` gives it back; measured values (floats) want
    `digits`.
    """
    if digits is None and value == int(value) and value >= 0:
        return _format_exact(int(value), dimension)
    return _format_rounded(float(value), dimension, digits or 4)


def _format_exact(value: int, dimension: Dimension) -> str:
    """Use the largest unit that needs at most one decimal: 1,024,000 bytes are `1024 KB`, 2.5e9 bps are `2.5 Gbps`."""
    for unit, scale in reversed(list(dimension.units.items())):
        if unit == "min" or value < scale or value * 10 % scale:
            continue
        if scale == 1:
            break
        whole, tenth = divmod(value * 10 // scale, 10)
        return f"{whole}.{tenth} {unit}" if tenth else f"{whole} {unit}"
    for unit, scale in reversed(list(dimension.binary.items())):
        if value and value % scale == 0:
            return f"{value // scale} {unit}"
    return f"{value} {next(iter(dimension.units))}"


def _format_rounded(value: float, dimension: Dimension, digits: int) -> str:
    """Round to significant digits in the largest unit that leaves at least 1 before the point."""
    chosen, chosen_scale = next(iter(dimension.units.items()))
    for unit, scale in dimension.units.items():
        # The half of the last digit: 999.96 KB with four digits is 1 MB, not 1000 KB.
        if unit != "min" and abs(value) * (1 + 0.5 * 10.0**-digits) >= scale:
            chosen, chosen_scale = unit, scale
    quotient = value / chosen_scale
    number = f"{quotient:.{digits}g}"
    if "e" in number:
        number = f"{quotient:.0f}"
    return f"{number} {chosen}"


def parse_percent(text: str) -> int | None:
    """Return parts of a million (`0.1 %` is 1000); None for a text that is not a percentage, or has parts smaller than
    that."""
    match = _PERCENT.fullmatch(text)
    ppm = None if match is None else Decimal(match["number"]) * _PPM_OF_PERCENT
    return None if ppm is None or ppm != int(ppm) else int(ppm)


def format_percent(ppm: int) -> str:
    """Return parts of a million as they are written: 1000 is `0.1 %`."""
    whole, parts = divmod(ppm, _PPM_OF_PERCENT)
    return f"{whole}.{parts:04d}".rstrip("0").rstrip(".") + " %"


def parse_fraction(text: str) -> Fraction | None:
    """Return the exact number of `1/8`, `0.5` or `4`; None for a text that is none."""
    match = _FRACTION.fullmatch(text.strip())
    if match is None:
        return None
    under = Fraction(match["under"] or 1)
    return None if under == 0 else Fraction(match["over"]) / under


def format_fraction(number: Fraction) -> str:
    """Return a number as it is written: `1/8`, `4`."""
    return str(number)


def _wrong_unit(written: str, unit: str, dimension: Dimension) -> str:
    """Say what is wrong with a unit: of another kind, in the wrong case, or unknown."""
    for other in _DIMENSIONS:
        if other is not dimension and other.scale(unit) is not None:
            return f"{written!r} is a {other.name}; write a {dimension.name}, in {dimension.all_units()}"
    known = [*dimension.units, *dimension.binary, *dimension.spellings]
    same = [name for name in known if name.lower() == unit.lower()]
    if same:
        return f"{written!r}: unknown unit {unit!r}; did you mean {same[0]!r}? Case matters"
    return f"{written!r}: unknown unit {unit!r}; a {dimension.name} is in {dimension.all_units()}"


def _shortened(text: str) -> str:
    """Return a text that fits in a message."""
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "..."
