"""The axes of a matrix: a parameter, `variant`, `seed` or a key, and its values;
`1..50` stands for fifty whole numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fabriclab.keys.wording import shown
from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written

MOST_POINTS = 10_000
_NUMBERS = re.compile(r"(?P<first>[0-9]{1,18})\s*\.\.\s*(?P<last>[0-9]{1,18})")


@dataclass(frozen=True)
class Axis:
    """One dimension of a matrix: a parameter (or `variant`, `seed`, a key) and its values as written."""

    name: str
    values: tuple[ScalarValue, ...]


def expand_numbers(text: str) -> range | None:
    """Return the whole numbers of `1..50`; None when the text is not a range of such.

    Raises ValueError for one that goes nowhere.
    """
    match = _NUMBERS.fullmatch(text)
    if match is None:
        return None
    first, last = int(match["first"]), int(match["last"])
    if last < first:
        raise ValueError(f"{shown(text)} runs backwards; write '{last}..{first}'")
    if last - first >= MOST_POINTS:
        raise ValueError(f"{shown(text)} has more than {MOST_POINTS} values")
    return range(first, last + 1)


def expand_values(words: Iterable[Written[str]], problems: Problems) -> list[Written[str]]:
    """Return an axis's values, ranges of whole numbers written out."""
    values: list[Written[str]] = []
    for word in words:
        try:
            numbers = expand_numbers(word.value)
        except ValueError as error:
            word.complain(problems, str(error))
            continue
        texts = [word.value] if numbers is None else [str(number) for number in numbers]
        values += [Written(text, word.key, text, word.place) for text in texts]
    return values
