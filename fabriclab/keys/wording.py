"""Words of error messages: values as they are quoted, lists, and what a mistyped word was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

_MOST_LISTED = 20
"""Longer lists of valid words are cut: a message is one line."""


def nearest(word: str, words: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the one of `words` that `word` was probably meant to be, if any."""
    if len(word) > 64:  # difflib is quadratic, and no valid word is that long
        return None
    matches = difflib.get_close_matches(word, list(words), n=1, cutoff=cutoff)
    return matches[0] if matches else None


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return `did you mean 'x'?`, or the valid words when none is near, or that there are none."""
    valid = list(words)
    near = nearest(word, valid)
    if near is not None:
        return f"did you mean {near!r}?"
    return f"valid here: {listed(valid)}" if valid else "there are none here"


def listed(words: Iterable[str]) -> str:
    """Return words separated by commas, a long list cut in the middle so that its end shows."""
    every = list(words)
    if len(every) > _MOST_LISTED:
        every = [*every[: _MOST_LISTED - 2], "...", every[-1]]
    return ", ".join(every)


def told_once(notes: Iterable[str], names: Collection[str]) -> tuple[str, ...]:
    """Return notes, of which those that say the same of several names (`r1: x`, `r2: x`) are one: `r1, r2: x`."""
    found: dict[str, list[str]] = {}
    for note in notes:
        name, colon, rest = note.partition(": ")
        is_of_name = bool(colon) and name in names
        found.setdefault(rest if is_of_name else note, []).extend([name] if is_of_name else [])
    return tuple(f"{listed(dict.fromkeys(those))}: {said}" if those else said for said, those in found.items())


def shown(text: str) -> str:
    """Return a value quoted for a message, a long one cut."""
    return repr(text if len(text) <= 60 else text[:60] + "...")
