"""A user's mistake becomes a message and an exit status, never a traceback."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

OK = 0
FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


class BadInputError(Exception):
    """What the user wrote can't be; the text says what would be right."""


def say(message: str) -> None:
    """Write a message for the user to standard error."""
    sys.stderr.write(message.rstrip("\n") + "\n")


@contextmanager
def reported() -> Iterator[None]:
    """Turn the errors that are not ours into a message and an exit status."""
    from fabriclab.compile import TraceError
    from fabriclab.engine.artefacts import EngineError
    from fabriclab.lab import LabErrors

    try:
        yield
    except (LabErrors, TraceError, BadInputError) as error:
        say(str(error))
        raise typer.Exit(BAD_INPUT) from error
    except EngineError as error:
        say(str(error))
        raise typer.Exit(FAILED) from error
    except KeyboardInterrupt as error:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from error
    except BrokenPipeError as error:
        # Whoever read our output (`| head`) has seen enough.
        sys.stderr.close()
        raise typer.Exit(FAILED) from error
    except OSError as error:
        if error.filename is None and error.errno != errno.ENOSPC:
            raise
        say(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror))
        raise typer.Exit(FAILED) from error
