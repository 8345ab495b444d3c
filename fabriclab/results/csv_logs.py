"""The CSV files that traffic and probes write, read with their exact columns (`traffic/README.md`, `probes/README.md`).

A machine that was killed leaves a last line that is cut off: it is dropped, for a cut number still looks like a number.
Anything else that breaks a format is an error that names file, line and value.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import polars as pl
from polars.datatypes import DataTypeClass

from fabriclab.errors import FabriclabError
from fabriclab.files import check_regular, naming, reason
from fabriclab.formats.table import Kind, Table

WHOLE_SUFFIX = ".whole"
"""Ends the name of a copy of a file without its cut last line."""
_READ_BLOCK = 1 << 16


_TYPES: dict[Kind, DataTypeClass] = {
    "integer": pl.Int64,
    "unsigned": pl.UInt64,
    "number": pl.Float64,
    "text": pl.String,
}


class ResultsError(FabriclabError):
    """A file of a run directory is missing or is not what its format says; the message names file, line and value."""


@dataclass(frozen=True)
class Scan:
    """A CSV file, to be read lazily, and what was wrong with it that could be passed over."""

    rows: pl.LazyFrame
    notes: tuple[str, ...] = ()


def schema_of(table: Table) -> dict[str, DataTypeClass]:
    """Return the types that a table's columns have in memory and in Parquet."""
    return {name: _TYPES[kind] for name, kind in table.columns.items()}


def empty_frame(table: Table) -> pl.LazyFrame:
    """Return no rows with the table's columns."""
    return pl.LazyFrame(schema=schema_of(table))


def scan_csv(path: Path, table: Table, name: str) -> Scan:
    """Return the rows of a CSV file, lazily, with the table's columns in the table's order.

    `name` stands for the file in messages. A missing, empty or cut file gives the rows that are whole, and a note.
    Raises ResultsError when the version line or the columns are not the format's.
    """
    if not path.exists():
        return Scan(empty_frame(table), (f"{name}: missing",))
    try:
        check_regular(path)
    except OSError as error:
        raise ResultsError(f"{name}: {reason(error)}") from error
    header_end, columns = _read_header(path, table, name)
    if columns is None:
        return Scan(empty_frame(table), (f"{name}: empty",))
    whole, cut = _whole_lines(path)
    if whole.stat().st_size <= header_end:
        return Scan(empty_frame(table), (f"{name}: no rows",) if cut else ())
    types = schema_of(table)
    rows = pl.scan_csv(
        whole,
        comment_prefix="#",
        schema={column: types[column] for column in columns},
        quote_char=None,
        low_memory=True,
    )
    absent = [pl.lit(None, dtype=kind).alias(column) for column, kind in types.items() if column not in columns]
    rows = rows.with_columns(absent).select(list(types))
    return Scan(rows, (f"{name}: the last line was cut off, and is left out",) if cut else ())


def _read_header(path: Path, table: Table, name: str) -> tuple[int, list[str] | None]:
    """Return where the rows begin and the column names; None for them when the file ends before."""
    with path.open("rb") as file:
        version, header = file.readline(), file.readline()
        end = file.tell()
    if not header.endswith(b"\n"):
        return end, None
    found = version.decode(errors="replace").strip()
    if found != table.first_line:
        raise ResultsError(f"{name}:1: '{found}': the first line must be '{table.first_line}'")
    columns = header.decode(errors="replace").strip().split(",")
    missing = [column for column in table.columns if column not in columns and column not in table.optional]
    unknown = [column for column in columns if column not in table.columns]
    if missing or unknown or len(columns) != len(set(columns)):
        wrong = [f"missing {', '.join(missing)}"] if missing else []
        wrong += [f"unknown {', '.join(unknown)}"] if unknown else []
        raise ResultsError(f"{name}:2: columns: {'; '.join(wrong) or 'one occurs twice'}; must be {table.header}")
    return end, columns


def _whole_lines(path: Path) -> tuple[Path, bool]:
    """Return a file that ends with a whole line (the file itself, or a copy beside it) and
    whether something was cut."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(size - 1)
        if file.read(1) == b"\n":
            return path, False
        end = _last_newline(file, size) + 1
    copy = path.with_name(path.name + WHOLE_SUFFIX)
    with naming(copy), path.open("rb") as source, copy.open("wb") as target:
        shutil.copyfileobj(source, target)
        target.truncate(end)
    return copy, True


def _last_newline(file: BinaryIO, size: int) -> int:
    """Return the offset of the last newline; -1 without one."""
    end = size
    while end > 0:
        begin = max(0, end - _READ_BLOCK)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found
        end = begin
    return -1


def first_bad_row(path: Path, table: Table, name: str) -> str | None:
    """Return a message that names the first line of a file that its format does not allow; None when there is none."""
    numbers = {column for column, kind in table.columns.items() if kind != "text"}
    with path.open(encoding="utf-8", errors="replace") as file:
        next(file, "")
        columns = next(file, "").strip().split(",")
        for line, text in enumerate(file, start=3):
            values = text.rstrip("\n").split(",")
            if len(values) != len(columns):
                return (
                    f"{name}:{line}: the row has {len(values)} values, not one for each of the {len(columns)} columns"
                )
            for column, value in zip(columns, values, strict=True):
                if column in numbers and value and not _is_number(value, table.columns[column]):
                    kind = _TYPES[table.columns[column]].__name__
                    return f"{name}:{line}: {column}: '{value}' is not a number of type {kind}"
    return None


def _is_number(text: str, kind: Kind) -> bool:
    try:
        number = float(text) if kind == "number" else int(text)
    except ValueError:
        return False
    return not (kind == "unsigned" and number < 0)
