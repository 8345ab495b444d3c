"""`fabriclab break`: conditions at which a lab's time stops."""

from __future__ import annotations

import sys

from fabriclab.errors import ArgumentError
from fabriclab.formats.break_conditions import FORMS
from fabriclab.live.client import ask


def add(lab: str | None, condition: str | None) -> None:
    """Set a break point. Raises ArgumentError where none is said."""
    if condition is None:
        raise ArgumentError("a condition is missing: {0}", "; ".join(FORMS))
    answer = ask(lab, {"do": "break", "condition": condition})
    sys.stdout.write(f"{answer['lab']}: break point {answer['number']}: {answer['condition']}\n")


def show(lab: str | None) -> None:
    """List the break points, and say which one stopped the clock."""
    _write(ask(lab, {"do": "breaks"}))


def clear(lab: str | None, number: str | None) -> None:
    """Take a break point back, or all. Raises ArgumentError for what is not a number."""
    if number is not None and not number.isdecimal():
        raise ArgumentError("{0!r}: write the number of a break point, which `break --list` shows", number)
    _write(ask(lab, {"do": "unbreak", "number": None if number is None else int(number)}))


def _write(answer: dict[str, object]) -> None:
    breaks = answer["breaks"]
    assert isinstance(breaks, list), "the server lists them"
    for each in breaks:
        sys.stdout.write(f"{each['number']:2}  {each['condition']}\n")
    if not breaks:
        sys.stdout.write(f"{answer['lab']}: no break points\n")
    if answer["stopped"]:
        sys.stdout.write(f"stopped: {answer['stopped']}\n")
