"""What every error that fabriclab raises for its user has in common: one class to catch, and a text that says what
would be right."""

from __future__ import annotations

from collections.abc import Callable

_ARGUMENTS = (
    "out",
    "force",
    "matrix",
    "seed",
    "seeds",
    "node",
    "only",
    "size",
    "algorithm",
    "hosts",
    "speed",
    "loop",
    "idle",
    "story",
    "template",
    "on",
    "jobs",
    "cores",
    "trust",
)
_IN_PYTHON = {"force": "force=True", "trust": "trust=True"}


class FabriclabError(Exception):
    """All errors that are not fabriclab's fault; the text is for people, and says what would be right."""


class ArgumentError(FabriclabError, ValueError):
    """An argument of a function or of a command is invalid."""

    def __init__(self, text: str, *values: object) -> None:
        """Take a text for `str.format`: `{0}`, `{1}` are the values, `{out}`, `{force}` and the like are arguments by
        their names.

        So the same error names `force=True` in Python and `--force` on the command line.
        """
        self._text = text
        self._values = values
        super().__init__(self.spelled(lambda name: _IN_PYTHON.get(name, name)))

    def spelled(self, spell: Callable[[str], str]) -> str:
        """Return the text with each argument's name as `spell` writes it."""
        return self._text.format(*self._values, **{name: spell(name) for name in _ARGUMENTS})


def printable(text: str) -> str:
    """Return a text of strangers with its control characters and the like written as escapes: a terminal would obey
    them."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
