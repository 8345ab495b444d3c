"""The Parquet files of a run directory: written whole or not at all, opened where they are whole."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from fabriclab.files import check_regular, naming, reason, replacing
from fabriclab.results.csv_logs import ResultsError

# Fixed, so that the same rows give the same bytes.
_COMPRESSION_LEVEL = 3
_ROW_GROUP = 1 << 18
_SYSTEM_ERROR = re.compile(r"\(os error ([0-9]+)\)")
"""Polars tells an error of the system as text."""
_PROBE = bytes(1 << 20)


def write_frame(frame: pl.LazyFrame, path: Path) -> None:
    """Write a frame.

    Raises OSError that names `path` where the disk refuses it, PolarsError for what the frame is made from.
    """
    with replacing(path) as part, _system_errors(part):
        frame.sink_parquet(part, compression="zstd", compression_level=_COMPRESSION_LEVEL, row_group_size=_ROW_GROUP)


def write_rows(rows: pl.DataFrame, path: Path) -> None:
    """Write rows that are in memory, in their order. Raises OSError that names `path` where the disk refuses them."""
    with replacing(path) as part, _system_errors(part):
        rows.write_parquet(part, compression="zstd", compression_level=_COMPRESSION_LEVEL, row_group_size=_ROW_GROUP)


def open_parquet(path: Path) -> pl.LazyFrame | None:
    """Return a file's rows, lazily; None when there is no such file. Raises ResultsError for one that is damaged."""
    if not path.exists():
        return None
    check_parquet(path)
    return pl.scan_parquet(path)


def check_parquet(path: Path) -> None:
    """Raise ResultsError unless a file is there that ends as Parquet does: one that was cut does not."""
    try:
        check_regular(path)
        pl.read_parquet_schema(path)
    except pl.exceptions.PolarsError as error:
        raise ResultsError(f"{path}: the file is damaged ({error}); the run must be made again") from error
    except OSError as error:
        raise ResultsError(f"{path}: {reason(error)}") from error


@contextmanager
def _system_errors(part: Path) -> Iterator[None]:
    """Let a write that the system refused be an OSError, as of any other file."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        told = _SYSTEM_ERROR.search(str(error))
        if told is not None:
            raise OSError(int(told[1]), os.strerror(int(told[1])), str(part)) from error
        if isinstance(error, pl.exceptions.PolarsError):
            _write_more(part)
        raise


def _write_more(part: Path) -> None:
    """Raise OSError if the file can't grow: Polars does not always say that this is why it failed."""
    with naming(part), part.open("ab") as file:
        file.write(_PROBE)
