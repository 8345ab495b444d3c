"""Standard input, output and error as a shell may leave them: closed, full, of another character set."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TextIO, cast

from fabriclab.cli.host.visible import VisibleStream
from fabriclab.files import reason

_FAILED = 1
_NAMES = ("stdin", "stdout", "stderr")


class _Unfailing(io.TextIOWrapper):
    """Text for people: where it cannot be written, on a full disk perhaps, the command goes on,
    and its exit status tells."""

    def write(self, text: str) -> int:
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


def prepare() -> None:
    """Let what is written to the standard streams never end in an error of Python's, neither for a character nor for a
    closed stream, and never command a terminal."""
    for number, name in enumerate(_NAMES):
        _open_if_closed(number, name)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
        sys.stdout = cast(TextIO, VisibleStream(sys.stdout))
    if isinstance(sys.stderr, io.TextIOWrapper):
        raw = io.FileIO(sys.stderr.fileno(), "w", closefd=False)
        encoding = sys.stderr.encoding
        unfailing = _Unfailing(
            io.BufferedWriter(raw), encoding=encoding, errors="backslashreplace", line_buffering=True
        )
        sys.stderr = cast(TextIO, VisibleStream(unfailing))


def _open_if_closed(number: int, name: str) -> None:
    """Put something into the place of a closed stream, else the next file that is opened would be it."""
    try:
        os.fstat(number)
        return
    except OSError:
        # For reading: whoever wants to write an answer there learns that nobody gets it.
        null = os.open(os.devnull, os.O_RDONLY)
    if null != number:
        os.dup2(null, number)
        os.close(null)
    if getattr(sys, name) is None:
        stream: TextIO = os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False)
        setattr(sys, name, stream)


def end_of_output(status: object = 0) -> int | None:
    """Write what is still held back of the output; return None when all of it is out, else the exit status, after a
    message.

    `status` is the one that the command ends with: what failed already is not told twice.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        return output_failed(error, told=status not in (0, None))
    return None


def output_failed(error: OSError, told: bool = False) -> int:
    """Say why the output cannot be written, unless that is told or nobody reads on; return the exit status.

    Nothing more is written.
    """
    if not told and not isinstance(error, BrokenPipeError):
        sys.stderr.write(f"standard output: {reason(error)}\n")
    # The interpreter writes once more what is held back: that must go somewhere.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
    return _FAILED
