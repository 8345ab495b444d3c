"""What a page shows one after the other: pictures, tables in between, and in place of a figure that it has not why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabriclab.report.drawing.charts import Chart
from fabriclab.report.drawing.stills import still


@dataclass(frozen=True)
class Picture:
    """A figure of the page; `chart` describes it, and the caption says what is seen in it."""

    title: str
    caption: str
    chart: Chart
    still_note: str = ""
    """What the still picture alone shows."""

    @property
    def still_caption(self) -> str:
        """Return what is seen in the still picture."""
        return f"{self.caption} {self.still_note}".rstrip()

    @cached_property
    def svg(self) -> str:
        """Return the still picture as an SVG element."""
        return still(self.chart, self.still_caption)


@dataclass(frozen=True)
class Cell:
    """A text of a table, and in small letters what qualifies it: an interval, a share."""

    text: str
    detail: str = ""


@dataclass(frozen=True)
class RowGroup:
    """Rows under a heading of their own; an empty heading is not shown."""

    heading: str
    rows: list[list[Cell]]


@dataclass(frozen=True)
class DataTable:
    """A table with a title and a caption; `numbers` tells which columns are numbers, to be aligned right."""

    title: str
    caption: str
    headings: list[str]
    numbers: list[bool]
    groups: list[RowGroup]

    @property
    def row_count(self) -> int:
        """Return how many rows all groups have together."""
        return sum(len(group.rows) for group in self.groups)

    def markdown(self) -> str:
        """Return the table for a README; a group's heading is the first column there."""
        grouped = any(group.heading for group in self.groups)
        headings = ["", *self.headings] if grouped else self.headings
        numbers = [False, *self.numbers] if grouped else self.numbers
        lines = [f"## {self.title}", "", _line(headings), _line(["---:" if number else "---" for number in numbers])]
        lines += [_line([group.heading, *row] if grouped else row) for group in self.groups for row in _texts(group)]
        return "\n".join([*lines, "", self.caption]).rstrip() + "\n"


@dataclass(frozen=True)
class Absent:
    """A figure that the experiment asks for and that is not there; `reason` says why, without a full stop."""

    title: str
    reason: str


Exhibit = Picture | DataTable | Absent


def titled(title: str, traffic: Sequence[str]) -> str:
    """Return a title that names the traffic that is shown; none: all."""
    return f"{title}: {', '.join(traffic)}" if traffic else title


def _texts(group: RowGroup) -> Iterator[list[str]]:
    for row in group.rows:
        yield [f"{cell.text} ({cell.detail})" if cell.detail else cell.text for cell in row]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
