"""Claims of published studies beside the runs of a report: the same bounds, and these runs' numbers.

A point of a report has a claim's number if the settings that tell points of the lab's matrices apart are those of the
claim's point, whether they are set or the lab's own. Others that differ, such as the length of traffic, are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from fabriclab.formats.where_clause import Scalar
from fabriclab.gallery.measure import numbers_of
from fabriclab.gallery.published import GalleryError
from fabriclab.gallery.quantities import as_written
from fabriclab.report.drawing.curves import setting_label
from fabriclab.report.drawing.lab_points import Point, fits, points_of
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.measured.quantities import metric_title, setting_number
from fabriclab.shipped import shipped
from fabriclab.studies.claims import DIRECTORY, Claim, Number, Study, Table, Verdict, read_studies
from fabriclab.studies.claims import Band as PublishedBand
from fabriclab.studies.verdicts import (
    NOT_MEASURED,
    Range,
    chosen,
    judge_claim,
    of_lab,
    range_in_words,
    range_of,
)


@dataclass(frozen=True)
class Band:
    """An area of a metric figure in which a study's results lie; base units."""

    x_from: float
    x_to: float
    low: float
    high: float
    label: str
    note: str
    """In a sentence whose results these are, and where to read why those of the figure differ."""


@dataclass(frozen=True)
class ComparedClaim:
    """A claim, and what these runs say to it: each number with its bounds, and the verdict that follows; the verdict
    is None where no number has bounds."""

    claim: Claim
    numbers: tuple[str, ...]
    verdict: Verdict | None


@dataclass(frozen=True)
class ComparedTable:
    """A table of a study's own figures, with these runs' in the last column."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class BesideStudy:
    """What a study says of a lab, beside the runs of a report."""

    study: Study
    setup: str
    claims: tuple[ComparedClaim, ...]
    tables: tuple[ComparedTable, ...]
    notes: tuple[str, ...]
    """What has to be said of the numbers."""


def studies_of(lab: str, named: str | None = None) -> list[Study]:
    """Return the studies that have claims or tables of a lab, and the one that it names.

    Raises GalleryError where a file of a study is wrong.
    """
    return [study for study in read_studies(shipped(DIRECTORY)) if study.study == named or study.concerns(lab)]


def beside_studies(
    studies: Sequence[Study], pools: Sequence[PooledRuns], lab: str, named: str | None = None
) -> list[BesideStudy]:
    """Return each study with those of its claims and tables that these runs of a lab have numbers of: the one that the
    lab names, and the others that have any."""
    found = [_beside(study, _Runs(pools, lab)) for study in studies]
    return [one for one in found if one.claims or one.tables or one.study.study == named]


def bands_of(studies: Sequence[Study], metric: str, x: str, pools: Sequence[PooledRuns]) -> list[Band]:
    """Return the areas of studies' results in a figure of a metric over a setting."""
    return [
        Band(
            band.x_from,
            band.x_to,
            *band.ends,
            label=f"{study.study}: {band.words}",
            note=f"Grey: {band.words}, which study {study.study} ({study.title}) found with its own set-up; below, "
            f"“Study {study.study} and these runs” says what differs.",
        )
        for study in studies
        for band in study.bands
        if (band.metric, band.x) == (metric, x) and _concerns(band, pools)
    ]


def _concerns(band: PublishedBand, pools: Sequence[PooledRuns]) -> bool:
    """Return whether no run is known to have other settings than a band."""
    known = [(wanted, pool.parameters.get(name)) for name, wanted in band.where.items() for pool in pools if pool.runs]
    return all(value is None or setting_number(wanted) == setting_number(value) for wanted, value in known)


_OPEN = {"least": {"low": -inf}, "greatest": {"high": inf}}
"""Points that are not here may have less than the least of those that are, or more than the greatest."""


class _Runs:
    """The numbers of a report's runs, as `verdicts` asks for them."""

    def __init__(self, pools: Sequence[PooledRuns], lab: str) -> None:
        self.pools, self.lab = [pool for pool in pools if pool.runs], lab
        self.own_settings: dict[str, str] = {}
        self._known: dict[tuple[int, str], Mapping[str, float | None]] = {}

    def find(self, number: Number) -> Range | None:
        """Return what these runs measured; of several points where one is meant, all that their ranges cover."""
        if number.lab != self.lab:
            return None
        by_point = [
            [one for pool in self.pools if self._is_at(pool, point) and (one := self._measured(pool, number))]
            for point in points_of(self.lab).of(number)
        ]
        found = [one for several in by_point for one in several]
        if not found:
            return None
        if number.of == "only":
            mean = sum(one.mean for one in found) / len(found)
            return Range(min(one.low for one in found), mean, max(one.high for one in found))
        return replace(chosen(found, number), **({} if all(by_point) else _OPEN[number.of]))

    def _is_at(self, pool: PooledRuns, point: Point) -> bool:
        """Return whether a pool is at a point; settings that it has beyond that are noted."""
        telling = points_of(self.lab).telling
        if not fits({name: value for name, value in point.settings.items() if name in telling}, pool.parameters):
            return False
        others = {name: value for name, value in pool.parameters.items() if not fits({name: value}, point.parameters)}
        if telling & set(others):
            return False
        self.own_settings |= {name: as_written(value) for name, value in others.items()}
        return True

    def _measured(self, pool: PooledRuns, number: Number) -> Range | None:
        key = id(pool), number.column
        if key not in self._known:
            self._known[key] = self._numbers(pool, number)
        return range_of(self._known[key])

    def _numbers(self, pool: PooledRuns, number: Number) -> Mapping[str, float | None]:
        if number.column == number.metric:
            # As in the report's other tables, which have read the flows for it.
            measure = pool.measure(number.metric)
            return {"mean": measure.value, "low": measure.low, "high": measure.high}
        try:
            return numbers_of(pool.pool, [each.pool for each in self.pools], number)[0]
        except GalleryError:
            return {}  # the point that it is against is not here


