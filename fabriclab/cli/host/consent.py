"""Consent on the command line: `--trust`, or a question on the terminal; without either a command is refused."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

import typer

from fabriclab.cli.host.failure import BAD_INPUT, say
from fabriclab.consent.request import ConsentError, ConsentRequest
from fabriclab.consent.store import TrustStateError, remember
from fabriclab.errors import printable

Result = TypeVar("Result")


def with_consent(call: Callable[[bool], Result], trust: bool, again: Sequence[str] = ()) -> Result:
    """Return what `call` does, whose argument says that what is brought along may run.

    It is called once more where it asks for that, and `trust` says yes, or the user does. `again`: the words of the
    command that is to be typed with --trust, where it is not the one that was typed.
    """
    try:
        return call(False)
    except ConsentError as error:
        request = error.request
        if not trust:
            _ask(request, again or sys.argv[1:])
        _keep(request)
    except TrustStateError as error:
        if not trust:
            raise
        _note(error)
    return call(True)


def _ask(request: ConsentRequest, words: Sequence[str]) -> None:
    """Return where the user says yes. Ends the command otherwise."""
    say(f"{printable(request.where)} is not trusted yet, and brings code that runs outside of its nodes:")
    say("\n".join(request.lines()))
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(f"Nothing of it was run. Look at it first. To run it, type:\n  fabriclab {shlex.join(words)} --trust")
        raise typer.Exit(BAD_INPUT)
    lasting = f"Run it, and trust {printable(request.subject.name)} from now on?"
    sys.stderr.write(f"{lasting if request.subject.kind == 'lab' else 'Run it, this time?'} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        say("Nothing of it was run.")
        raise typer.Exit(BAD_INPUT)


def _keep(request: ConsentRequest) -> None:
    """Remember a yes about a lab; where that can't be, it holds for this time."""
    if request.subject.kind != "lab":
        return
    try:
        remember(request.subject)
    except TrustStateError as error:
        _note(error)


def _note(error: TrustStateError) -> None:
    say(f"note: trusted for this time only: {error}")
