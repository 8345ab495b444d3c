"""Published rows as a table in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabriclab.gallery.data import Row
from fabriclab.gallery.published import Cell, GalleryError, Quantity, Table
from fabriclab.gallery.quantities import as_written, in_words

Data = Mapping[str, Sequence[Row]]
"""The published rows of each matrix."""
_Key = tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """The points of a table: the settings of its rows and the values of its columns, each in their order."""

    keys: list[_Key]
    columns: list[str]
    found: Mapping[tuple[_Key, str, str], Row]

    def at(self, key: _Key, column: str, cell: Cell) -> Row | None:
        """Return the published row of a cell; None where no point has it."""
        return self.found.get((key, column, cell.column))


def grid(name: str, table: Table, data: Data) -> Grid:
    """Return the points of a table. Raises GalleryError where no published point fits it, one of its matrices or one of
    several values of its `where`."""
    _refuse_idle(name, table, data)
    found: dict[tuple[_Key, str, str], Row] = {}
    for row in _rows(table, data):
        key = tuple(row.settings.get(setting, "") for setting in table.rows)
        found.setdefault((key, row.settings.get(table.columns, ""), row.metric), row)
    keys = list(dict.fromkeys(key for key, _, _ in found))
    columns = list(dict.fromkeys(column for _, column, _ in found))
    return Grid(sorted(keys, key=lambda one: _first_of(one, keys)), columns, found)


def markdown(name: str, table: Table, data: Data) -> str:
    """Return a table as Markdown. Raises GalleryError as `grid` does."""
    points = grid(name, table, data)
    lines = [_line(_head(table, points.columns)), "|" + "---|" * (len(table.rows) + _width(table, points))]
    above: _Key = ()
    for key in points.keys:
        cells = [
            _text(table, key, column, cell, points.at(key, column, cell))
            for column in points.columns
            for cell in table.cells
        ]
        lines.append(_line([*_labels(table, key, above), *cells]))
        above = key
    return "\n".join(lines) + "\n"


def _width(table: Table, points: Grid) -> int:
    return len(points.columns) * len(table.cells)


def _refuse_idle(name: str, table: Table, data: Data) -> None:
    for matrix in table.matrices:
        if not any(row.fits(table.where) for row in data[matrix]):
            message = f"no published point of matrix {matrix} fits it; look at `matrices`, `where` and the data"
            raise GalleryError(f"table {name}: {message}")
    for setting, values in table.where.items():
        for value in values if isinstance(values, tuple) else ():
            if not any(row.fits({setting: value}) for row in _rows(table, data)):
                raise GalleryError(f"table {name}: where: no published point has {setting} {as_written(value)}")


def _rows(table: Table, data: Data) -> Iterable[Row]:
    return (row for matrix in table.matrices for row in data[matrix] if row.fits(table.where))


def _first_of(key: _Key, keys: Sequence[_Key]) -> tuple[int, ...]:
    """Return a row's place: rows with the same first settings stand together, in the order in which they come."""
    return tuple(
        next(place for place, other in enumerate(keys) if other[:length] == key[:length])
        for length in range(1, len(key) + 1)
    )


def _head(table: Table, columns: Sequence[str]) -> list[str]:
    head = [table.titles.get(setting, setting) for setting in table.rows]
    for column in columns:
        for place, cell in enumerate(table.cells):
            words = [table.words.get(column, column)] if column and not place else []
            head.append(": ".join([*words, *([cell.title] if cell.title else [])]))
    if table.last:
        head[-1] += f" {table.last}"
    return head


def _labels(table: Table, key: _Key, above: _Key) -> list[str]:
    same = next((place for place, value in enumerate(key) if above[place : place + 1] != (value,)), len(key))
    return ["" if place < min(same, len(key) - 1) else table.words.get(value, value) for place, value in enumerate(key)]


def _text(table: Table, key: _Key, column: str, cell: Cell, row: Row | None) -> str:
    if row is None:
        return ""
    text = with_spread(cell, row)
    bold = [*table.bold.get(key[-1], ()), *table.bold.get(", ".join(key), ())]
    return f"**{text}**" if text and column in map(as_written, bold) else text


def with_spread(cell: Cell, row: Row) -> str:
    """Return a number with its interval or range, where the cell wants one and seeds differ."""
    text = number_text(cell, row.numbers["mean"])
    ends = {"plain": None, "interval": ("low", "high"), "range": ("least", "greatest")}[cell.form]
    if ends is None or row.numbers[ends[0]] is None or row.numbers[ends[0]] == row.numbers[ends[1]]:
        return text
    low, high = (number_text(cell, row.numbers[end]) for end in ends)
    if low == high == text:
        return text
    return f"{text} [{low}, {high}]" if cell.form == "interval" else f"{text} ({low} to {high})"


def number_text(quantity: Quantity, value: float | None) -> str:
    """Return a number as the quantity is written; "" where there is none."""
    return in_words(value, quantity.metric, quantity.unit, quantity.digits, is_change=bool(quantity.against))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
