"""`studies/*.yml`: the claims of published studies, each with its source, its verdict, and the numbers that say so.

A claim's bounds follow from the study, and no new measurement changes them. Numbers are those that labs publish
(`published/MATRIX.csv`); a report has the same claims beside the numbers of its own runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from fabriclab.formats.where_clause import Scalar
from fabriclab.gallery.published import Quantity, Record, Where, read_record
from fabriclab.gallery.quantities import in_base_units

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


class Band(Record):
    """The area of a metric's chart in which a study's results lie, for runs without other settings than `where`."""

    metric: str
    unit: str
    x: str
    x_from: float
    x_to: float
    low: float
    high: float
    where: dict[str, Scalar] = Field(default_factory=dict)

    @property
    def words(self) -> str:
        """The area's ends with their unit."""
        return f"{self.low:g} to {self.high:g} {self.unit}"

    @property
    def ends(self) -> tuple[float, float]:
        """The area's ends in base units."""
        return in_base_units(self.low, self.metric, self.unit), in_base_units(self.high, self.metric, self.unit)


class Column(Record):
    """A column of a table: the settings of the points that a report puts beside it, of labs that have these."""

    title: str
    where: dict[str, Scalar] = Field(default_factory=dict)


class Table(Quantity):
    """Figures of a study that no claim repeats one by one, in `unit`. The keys of `figures` are values of the setting
    `rows`; a report writes them, and its own, also as a change against the first of them."""

    title: str
    labs: tuple[str, ...] = Field(min_length=1)
    where: dict[str, Scalar] = Field(default_factory=dict)
    rows: str
    columns: tuple[Column, ...] = Field(min_length=1)
    figures: dict[str, tuple[float, ...]] = Field(min_length=1)

    def written(self, value: float) -> float:
        """Return a measured number in the table's unit."""
        return value / in_base_units(1, self.metric, self.unit)

    @model_validator(mode="after")
    def _is_full(self) -> Table:
        for name, row in self.figures.items():
            if len(row) != len(self.columns):
                count = f"{len(row)} of {len(self.columns)} figures"
                raise ValueError(f"figures.{name} has {count}; write one for each column")
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
    beside: tuple[Number, ...] = ()
    """Numbers without bounds, which no lab need publish: a report has them beside `expected`."""
    band: Band | None = None
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
        if self.beside and not self.lab:
            raise ValueError("`beside` needs `lab`, whose runs have these numbers")
        return self

    def of_lab(self, lab: str) -> Claim:
        """Return the claim with the numbers of one lab only."""
        shows = tuple(one for one in self.shows if (one.number.lab or self.lab) == lab)
        return self.model_copy(update={"shows": shows, "beside": self.beside if self.lab == lab else ()})


class Study(Record):
    """A published study and its claims, by their names. `setups`: what the study did, for the reports of each lab that
    repeats it."""

    study: str
    title: str
    source: str
    setups: dict[str, str] = Field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    claims: dict[str, Claim] = Field(min_length=1)

    @property
    def bands(self) -> tuple[Band, ...]:
        """The bands of all claims."""
        return tuple(claim.band for claim in self.claims.values() if claim.band is not None)

    def concerns(self, lab: str) -> bool:
        """Return whether a lab has numbers of this study."""
        return bool(self.of_lab(lab)) or any(lab in table.labs for table in self.tables)

    def of_lab(self, lab: str) -> dict[str, Claim]:
        """Return the claims that have numbers of a lab, with these numbers only."""
        found = {name: claim.of_lab(lab) for name, claim in self.claims.items()}
        return {name: claim for name, claim in found.items() if claim.shows or claim.beside}


def study_files(directory: Path) -> list[Path]:
    """Return the files of all studies in the order of their names."""
    return sorted(directory.glob("*.yml"))


def read_studies(directory: Path) -> list[Study]:
    """Read all studies. Raises GalleryError with file, line and what would be right."""
    return [read_study(file) for file in study_files(directory)]


def read_study(file: Path) -> Study:
    """Read the claims of one study. Raises GalleryError with file, line and what would be right."""
    return read_record(file, Study, "it lists the claims of a study")
