"""What measured numbers say to a study's claim: those that labs publish, or those of a report's runs.

A number that was measured with several seeds has a 95 % interval. Where a bound lies within the interval, the number
decides nothing: more seeds would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from pathlib import Path
from typing import Protocol

from fabriclab.gallery.data import Row, data_file, read_rows
from fabriclab.gallery.published import GalleryError
from fabriclab.gallery.quantities import in_base_units, in_words
from fabriclab.studies.claims import Bound, Claim, Comparison, Multiple, Number, Study, Verdict

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Range:
    """A number with its 95 % interval, in the metric's own unit; of one run all three are equal."""

    low: float
    mean: float
    high: float

    def times(self, factor: float) -> Range:
        """Return the number multiplied."""
        return Range(self.low * factor, self.mean * factor, self.high * factor)


@dataclass(frozen=True)
class Judged:
    """A claim with what its numbers say: the verdict, and each comparison in words."""

    claim: Claim
    verdict: Verdict
    numbers: tuple[str, ...]

    @property
    def is_as_published(self) -> bool:
        """Return whether the published verdict follows from the data."""
        return self.verdict == self.claim.verdict


class Measured(Protocol):
    """Where the numbers of claims come from."""

    def find(self, number: Number) -> Range | None:
        """Return what was measured; None where it was not."""


class Data:
    """The published rows of labs, each file read once."""

    def __init__(self, labs: Path) -> None:
        self._labs = labs
        self._rows: dict[tuple[str, str], Sequence[Row]] = {}

    def find(self, number: Number) -> Range | None:
        """Return what was measured; None: its matrix has not been yet, or the point has no such number.

        Raises GalleryError when no point fits, or several do where one is meant.
        """
        rows = [row for row in self._read(number) if row.metric == number.column and row.fits(number.where)]
        found = [one for row in rows if (one := range_of(row.numbers)) is not None]
        if not rows or (number.of == "only" and len(rows) > 1):
            points = f"{len(rows)} points of {number.lab}, {number.matrix} have {number.column} where {number.where}"
            raise GalleryError(f"{points}; name one, or say `of: least` or `of: greatest`")
        return chosen(found, number) if found else None

    def _read(self, number: Number) -> Sequence[Row]:
        key = (number.lab, number.matrix)
        if key not in self._rows:
            directory = self._labs / number.lab
            if not data_file(directory, number.matrix).is_file():
                raise GalleryError(f"{number.lab}: publishes no matrix {number.matrix}")
            self._rows[key] = read_rows(directory, number.matrix)
        return self._rows[key]


def judge(study: Study, data: Data) -> dict[str, Judged]:
    """Return each claim of a study with what the data say.

    Raises GalleryError where a claim names what is not there.
    """
    found = {}
    for name, claim in study.claims.items():
        try:
            found[name] = judge_claim(claim, data)
        except GalleryError as error:
            raise GalleryError(f"{study.study}, {name}: {error}") from error
    return found


def judge_claim(claim: Claim, data: Measured) -> Judged:
    """Return one claim with what the data say. Raises GalleryError as `judge` does."""
    said = [_compare(one, claim.lab, data) for one in claim.shows]
    answers = [answer for answer, _ in said]
    verdict: Verdict = "disagrees" if False in answers else "undecided" if None in answers or not said else "agrees"
    return Judged(claim, verdict, tuple(words for _, words in said))


def _compare(comparison: Comparison, lab: str, data: Measured) -> tuple[bool | None, str]:
    """Return whether a number lies within its bounds, None where the data do not decide, and that in words."""
    number = of_lab(comparison.number, lab)
    measured = data.find(number)
    if measured is None:
        return None, NOT_MEASURED
    bounds, answers = [], []
    for bound, word, is_above in ((comparison.above, "above", True), (comparison.below, "below", False)):
        if bound is None:
            continue
        limit = _limit(bound, number, lab, data)
        answers.append(None if limit is None else _lies(measured, limit, is_above=is_above))
        bounds.append(f"{word} {'what is not measured' if limit is None else range_in_words(limit, number)}")
    words = f"{range_in_words(measured, number)}, to be {' and '.join(bounds)}"
    return (False if False in answers else None if None in answers else True), words


def _lies(measured: Range, limit: Range, *, is_above: bool) -> bool | None:
    least, most = (limit, measured) if is_above else (measured, limit)
    if least.high < most.low:
        return True
    return False if least.low >= most.high else None


def _limit(bound: Bound, number: Number, lab: str, data: Measured) -> Range | None:
    if isinstance(bound, Multiple):
        other = data.find(of_lab(bound.number, lab))
        return None if other is None else other.times(bound.times)
    value = in_base_units(bound, number.metric, number.unit, is_change=bool(number.against))
    return Range(value, value, value)


def of_lab(number: Number, lab: str) -> Number:
    """Return a number with the lab that it is of, which is its claim's unless it names another."""
    return number.model_copy(update={"lab": number.lab or lab})


def range_of(numbers: Mapping[str, float | None]) -> Range | None:
    """Return the range of published or measured numbers (`gallery.data.NUMBERS`), None without a mean."""
    mean, low, high = (numbers.get(name) for name in ("mean", "low", "high"))
    if mean is None:
        return None
    return Range(mean if low is None else low, mean, mean if high is None else high)


def chosen(found: Sequence[Range], number: Number) -> Range:
    """Return the least or the greatest of some numbers, as a claim names it; the least of the only one."""
    return (max if number.of == "greatest" else min)(found, key=lambda one: one.mean)


def range_in_words(one: Range, number: Number) -> str:
    """Return a range in the number's unit: the mean, and its interval in brackets; of one without an end the other."""

    def written(value: float) -> str:
        return in_words(value, number.metric, number.unit, number.digits, is_change=bool(number.against))

    unit = f" {number.unit}" if number.unit else ""
    if one.low == one.high:
        return f"{written(one.mean)}{unit}"
    if isinf(one.low) or isinf(one.high):
        return f"at {'most' if isinf(one.low) else 'least'} {written(one.mean)}{unit}"
    return f"{written(one.mean)} ({written(one.low)} to {written(one.high)}){unit}"
