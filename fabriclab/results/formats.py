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

WHOLE_SUFFIX = ".whole"
"""Ends the name of a copy of a file without its cut last line."""
_READ_BLOCK = 1 << 16


class ResultsError(FabriclabError):
    """A file of a run directory is missing or is not what its format says; the message names file, line and value."""


@dataclass(frozen=True)
class Format:
    """A version line and the columns that follow it, in any order."""

    version: str
    columns: dict[str, DataTypeClass]
    optional: frozenset[str] = frozenset()
    """Columns that may be missing: they are empty then."""


TRACE = Format(
    "# fabriclab-trace-1",
    {
        "flow": pl.Int64,
        "start_ns": pl.Int64,
        "src": pl.String,
        "dst": pl.String,
        "size_bytes": pl.Int64,
        "stop_ns": pl.Int64,
        "mode": pl.String,
        "request_bytes": pl.Int64,
        "connection": pl.String,
        "group": pl.String,
        "after": pl.String,
        "class": pl.String,
        "transport": pl.String,
        "congestion_control": pl.String,
        "dscp": pl.Int64,
        "deadline_ns": pl.Int64,
    },
    frozenset(
        (
            *("stop_ns", "mode", "request_bytes", "connection", "group", "after", "class"),
            *("transport", "congestion_control", "dscp", "deadline_ns"),
        )
    ),
)
FLOW_LOG = Format(
    "# fabriclab-flows-2",
    {
        "flow": pl.Int64,
        "side": pl.String,
        "status": pl.String,
        "start_ns": pl.Int64,
        "connected_ns": pl.Int64,
        "first_byte_ns": pl.Int64,
        "end_ns": pl.Int64,
        "bytes": pl.Int64,
        "retransmits": pl.Int64,
        "timeouts": pl.Int64,
        "marks": pl.Int64,
        "delivered": pl.Int64,
        "min_rtt_us": pl.Int64,
        "srtt_us": pl.Int64,
        "transport": pl.String,
        "subflows": pl.Int64,
    },
)
QUEUES = Format(
    "# fabriclab-queues-1",
    {
        "time_ns": pl.Int64,
        "port": pl.String,
        "bytes": pl.Int64,
        "packets": pl.Int64,
        "drops": pl.Int64,
        "marks": pl.Int64,
        "sent_bytes": pl.Int64,
        "sent_packets": pl.Int64,
        "overlimits": pl.Int64,
    },
)
TCP = Format(
    "# fabriclab-tcp-2",
    {
        "time_ns": pl.Int64,
        "node": pl.String,
        "flow": pl.Int64,
        "subflow": pl.Int64,
        "path": pl.String,
        "cwnd": pl.Int64,
        "ssthresh": pl.Int64,
        "srtt_us": pl.Int64,
        "rttvar_us": pl.Int64,
        "min_rtt_us": pl.Int64,
        "rto_us": pl.Int64,
        "unacked": pl.Int64,
        "lost": pl.Int64,
        "retrans": pl.Int64,
        "total_retrans": pl.Int64,
        "timeouts": pl.Int64,
        "delivered": pl.Int64,
        "delivered_ce": pl.Int64,
        "pacing_bps": pl.UInt64,
        "delivery_bps": pl.UInt64,
        "bytes_acked": pl.Int64,
        "state": pl.String,
        "ca_state": pl.String,
        "congestion": pl.String,
        "alpha": pl.Float64,
    },
)
INTERFACES = Format(
    "# fabriclab-interfaces-1",
    {
        "time_ns": pl.Int64,
        "port": pl.String,
        "rx_bytes": pl.Int64,
        "rx_packets": pl.Int64,
        "rx_dropped": pl.Int64,
        "tx_bytes": pl.Int64,
        "tx_packets": pl.Int64,
        "tx_dropped": pl.Int64,
    },
)


@dataclass(frozen=True)
class Scan:
    """A CSV file, to be read lazily, and what was wrong with it that could be passed over."""

    rows: pl.LazyFrame
    notes: tuple[str, ...] = ()


def empty_frame(file_format: Format) -> pl.LazyFrame:
    """Return no rows with the format's columns."""
    return pl.LazyFrame(schema=file_format.columns)


def scan_csv(path: Path, file_format: Format, name: str) -> Scan:
    """Return the rows of a CSV file, lazily, with the format's columns in the format's order.

    `name` stands for the file in messages. A missing, empty or cut file gives the rows that are whole, and a note.
    Raises ResultsError when the version line or the columns are not the format's.
    """
    if not path.exists():
        return Scan(empty_frame(file_format), (f"{name}: missing",))
    try:
        check_regular(path)
    except OSError as error:
        raise ResultsError(f"{name}: {reason(error)}") from error
    header_end, columns = _read_header(path, file_format, name)
    if columns is None:
        return Scan(empty_frame(file_format), (f"{name}: empty",))
    whole, cut = _whole_lines(path)
    if whole.stat().st_size <= header_end:
        return Scan(empty_frame(file_format), (f"{name}: no rows",) if cut else ())
    rows = pl.scan_csv(
        whole,
        comment_prefix="#",
        schema={column: file_format.columns[column] for column in columns},
        quote_char=None,
        low_memory=True,
    )
    absent = [
        pl.lit(None, dtype=kind).alias(column) for column, kind in file_format.columns.items() if column not in columns
    ]
    rows = rows.with_columns(absent).select(list(file_format.columns))
    return Scan(rows, (f"{name}: the last line was cut off and is left out",) if cut else ())


def _read_header(path: Path, file_format: Format, name: str) -> tuple[int, list[str] | None]:
    """Return where the rows begin and the column names; None for them when the file ends before."""
    with path.open("rb") as file:
        version, header = file.readline(), file.readline()
        end = file.tell()
    if not header.endswith(b"\n"):
        return end, None
    found = version.decode(errors="replace").strip()
    if found != file_format.version:
        raise ResultsError(f"{name}:1: '{found}': the first line must be '{file_format.version}'")
    columns = header.decode(errors="replace").strip().split(",")
    missing = [column for column in file_format.columns if column not in columns and column not in file_format.optional]
    unknown = [column for column in columns if column not in file_format.columns]
    if missing or unknown or len(columns) != len(set(columns)):
        wrong = [f"missing {', '.join(missing)}"] if missing else []
        wrong += [f"unknown {', '.join(unknown)}"] if unknown else []
        raise ResultsError(
            f"{name}:2: columns: {'; '.join(wrong) or 'one stands twice'}; right is {','.join(file_format.columns)}"
        )
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


def first_bad_row(path: Path, file_format: Format, name: str) -> str | None:
    """Return a message that names the first line of a file that its format does not allow; None when there is none."""
    numbers = {column for column, kind in file_format.columns.items() if kind != pl.String}
    with path.open(encoding="utf-8", errors="replace") as file:
        next(file, "")
        columns = next(file, "").strip().split(",")
        for line, text in enumerate(file, start=3):
            values = text.rstrip("\n").split(",")
            if len(values) != len(columns):
                return f"{name}:{line}: {len(values)} values; right is one for each of the {len(columns)} columns"
            for column, value in zip(columns, values, strict=True):
                if column in numbers and value and not _is_number(value, file_format.columns[column]):
                    return (
                        f"{name}:{line}: {column}: '{value}' is not a number of type "
                        f"{file_format.columns[column].__name__}"
                    )
    return None


def _is_number(text: str, kind: DataTypeClass) -> bool:
    try:
        number = float(text) if kind == pl.Float64 else int(text)
    except ValueError:
        return False
    return not (kind == pl.UInt64 and number < 0)
