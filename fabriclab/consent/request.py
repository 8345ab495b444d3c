"""A request for consent: what would run, in words that a person can check, and the error where nobody said yes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from fabriclab.errors import ArgumentError, printable

_SHORT_SHA = 12
_MOST_SHOWN = 20


@dataclass(frozen=True)
class Subject:
    """What an answer is about, and what is remembered of it."""

    kind: Literal["lab", "code"]
    name: str
    """Of a lab its absolute path, links resolved; of code that came with a recorded plan its SHA-256."""


@dataclass(frozen=True)
class Item:
    """One thing that would run."""

    name: str
    """The file as a person finds it, or the container image."""
    role: str
    """What it would run as."""
    lines: int | None = None
    sha256: str | None = None

    def __str__(self) -> str:
        """Return it as a line of a question."""
        size = "" if self.lines is None else f"{self.lines} {'line' if self.lines == 1 else 'lines'}"
        known = ", ".join(filter(None, (size, f"sha256 {self.sha256[:_SHORT_SHA]}" if self.sha256 else "")))
        return f"{printable(self.name)}{f' ({known})' if known else ''}: {self.role}"


@dataclass(frozen=True)
class ConsentRequest:
    """All that one call would run and that a person should know about."""

    where: str
    """The lab, bundle or run directory, as the user named it."""
    subject: Subject
    items: tuple[Item, ...]

    def lines(self) -> list[str]:
        """Return what would run, a line each."""
        shown = [f"  {item}" for item in self.items[:_MOST_SHOWN]]
        more = len(self.items) - len(shown)
        return [*shown, f"  and {more} more"] if more else shown

    def as_json(self) -> dict[str, Any]:
        """Return it as data that `from_json` reads, for the server of a live lab."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ConsentRequest:
        """Return the request that `as_json` wrote."""
        items = tuple(Item(**item) for item in data["items"])
        return cls(data["where"], Subject(**data["subject"]), items)


class ConsentError(ArgumentError):
    """A lab or bundle brings code that nobody has allowed to run. Nothing of it was run."""

    def __init__(self, request: ConsentRequest) -> None:
        """Take what would have run."""
        self.request = request
        lines = "\n".join(request.lines())
        super().__init__(
            "{0} is not trusted yet, and brings code that runs outside of its nodes:\n{1}\n"
            "Nothing of it was run. Look at it first; {trust} allows it",
            printable(request.where),
            lines,
        )
