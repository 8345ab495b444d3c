"""What is said of a run directory whose files are whole, and do not fit each other: a table that lacks a column, a
name that is not in the plan. The readers refuse what is damaged by itself; this is what they cannot see."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from fabriclab.errors import FabriclabError
from fabriclab.results.csv_logs import ResultsError

_DAMAGED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)
_MOST_SHOWN = 200


@contextmanager
def reading(*directories: Path) -> Iterator[None]:
    """Read what these directories hold, within the block. Raises ResultsError that names them, and the place in
    fabriclab where they fit no more."""
    try:
        yield
    except FabriclabError:
        raise
    except _DAMAGED as error:
        raise ResultsError(
            f"{', '.join(map(str, directories))}: the directory is damaged, or written by another version of "
            "fabriclab: its contents "
            f"do not fit together ({_in_words(error)})"
        ) from error


def _in_words(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/fabriclab/" in frame.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    said = " ".join(str(error).split())[:_MOST_SHOWN]
    return f"{type(error).__name__}: {said}; at {last.filename.rpartition('/fabriclab/')[2]}:{last.lineno}"
