"""The CSV files that programs of several languages write and read: a line with the version, then named columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["integer", "unsigned", "number", "text"]
"""What stands in a column: 64 bits with a sign, 64 bits without one, a decimal number, or text without commas.
Empty: not known."""


@dataclass(frozen=True)
class Table:
    """A format: its name, its version, and its columns in the order in which they are written."""

    name: str
    version: int
    columns: Mapping[str, Kind]
    optional: frozenset[str] = frozenset()
    """Columns that a file may lack: they are empty in every row then."""

    @property
    def format(self) -> str:
        """Name and version in one word, such as `fabriclab-tcp-2`."""
        return f"fabriclab-{self.name}-{self.version}"

    @property
    def first_line(self) -> str:
        """The line that a file begins with, without its end."""
        return f"# {self.format}"

    @property
    def header(self) -> str:
        """The line with the names of all columns, without its end."""
        return ",".join(self.columns)

    @property
    def head(self) -> str:
        """The first two lines of a file that has every column."""
        return f"{self.first_line}\n{self.header}\n"


def integers(*names: str) -> dict[str, Kind]:
    """Return columns of whole numbers."""
    return dict.fromkeys(names, "integer")


def texts(*names: str) -> dict[str, Kind]:
    """Return columns of texts."""
    return dict.fromkeys(names, "text")
