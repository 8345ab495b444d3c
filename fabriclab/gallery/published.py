"""`published.yml`: which matrices of a lab are published, and what of them stands in its README."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from fabriclab.errors import FabriclabError
from fabriclab.formats.published_files import FILE
from fabriclab.formats.where_clause import Scalar
from fabriclab.gallery.quantities import OF_SIZED_FLOWS, as_written, units_of
from fabriclab.lab.reading.files import LARGEST_YAML_BYTES, UnreadableError, read_lab_file, text_of
from fabriclab.units import parse_size

USUAL_SERIES = "6.12"
"""The series of Linux that labs are measured with: `default_series` of `images/machine/kernel/build.sh`."""

Name = str
Where = dict[Name, Scalar | tuple[Scalar, ...]]
"""Values of settings, each one or several: of the points that are meant."""


class GalleryError(FabriclabError):
    """What a lab publishes can't be made; the text says which file is wrong, and what would be right."""


class Record(BaseModel):
    """Keys that are not known are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


R = TypeVar("R", bound=Record)


class Quantity(Record):
    """A metric of the summary (`docs/metrics.md`), and how it is written.

    With `against`, it is divided by the same metric at the point where these settings differ, seed by seed, and unit
    `%` is how much more that is. With `share_of`, it is a share of another count, and with `above` or `up_to` it is of
    the flows of these sizes only, of all runs together or, with `against`, seed by seed.
    """

    metric: str
    unit: str = ""
    digits: int = Field(default=0, ge=0, le=9)
    against: dict[Name, Scalar] = {}
    share_of: str = ""
    above: str = ""
    up_to: str = ""

    @property
    def column(self) -> str:
        """What the data call it."""
        changed = ", ".join(f"{name}={as_written(value)}" for name, value in self.against.items())
        parts = {" of ": self.share_of, " above ": self.above, " up to ": self.up_to, " against ": changed}
        return self.metric + "".join(f"{word}{part}" for word, part in parts.items() if part)

    @property
    def sizes(self) -> tuple[int, int] | None:
        """The flows that count: those above the first size in bytes, up to the second; None of all flows."""
        if not (self.above or self.up_to):
            return None
        return parse_size(self.above) if self.above else 0, parse_size(self.up_to) if self.up_to else sys.maxsize

    @model_validator(mode="after")
    def _unit_fits(self) -> Quantity:
        allowed = ("%",) if self.against or self.share_of else units_of(self.metric)
        if self.unit not in allowed:
            words = ", ".join(unit or "none" for unit in allowed)
            raise ValueError(f"unit {self.unit!r} does not fit {self.column}; write one of: {words}")
        return self

    @model_validator(mode="after")
    def _one_way(self) -> Quantity:
        ways = [name for name in ("against", "share_of") if getattr(self, name)]
        if self.sizes is not None:
            if not OF_SIZED_FLOWS.fullmatch(self.metric):
                right = "completion times and slowdowns of one class of flows can, such as fct_p99_ns[mice]"
                raise ValueError(f"{self.metric} can't be of some sizes only; {right}")
            if self.share_of:
                ways.append("above and up_to")
        if len(ways) > 1:
            raise ValueError(f"{self.metric}: {ways[0]} and {ways[1]} don't go together; leave one out")
        if self.share_of and not all("%" in units_of(name) for name in (self.metric, self.share_of)):
            raise ValueError(f"{self.metric} of {self.share_of}: a share needs two counts, such as timeouts and flows")
        return self


class Cell(Quantity):
    """A number of a table: plain, with its 95 % interval over seeds, or with the least and greatest seed's."""

    title: str = ""
    form: Literal["plain", "interval", "range"] = "plain"


class Matrix(Record):
    """A matrix that is published. `seeds`: each point runs with seeds 1 to that; else with those of the matrix."""

    seeds: int | None = Field(default=None, ge=1)


class Table(Record):
    """A table: a row for each combination of the settings `rows`, cells for each value of the setting `columns`.

    Points are those of `matrices`, in their order, that have the settings `where`, each one value or one of several;
    of points that two matrices have the first matrix's count. `words` says how values are written, `last` what
    follows the last column's title. `bold` names cells by the row's last setting, or all of them joined by ", ", and
    values of the columns.
    """

    matrices: tuple[Name, ...] = Field(min_length=1)
    rows: tuple[Name, ...] = Field(min_length=1)
    columns: Name = ""
    cells: tuple[Cell, ...] = Field(min_length=1)
    where: Where = {}
    words: dict[str, str] = {}
    titles: dict[Name, str] = {}
    last: str = ""
    bold: dict[str, tuple[Scalar, ...]] = {}


class Value(Quantity):
    """A number of a sentence: of the only point with these settings, or the least or greatest of several.

    `part`: the mean over seeds, an end of its interval, or the least or greatest seed's.
    """

    matrix: Name
    where: Where = {}
    of: Literal["only", "least", "greatest"] = "only"
    part: Literal["mean", "low", "high", "least", "greatest"] = "mean"


