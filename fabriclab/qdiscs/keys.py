"""The keys of `aqm` that qdiscs have: a word that two kinds share is one key, read in one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_LARGEST_NUMBER = 2**31 - 1


@dataclass(frozen=True)
class Key:
    """What may be written below a key."""

    name: str
    meaning: Literal["duration", "size", "count", "flag", "word"]
    """A duration is in nanoseconds, and whole microseconds, in which qdiscs are told (tc-codel(8),
    tc-pie(8)); a size is in bytes."""
    least: int = 0
    most: int = _LARGEST_NUMBER
    words: tuple[str, ...] = ()
    """What a word may be."""


def duration(name: str) -> Key:
    """Return a key whose value is a time from 1 us to 10 s."""
    return Key(name, "duration", 1_000, 10 * 10**9)


TARGET = duration("target")
INTERVAL = duration("interval")
ECN = Key("ecn", "flag")
