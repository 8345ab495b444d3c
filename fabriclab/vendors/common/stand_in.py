"""What readers of configurations share that say what acts where FRR stands in for a switch's software."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Interface


class Unread:
    """Counts the lines that nobody reads, by what they begin with."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, what: str, lines: int = 1) -> None:
        """Count lines."""
        if lines:
            self._counts[what] = self._counts.get(what, 0) + lines

    def words(self) -> tuple[str, ...]:
        """Return what was counted, a few words each."""
        return tuple(f"{what} ({count} {'line' if count == 1 else 'lines'})" for what, count in self._counts.items())


def counted(what: str, things: Iterable[object]) -> tuple[str, ...]:
    """Return `3 addresses`; nothing where there is none."""
    count = len(list(things))
    plural = f"{what}es" if what.endswith("s") else f"{what}s"
    return (f"{count} {what if count == 1 else plural}",) if count else ()


def parsed_address(text: str) -> IPv4Interface | None:
    """Return an IPv4 address with its prefix length; None for anything else."""
    try:
        return IPv4Interface(text) if "/" in text else None
    except ValueError:
        return None


def parsed_number(text: str, low: int, high: int) -> int | None:
    """Return a whole number within bounds; None for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        return None
    return int(text) if low <= int(text) <= high else None


SMALLEST_MTU, LARGEST_MTU = 576, 65_535
LARGEST_ASN = 2**32 - 2
