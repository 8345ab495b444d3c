"""The keys of `aqm` that qdiscs have: a word that two kinds share is one key, read in one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabriclab.constraints import Text, Within
from fabriclab.keys.quantities import Flag, Number, Quantity
from fabriclab.keys.values import Plain, Word
from fabriclab.units import DURATION

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

LARGEST_NUMBER = 2**31 - 1
_US = 1_000


@dataclass(frozen=True)
class Option:
    """What may be written below a key of `aqm`; what it means is the docstring of the qdisc's field."""

    name: str
    value: Plain[Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of what a lab may write: a plan may say no more."""
        if isinstance(self.value, Flag):
            return handler(source)
        if isinstance(self.value, Word):
            words = self.value.words
            constraint: Text | Within = Text(f"one of {', '.join(words)}", words.__contains__)
        else:
            assert isinstance(self.value, Number | Quantity) and self.value.most is not None
            constraint = Within(self.value.least, self.value.most)
        schema: Any = handler(source)
        if schema["type"] != "nullable":
            return constraint.__get_pydantic_core_schema__(source, handler)
        inner = constraint.__get_pydantic_core_schema__(source, lambda _: schema["schema"])  # type: ignore[arg-type] # it wants no more
        return {**schema, "schema": inner}


def duration(name: str) -> Option:
    """Return a key whose value is a time from 1 us to 10 s, in the whole microseconds in which qdiscs are told
    (tc-codel(8), tc-pie(8))."""
    return Option(name, Quantity(DURATION, _US, 10**10, step=_US, why_step="in which the qdisc is configured"))


TARGET = duration("target")
INTERVAL = duration("interval")
ECN = Option("ecn", Flag())
