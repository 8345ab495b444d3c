"""What is wrong with a lab: every problem with its file, line, key and what would be right,
collected and shown together."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from fabriclab.errors import FabriclabError


@dataclass(frozen=True)
class Place:
    """Where a value was written: a file and line, or the command line (then `line` is None)."""

    file: str
    line: int | None = None
    said: str = ""
    """What the file calls the value if it is another program's, whose keys are not a lab's: `r1[exec]`."""

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def in_same_file(self) -> str:
        """The place as a message says it that begins with the file: `line 4`, or the argument."""
        return self.file if self.line is None else f"line {self.line}"


@dataclass(frozen=True)
class Mistake:
    """One mistake in a lab. `value` is the written text; it is empty if there is none, as for a missing key.

    `file` may be the place of an argument, such as `--set senders=x`. `line` is None for an argument and for a whole
    file.
    """

    file: str
    line: int | None
    key: str
    value: str
    message: str
    """What is wrong, and behind the semicolon what would be right; or only what the value must be."""

    @property
    def remedy(self) -> str:
        """What would be right; empty if the message does not say."""
        wrong, _, right = self.message.partition("; ")
        return right or (wrong if wrong.startswith("must ") else "")

    def __str__(self) -> str:
        where = str(Place(self.file, self.line))
        return f"{where}: {self.key}: {self.message}" if self.key else f"{where}: {self.message}"


class LabError(FabriclabError):
    """All mistakes of a lab, in the order of files and lines; str() has one line for each."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))


class Problems:
    """Collects problems while a lab is read; the same problem is kept once."""

    def __init__(self) -> None:
        self._found: dict[Mistake, None] = {}
        self._files: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Place, key: str, message: str, value: str = "") -> None:
        """Record that `value` of `key`, written at `place`, is wrong."""
        if place.file not in self._files:
            self._files.append(place.file)
        self._found[Mistake(place.file, place.line, place.said or key, value, message)] = None

    def add_all(self, others: Problems) -> None:
        """Record what `others` hold, after what is recorded already."""
        for problem in others.found():
            self.add(Place(problem.file, problem.line), problem.key, problem.message, problem.value)

    def without(self, known: Container[Mistake]) -> Problems:
        """Return those that are not among `known`."""
        left = Problems()
        for problem in self.found():
            if problem not in known:
                left.add(Place(problem.file, problem.line), problem.key, problem.message, problem.value)
        return left

    def with_note(self, note: str) -> Problems:
        """Return the same problems, each message with a note in brackets."""
        noted = Problems()
        for problem in self.found():
            noted.add(Place(problem.file, problem.line), problem.key, f"{problem.message} ({note})", problem.value)
        return noted

    def found(self) -> list[Mistake]:
        """Return the problems by file (in the order in which files were first complained about) and line."""
        return sorted(self._found, key=lambda problem: (self._files.index(problem.file), problem.line or 0))

    def raise_if_any(self) -> None:
        """Raise LabError if there is any problem."""
        if self._found:
            raise LabError(self.found())