class Sentence(Record):
    """Words of the README with a `{}` for each number: as they stand there, but for line ends."""

    text: str
    values: tuple[Value, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _holes_fit(self) -> Sentence:
        holes = self.text.count("{}")
        if holes != len(self.values):
            raise ValueError(f"{self.text!r} has {holes} places {{}} and {len(self.values)} values; as many of both")
        return self


class Pictured(Record):
    """A picture: one of a matrix's report, by its file name there (`fabriclab report --pictures`); or bars, of the
    numbers that a table has in its `cell`, counted from 1."""

    matrix: Name = ""
    picture: str = ""
    table: Name = ""
    cell: int = Field(default=1, ge=1)
    title: str = ""
    """What the bars of a table are of; empty: the cell's title."""

    @model_validator(mode="after")
    def _of_one_kind(self) -> Pictured:
        of_report, whole = bool(self.matrix or self.picture), bool(self.matrix and self.picture)
        if bool(self.table) == of_report or of_report != whole:
            raise ValueError("write `matrix` and `picture`, for one of its report, or `table`, for bars of a table")
        return self


class Published(Record):
    """The whole file. `kernel_series`: the series of Linux that it is measured with, as KERNEL_SERIES names it."""

    kernel_series: str = USUAL_SERIES
    superseded: str = Field(default="", pattern=r"^[^\n]*$")
    """What was different in the lab when its data were measured, in words that go on a sentence; empty: the data are of
    the lab as it is."""
    matrices: dict[Name, Matrix] = Field(min_length=1)
    tables: dict[Name, Table] = {}
    sentences: tuple[Sentence, ...] = ()
    pictures: dict[str, Pictured] = {}
    numbers: tuple[Value, ...] = ()
    """What the claims of studies use beside what stands in the README (`studies/`)."""

    @model_validator(mode="after")
    def _names_are_known(self) -> Published:
        named = {name: f"table {key}" for key, table in self.tables.items() for name in table.matrices}
        named |= {value.matrix: f"{line.text!r}" for line in self.sentences for value in line.values}
        named |= {picture.matrix: f"picture {key}" for key, picture in self.pictures.items() if picture.matrix}
        named |= {value.matrix: f"numbers, {value.column}" for value in self.numbers}
        for name, where in named.items():
            if name not in self.matrices:
                known = ", ".join(self.matrices)
                raise ValueError(f"{where}: matrix {name!r} is not published here; write one of: {known}")
        for key, picture in self.pictures.items():
            if picture.table and picture.table not in self.tables:
                raise ValueError(f"picture {key}: no table {picture.table!r}; write one of: {', '.join(self.tables)}")
            if picture.table and picture.cell > (most := len(self.tables[picture.table].cells)):
                raise ValueError(f"picture {key}: table {picture.table} has no cell {picture.cell}, it has {most}")
        return self

    def quantities(self, matrix: str) -> list[Quantity]:
        """Return what is published of a matrix, each once, in the order of the file."""
        tables = [cell for table in self.tables.values() if matrix in table.matrices for cell in table.cells]
        values = self._values(matrix)
        return list({quantity.column: quantity for quantity in [*tables, *values]}.values())

    def settings(self, matrix: str) -> list[Name]:
        """Return the settings by which points of a matrix are named here, each once."""
        tables = [table for table in self.tables.values() if matrix in table.matrices]
        values = self._values(matrix)
        named = [name for table in tables for name in (*table.rows, table.columns, *table.where) if name]
        return list(dict.fromkeys([*named, *(name for value in values for name in value.where)]))

    def _values(self, matrix: str) -> list[Value]:
        of_sentences = [value for line in self.sentences for value in line.values]
        return [value for value in (*of_sentences, *self.numbers) if value.matrix == matrix]


def without_superseded(text: str) -> str:
    """Return the text of the file after the data were measured again."""
    return re.sub(r"(?m)^superseded:.*\n\n?", "", text)


def is_published(lab: Path) -> bool:
    """Return whether a lab says what of its results stands in its README."""
    return (lab / FILE).is_file()


def read_published(lab: Path) -> Published:
    """Read a lab's `published.yml`. Raises GalleryError with file, line and what would be right."""
    return read_record(lab / FILE, Published, "this file lists what the lab publishes (labs/README.md)")


def read_record(path: Path, model: type[R], purpose: str) -> R:
    """Read a YAML file as a record. Raises GalleryError with file, line and what would be right."""
    try:
        text = text_of(read_lab_file(path.parent, path.name, LARGEST_YAML_BYTES))
        with contextlib.suppress(YAMLError, ValidationError):
            # The other reader knows the lines of what is wrong.
            return cast("R", _record(text, model))
        data = YAML(typ="rt").load(io.StringIO(text))
    except UnreadableError as error:
        raise GalleryError(f"{path}: {error}; {purpose}") from error
    except MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f":{error.problem_mark.line + 1}"
        raise GalleryError(f"{path}{line}: {error.problem or 'no YAML'}") from error
    except UnicodeDecodeError as error:
        raise GalleryError(f"{path}: is not UTF-8; save the file as UTF-8") from error
    try:
        return model.model_validate(data)
    except ValidationError as error:
        lines = [f"{path}:{line_of(data, found['loc'])}: {_said(found)}" for found in error.errors()]
        raise GalleryError("\n".join(lines)) from error


@lru_cache(maxsize=16)
def _record(text: str, model: type[Record]) -> Record:
    """Return a record by libyaml, in a tenth of the time; one that was read is kept, as each report reads the studies.

    Raises YAMLError and ValidationError.
    """
    return model.model_validate(YAML(typ="safe").load(text))


def _said(error: ErrorDetails) -> str:
    """Return the keys that lead to a value, without the types that pydantic tried there, and what is wrong with it."""
    keys = ".".join(str(key) for key in error["loc"] if key not in ("float", "Multiple"))
    return f"{keys}: {error['msg'].removeprefix('Value error, ')}"


def line_of(data: Any, location: tuple[int | str, ...]) -> int:
    """Return the line of a value, from 1; that of what it stands in where it is missing."""
    line = 1
    for key in location:
        place = getattr(data, "lc", None)
        try:
            line = (place.key(key) if isinstance(data, dict) else place.item(key))[0] + 1  # type: ignore[union-attr]
            data = data[key]
        except (KeyError, IndexError, TypeError, AttributeError):
            break
    return line
