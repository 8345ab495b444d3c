"""The pictures of a lab's README: of reports of its sweeps, and of its published tables."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from fabriclab.formats.published_files import FILE
from fabriclab.gallery.published import GalleryError, Published
from fabriclab.gallery.tables import Data
from fabriclab.report import standalone, write_pictures
from fabriclab.report.drawing.table_bars import table_bars


def of_reports(lab: Path, published: Published, directories: Mapping[str, Path]) -> dict[Path, str]:
    """Return the pictures that are those of a sweep's report, of the matrices in `directories`, by their files.

    Raises GalleryError for one that the report does not have.
    """
    drawn: dict[Path, str] = {}
    shown = [picture.matrix for picture in published.pictures.values() if picture.matrix in directories]
    for matrix in dict.fromkeys(shown):
        with tempfile.TemporaryDirectory() as scratch:
            files = {file.name: file for file in write_pictures([directories[matrix]], Path(scratch))}
            for name, picture in published.pictures.items():
                if picture.matrix != matrix:
                    continue
                if picture.picture not in files:
                    there = ", ".join(sorted(file for file in files if file.endswith(".svg")))
                    text = f"{lab / FILE}: pictures.{name}: the report of {matrix} has no {picture.picture}"
                    raise GalleryError(f"{text}; it has {there}")
                drawn[lab / name] = files[picture.picture].read_text(encoding="utf-8")
    return drawn


def of_tables(lab: Path, published: Published, data: Data) -> dict[Path, str]:
    """Return the pictures that are bars of a table, by their files. Raises GalleryError as the table does."""
    drawn = {}
    for name, picture in published.pictures.items():
        if picture.table:
            table = published.tables[picture.table]
            bars = table_bars(picture.table, table, table.cells[picture.cell - 1], data, picture.title)
            drawn[lab / name] = standalone(bars)
    return drawn
