"""`studies/*.yml`: the claims of published studies, each with its source, its verdict, and the numbers that say so.

A claim's bounds follow from the study, and no new measurement changes them. Numbers are those that labs publish
(`published/MATRIX.csv`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from fabriclab.gallery.published import Quantity, Record, Where, read_record

DIRECTORY = "studies"
"""Where the files lie, beside `labs`."""

Verdict = Literal["agrees", "disagrees", "undecided"]


class Number(Quantity):
    """A number that a lab publishes: of the only point with these settings, or the least or greatest of several.

    `lab`: another lab than the claim's.
    """

    lab: str = ""
    matrix: str
    where: Where = Field(default_factory=dict)
    of: Literal["only", "least", "greatest"] = "only"


class Multiple(Record):
    """A number times a factor, as a bound."""

    times: float = Field(default=1, gt=0)
    number: Number


Bound = float | Multiple
"""In the unit of the number that it bounds."""


class Comparison(Record):
    """A number, and the bounds between which it lies if the claim holds."""

    number: Number
    above: Bound | None = None
    below: Bound | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> Comparison:
        if self.above is None and self.below is None:
            raise ValueError("a comparison without a bound holds always; write above, below, or both")
        return self


class Claim(Record):
    """A claim of a study. `expected` is its figure or ordering in the study's words, `condition` what holds for it."""

    claim: str
    source: str
    condition: str = ""
    expected: str
    lab: str = ""
    shows: tuple[Comparison, ...] = ()
    tolerance: str = ""
    """Why the bounds are where they are."""
    verdict: Verdict
    why: str = ""
    """Of a claim that does not agree, or of which only a part is reproduced: the reason."""
    would_decide: str = ""
    cost: str = ""

    @model_validator(mode="after")
    def _is_whole(self) -> Claim:
        if self.verdict == "disagrees" and not self.why:
            raise ValueError("the verdict is `disagrees`, so `why` must say the reason")
        if self.verdict == "undecided" and not (self.would_decide and self.cost):
            raise ValueError("the verdict is `undecided`, so `would_decide` and `cost` must say what would decide it")
        if self.verdict != "undecided" and not self.shows:
            raise ValueError(f"the verdict is `{self.verdict}`, so `shows` must name the numbers that say so")
        if self.shows and not (self.lab and self.tolerance):
            raise ValueError("`shows` needs `lab`, whose numbers they are, and `tolerance`, which explains the bounds")
        return self

    @property
    def numbers(self) -> tuple[Number, ...]:
        """All the published numbers that the verdict depends on, each with its lab."""
        bounds = [bound for one in self.shows for bound in (one.above, one.below)]
        found = [one.number for one in self.shows] + [one.number for one in bounds if isinstance(one, Multiple)]
        return tuple(one.model_copy(update={"lab": one.lab or self.lab}) for one in found)


class Study(Record):
    """A published study and its claims, by their names."""

    study: str
    title: str
    source: str
    claims: dict[str, Claim] = Field(min_length=1)


def study_files(directory: Path) -> list[Path]:
    """Return the files of all studies in the order of their names."""
    return sorted(directory.glob("*.yml"))


def read_studies(directory: Path) -> list[Study]:
    """Read all studies. Raises GalleryError with file, line and what would be right."""
    return [read_study(file) for file in study_files(directory)]


def read_study(file: Path) -> Study:
    """Read the claims of one study. Raises GalleryError with file, line and what would be right."""
    return read_record(file, Study, "it lists the claims of a study")
