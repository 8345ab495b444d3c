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

_REASONS = {
    errno.ENOENT: "no such file or directory",
    errno.EEXIST: "is there already, and is no directory",
    errno.ENOTDIR: "is no directory",
    errno.EISDIR: "is a directory; a file is wanted",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENAMETOOLONG: "the name is too long",
}
"""What is wrong with a path that the user named. Any other error of the system, such as a full disk, is a failure of ours to run."""


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
    from fabriclab.run.claim import InUseError

    try:
        yield
    except (LabErrors, TraceError, BadInputError, InUseError) as error:
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
        say(f"{error.filename}: {_REASONS.get(error.errno or 0, error.strerror)}" if error.filename else str(error.strerror))
        raise typer.Exit(BAD_INPUT if error.errno in _REASONS else FAILED) from error
