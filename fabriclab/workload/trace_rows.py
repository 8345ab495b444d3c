"""A user's flow trace as rows of texts, each with its line: the CSV itself, before what stands in it is judged."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import polars as pl

from fabriclab.formats.trace import TRACE
from fabriclab.workload.flows import COLUMNS, REQUIRED
from fabriclab.workload.trace_problems import TraceProblems, shown

_NEVER_IN_TEXT = "\x1f"
"""ASCII's unit separator: a separator that splits no line."""
_READ_AT_A_TIME = 100_000


@dataclass(frozen=True)
class UserTrace:
    """A trace file: the traffic that it is, the file's name for messages, its content."""

    traffic: str
    path: str
    content: bytes


def read_rows(trace: UserTrace, problems: TraceProblems) -> pl.DataFrame | None:
    """Return `line` and the columns that the trace has, as texts; null is empty. None after recording that it can't be
    read.

    Rows with too few or too many values are recorded and left out.
    """
    if not _is_text(trace, problems):
        return None
    version, header = _first_lines(trace.content)
    if version != TRACE.first_line:
        problems.add(trace.path, 1, f"{shown(version)}: the first line must be {TRACE.first_line!r}")
        return None
    columns = _columns(trace, header, problems)
    if columns is None:
        return None
    rows = _quoted_rows(trace, columns, problems) if b'"' in trace.content else _plain_rows(trace, columns, problems)
    if b" " in trace.content or b"\t" in trace.content:
        rows = rows.with_columns(pl.col(columns).str.strip_chars())
    return rows.with_columns(pl.col(columns).replace("", None))


def _is_text(trace: UserTrace, problems: TraceProblems) -> bool:
    for byte, what in ((b"\0", "a zero byte"), (_NEVER_IN_TEXT.encode(), "a control character (0x1f)")):
        at = trace.content.find(byte)
        if at >= 0:
            problems.add(trace.path, _line_of(trace, at), f"the line has {what}; a trace must be UTF-8 text")
            return False
    try:
        trace.content.decode()
    except UnicodeDecodeError as error:
        problems.add(trace.path, _line_of(trace, error.start), f"{error.reason}; a trace must be UTF-8 text")
        return False
    return True


def _line_of(trace: UserTrace, offset: int) -> int:
    return trace.content.count(b"\n", 0, offset) + 1


def _first_lines(content: bytes) -> tuple[str, str]:
    lines = [*content.split(b"\n", 2), b"", b""]
    return lines[0].decode().strip(), lines[1].decode().strip()


def _columns(trace: UserTrace, header: str, problems: TraceProblems) -> list[str] | None:
    """Return the names of the columns as they stand; None after recording every name that can't be."""
    names = [name.strip() for name in next(csv.reader([header]), [])]
    before = problems.count
    for name in dict.fromkeys(names):
        if name not in COLUMNS:
            problems.add(trace.path, 2, f"{shown(name)} is not a column; the columns are {', '.join(COLUMNS)}")
        elif names.count(name) > 1:
            problems.add(trace.path, 2, f"the column {name} occurs twice")
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        problems.add(trace.path, 2, f"{shown(header)}: {', '.join(missing)} must be among the columns")
    return names if problems.count == before else None


def _plain_rows(trace: UserTrace, columns: Sequence[str], problems: TraceProblems) -> pl.DataFrame:
    """Return the rows of a trace in which nothing is quoted: a row is a line, a comma parts two values."""
    lines = pl.read_csv(
        io.BytesIO(trace.content),
        has_header=False,
        separator=_NEVER_IN_TEXT,
        quote_char=None,
        new_columns=["text"],
        infer_schema=False,
    )
    lines = lines.with_row_index("line", offset=1).slice(2).with_columns(pl.col("text").str.strip_chars_end("\r"))
    # A line of blanks only is none.
    lines = lines.filter(pl.col("text").str.len_bytes() > 0)
    values = pl.col("text").str.count_matches(",", literal=True) + 1
    for line, count in (
        lines.select("line", values=values).filter(pl.col("values") != len(columns)).head(problems.wanted).iter_rows()
    ):
        problems.add(trace.path, line, _wrong_count(count, columns))
    lines = lines.filter(values == len(columns))
    fields = pl.col("text").str.split_exact(",", len(columns) - 1).struct.rename_fields(list(columns))
    return lines.select("line", fields.alias("fields")).unnest("fields")


def _quoted_rows(trace: UserTrace, columns: Sequence[str], problems: TraceProblems) -> pl.DataFrame:
    """Return the rows of a trace with quoted values, which may hold commas and line ends (RFC 4180)."""
    reader = _parsed(trace, columns, problems)
    schema: dict[str, pl.DataType] = {"line": pl.UInt32(), **dict.fromkeys(columns, pl.String())}
    pieces = [pl.DataFrame(schema=schema)]
    while piece := list(islice(reader, _READ_AT_A_TIME)):
        pieces.append(pl.DataFrame(piece, schema=schema, orient="row"))
    return pl.concat(pieces)


def _parsed(trace: UserTrace, columns: Sequence[str], problems: TraceProblems) -> Iterator[tuple[int | str, ...]]:
    reader = csv.reader(io.StringIO(trace.content.decode(), newline=""), strict=True)
    try:
        for number, row in enumerate(reader):
            if number < 2 or not row:
                continue
            if len(row) == len(columns):
                yield reader.line_num, *row
            else:
                problems.add(trace.path, reader.line_num, _wrong_count(len(row), columns))
    except csv.Error as error:
        problems.add(
            trace.path, reader.line_num, f"{error}; a quoted value must end with a quote; write a quote inside it twice"
        )


def _wrong_count(count: int, columns: Sequence[str]) -> str:
    return f"the row has {count} values, not one for each of the {len(columns)} columns: {','.join(columns)}"
