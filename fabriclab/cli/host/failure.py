"""A user's mistake becomes a message and an exit status, never a traceback."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

from fabriclab.cli.host.unwritable import cure
from fabriclab.errors import ArgumentError, FabriclabError
from fabriclab.files import explain, is_mistake, no_room

OK = 0
FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130

_NO_MEMORY = "not enough memory: free some, or raise this shell's limit (`ulimit -v unlimited`)"
_NO_THREADS = "no thread can be started here: raise this shell's limits (`ulimit -u`, `ulimit -v`)"


class BadInputError(FabriclabError):
    """What the user wrote can't be; the text says what would be right."""


def say(message: str) -> None:
    """Write a message for the user to standard error."""
    with suppress(OSError):  # whoever cannot be told, on a full disk perhaps, still gets the exit status
        sys.stderr.write(message.rstrip("\n") + "\n")


def told(error: FabriclabError) -> str:
    """Return an error's text with arguments as the command line has them."""
    return error.spelled(_option) if isinstance(error, ArgumentError) else str(error)


def is_of_the_host(error: FabriclabError) -> bool:
    """Return whether an error says that a run cannot start here, not that what the user wrote is wrong."""
    from fabriclab.engine.artefacts import EngineError

    return isinstance(error, EngineError)


def _option(name: str) -> str:
    """Return an argument of a function as the command line has it."""
    return "--" + name.replace("_", "-")


@contextmanager
def reported() -> Iterator[None]:
    """Turn the errors that are not ours into a message and an exit status."""
    try:
        yield
    except FabriclabError as error:
        say(told(error))
        raise typer.Exit(FAILED if is_of_the_host(error) else BAD_INPUT) from error
    except KeyboardInterrupt as error:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from error
    except BrokenPipeError as error:
        # Whoever read our output (`| head`) has seen enough.
        sys.stderr.close()
        raise typer.Exit(FAILED) from error
    except MemoryError as error:
        say(_NO_MEMORY)
        raise typer.Exit(FAILED) from error
    except OSError as error:
        if error.filename is None and not no_room(error):
            raise
        mend = cure(str(error.filename)) if error.filename and error.errno in (errno.EACCES, errno.EPERM) else ""
        say(explain(error) + mend)
        raise typer.Exit(BAD_INPUT if is_mistake(error) else FAILED) from error
    except (
        Exception
    ) as error:  # of libraries that take too long to import only to name their errors; what is not told is raised again
        of_results = _of_results(error)
        if of_results is None:
            raise
        say(of_results[1])
        raise typer.Exit(of_results[0]) from error


def _of_results(error: Exception) -> tuple[int, str] | None:
    """Return status and message of what can be wrong with results and threads; None for a mistake of ours.

    The modules are not imported: an error of a module that nobody has imported it can't be.
    """
    if isinstance(error, _class_of("polars.exceptions", "PolarsError")):
        return FAILED, f"the tables of the results cannot be read: {error}"
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return FAILED, _NO_THREADS
    return None


def _class_of(module: str, name: str) -> type | tuple[()]:
    found = getattr(sys.modules.get(module), name, ())
    return found if isinstance(found, type) else ()
