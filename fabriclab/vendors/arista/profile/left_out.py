"""What is not taken of a file: counted, with the reason."""

from __future__ import annotations

from fabriclab.vendors.arista.profile.qos import LeftOut


class Ledger:
    """Counts the commands that are not taken, by reason."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, what: str, why: str, count: int = 1) -> None:
        """Count a command that is left out."""
        self._counts[what, why] = self._counts.get((what, why), 0) + count

    def entries(self) -> tuple[LeftOut, ...]:
        """Return one entry for each kind of command, in the order of the file."""
        return tuple(LeftOut(what, count, why) for (what, why), count in self._counts.items())