def _beside(study: Study, runs: _Runs) -> BesideStudy:
    claims = study.of_lab(runs.lab).values()
    compared = [one for claim in claims if (one := _compared(claim, runs)) is not None]
    tables = [_table(table, runs.pools) for table in study.tables if runs.lab in table.labs]
    shown = tuple(table for table in tables if any(row[-1] for row in table.rows))
    notes = tuple(_notes(study, compared, shown, len(claims) - len(compared), runs.own_settings))
    return BesideStudy(study, study.setups.get(runs.lab, ""), tuple(compared), shown, notes)


def _notes(
    study: Study,
    compared: Sequence[ComparedClaim],
    shown: Sequence[ComparedTable],
    left_out: int,
    own_settings: Mapping[str, str],
) -> Iterator[str]:
    if not compared and not shown:
        yield "None of these runs has the study's settings, so no numbers stand side by side."
        return
    if compared:
        yield (
            "The bounds are those by which fabriclab judges its own reproduction of the study. Brackets have the 95 % "
            "interval, or the span of several points that fit."
        )
    if own_settings:
        own = ", ".join(f"{name} {value}" for name, value in own_settings.items())
        yield f"The bounds were chosen for runs without these settings: {own}."
    if left_out:
        claims = "1 more claim is" if left_out == 1 else f"{left_out} more claims are"
        yield f"{claims} about other points of this lab; fabriclab studies {study.study} prints all claims."


def _compared(claim: Claim, runs: _Runs) -> ComparedClaim | None:
    """Return a claim beside these runs, None where they have none of its numbers."""
    judged = judge_claim(claim, runs)
    said = [(one.number, words) for one, words in zip(claim.shows, judged.numbers, strict=True)]
    for number in (of_lab(one, claim.lab) for one in claim.beside):
        measured = runs.find(number)
        said.append((number, NOT_MEASURED if measured is None else range_in_words(measured, number)))
    if all(words == NOT_MEASURED for _, words in said):
        return None
    here = [f"{_name(number)}: {words}" for number, words in said if words != NOT_MEASURED]
    more = [f"{len(said) - len(here)} more from points that are not here"] if len(here) < len(said) else []
    return ComparedClaim(claim, (*here, *more), judged.verdict if claim.shows else None)


def _setting(name: str, value: Scalar | tuple[Scalar, ...]) -> str:
    *others, last = value if isinstance(value, tuple) else (value,)
    return " or ".join(filter(None, [", ".join(map(as_written, others)), setting_label(name, last)]))


def _name(number: Number) -> str:
    """Return what a number is of, in the words of the report's other tables."""
    settings = ", ".join(_setting(name, value) for name, value in number.where.items())
    parts = [
        metric_title(number.metric) + (f" of {metric_title(number.share_of)}" if number.share_of else ""),
        settings,
        " ".join(f"{word} {size}" for word, size in (("above", number.above), ("up to", number.up_to)) if size),
        "".join(f"against {setting_label(name, value)}" for name, value in number.against.items()),
        "" if number.of == "only" else number.of,
    ]
    return ", ".join(filter(None, parts))


def _table(table: Table, pools: Sequence[PooledRuns]) -> ComparedTable:
    first = next(iter(table.figures))
    told_by = list(dict.fromkeys(name for column in table.columns for name in column.where))
    rows = []
    for name, figures in table.figures.items():
        theirs = [_changed(figure, base, table) for figure, base in zip(figures, table.figures[first], strict=True)]
        ours = _here(table, name, told_by, pools), _here(table, first, told_by, pools)
        here = [f"{label}{_changed(value, ours[1].get(label), table)}" for label, value in ours[0].items()]
        rows.append((name, *theirs, "; ".join(here)))
    return ComparedTable(table.title, ("", *(column.title for column in table.columns), "here"), tuple(rows))


def _here(table: Table, row: Scalar, told_by: Sequence[str], pools: Sequence[PooledRuns]) -> dict[str, float]:
    """Return what these runs have for a row, in the table's unit, by what tells several of them apart."""
    return dict(
        _told(table, [pool for pool in pools if fits({**table.where, table.rows: row}, pool.parameters)], told_by)
    )


def _told(table: Table, pools: Sequence[PooledRuns], told_by: Sequence[str]) -> Iterator[tuple[str, float]]:
    for pool in pools:
        label = ", ".join(as_written(pool.parameters[name]) for name in told_by if name in pool.parameters)
        value = pool.measure(table.metric).value
        if value is not None:
            yield f"{label}: " if label else "", table.written(value)


def _changed(value: float, base: float | None, table: Table) -> str:
    """Return a figure of a table, and how much more it is than the first row's."""
    text = f"{value:,.{table.digits}f} {table.unit}"
    return text if base is None or base == value else f"{text} ({100 * (value / base - 1):+.1f} %)"
