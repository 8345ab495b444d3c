"""Tables for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from fabriclab.api.measured import PathLike, Run, Sweep, read_any
from fabriclab.errors import ArgumentError
from fabriclab.exports.tables import check_tables, export_tables
from fabriclab.results.damage import reading

Format = Literal["csv", "parquet", "json", "flent", "openmetrics"]

_WHOLE_RUNS = ("flent", "openmetrics")
"""Formats that have a file for each run, and no tables."""


def export(
    run: Run | Sweep | PathLike,
    out: PathLike,
    *,
    form: Format = "csv",
    tables: Sequence[str] = (),
    force: bool = False,
) -> list[Path]:
    """Write the tables of a run or a sweep into a directory; return the files, one per table, and a description.

    `form` is `csv`, `parquet` or `json` (one object per line). `tables` names the tables to write, by default all. The
    tables of a sweep have the points' settings and seeds as columns. With `flent` each run becomes a data file of
    flent, with `openmetrics` a file of OpenMetrics text, and no tables are written. Raises ResultsError if the
    directory is not a run or sweep or has none of the tables, ArgumentError for an unknown table or if `out` already
    exists, OSError.
    """
    check_tables(tables)
    if form in _WHOLE_RUNS and tables:
        raise ArgumentError("table {0!r}: a file of {1} has no tables; leave it out", tables[0], form)
    directory = Path(out)
    if directory.is_dir() and any(directory.iterdir()) and not force:
        raise ArgumentError("{out} {0} already exists; choose another one, or replace files in it with {force}", out)
    source = run.directory if isinstance(run, Run | Sweep) else Path(run)
    read = read_any(source)
    with reading(source):
        if form == "flent":
            from fabriclab.exports.flent import export_flent

            return export_flent(read, directory)
        if form == "openmetrics":
            from fabriclab.exports.openmetrics import export_openmetrics

            return export_openmetrics(read, directory)
        return export_tables(read, directory, form, tables)
