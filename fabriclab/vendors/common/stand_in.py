"""What a switch's own configuration says where FRR stands in for its software: what of it can act, and what was not
read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface


@dataclass(frozen=True)
class StandIn:
    """What a configuration gives to the FRR switch in its place."""

    addresses: Mapping[str, IPv4Interface] = field(default_factory=dict)
    """By interface, as Linux calls it."""
    mtus: Mapping[str, int] = field(default_factory=dict)
    """In bytes of an IP packet, likewise."""
    loopback: IPv4Address | None = None
    asn: int | None = None
    profile: str = ""
    """Its buffers and QoS, the text of a switch profile without its head; empty: nothing said."""
    read: tuple[str, ...] = ()
    """What was taken, a few words each."""
    unread: tuple[str, ...] = ()
    """What was not."""
    notes: tuple[str, ...] = ()
    """What is worth a sentence of what was taken."""


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
