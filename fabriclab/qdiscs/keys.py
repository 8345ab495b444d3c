"""The keys of `aqm` that qdiscs have: a word that two kinds share is one key, read in one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fabriclab.constraints import Text, Within

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

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

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of what a lab may write: a plan may say no more."""
        if self.meaning == "flag":
            return handler(source)
        if self.meaning == "word":
            constraint: Text | Within = Text(f"one of {', '.join(self.words)}", self.words.__contains__)
        else:
            constraint = Within(self.least, self.most)
        schema: Any = handler(source)
        if schema["type"] != "nullable":
            return constraint.__get_pydantic_core_schema__(source, handler)
        inner = constraint.__get_pydantic_core_schema__(source, lambda _: schema["schema"])  # type: ignore[arg-type] # it wants no more
        return {**schema, "schema": inner}


def duration(name: str) -> Key:
    """Return a key whose value is a time from 1 us to 10 s."""
    return Key(name, "duration", 1_000, 10 * 10**9)


TARGET = duration("target")
INTERVAL = duration("interval")
ECN = Key("ecn", "flag")
