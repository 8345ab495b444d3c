"""What a field of a record may hold, declared once, beside its type: `rounds: Annotated[int, Within(1, 10**6)]`.

A lab's readers take their bounds from these declarations; the reader of a plan's JSON enforces them, so that a plan
from a stranger can say nothing that a lab's text could not. Pydantic asks a constraint for its schema only when a plan
is read: whoever reads a lab alone does not wait for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record of the plan that the lab's readers make, so that it is the standard library's: who reads a lab alone
    does not wait for pydantic. Of JSON it refuses unknown keys."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}


class Within(NamedTuple):
    """A whole number within bounds, both included."""

    least: int
    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of a whole number, which true and false are not."""
        return {**handler(source), "strict": True, "ge": self.least, "le": self.most}


class Finite(NamedTuple):
    """A number within bounds, both included; neither infinite nor NaN."""

    least: float = -math.inf
    most: float = math.inf

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of such a number."""
        return _checked(self._refusal, handler(source))

    def _refusal(self, value: float) -> str | None:
        if math.isfinite(value) and self.least <= value <= self.most:
            return None
        return f"Input should be a finite number from {self.least:g} to {self.most:g}"


class Text(NamedTuple):
    """A text of a kind, and no other."""

    what: str
    """The kind in words, such as `a host's name`."""
    fits: Callable[[str], object]
    """Whether a text is of it."""
    most_characters: int = 4096
    pattern: str | None = None
    """A regular expression that says the same as `fits`, for pydantic, which is faster by itself."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of such a text."""
        from pydantic_core import core_schema

        schema: Any = {**handler(source), "strict": True, "max_length": self.most_characters}
        if self.pattern is None:
            fits, refusal = self.fits, f"Input should be {self.what}"  # the schema has the length
            return _checked(lambda text: None if fits(text) else refusal, schema)
        schema["pattern"] = f"^(?:{self.pattern})$"
        return core_schema.custom_error_schema(
            schema, "constraint", custom_error_message=f"Input should be {self.what}"
        )

    def is_in(self, text: str) -> bool:
        """Return whether a text is of this kind."""
        return len(text) <= self.most_characters and bool(self.fits(text))


class Scalars(NamedTuple):
    """A setting's value: a text of one line, a finite number, or a truth value."""

    most_characters: int = 4096
    largest: float = 2.0**63

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of such a value."""
        return _checked(self._refusal, handler(source))

    def _refusal(self, value: str | float) -> str | None:
        if isinstance(value, str):
            return None if len(value) <= self.most_characters else f"Input has more than {self.most_characters} letters"
        return None if abs(value) <= self.largest else f"Input should be a finite number of at most {self.largest:g}"


class Holding(NamedTuple):
    """A list of so many entries."""

    least: int
    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of such a list."""
        return _checked(self._refusal, handler(source))

    def _refusal(self, value: tuple[Any, ...]) -> str | None:
        if self.least <= len(value) <= self.most:
            return None
        wanted = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        return f"Input should have {wanted} entries, not {len(value)}"


def matching(what: str, pattern: str, most_characters: int = 4096) -> Text:
    """Return the kind of text all of which a regular expression describes, in what Python's and Rust's share."""
    return Text(what, re.compile(pattern).fullmatch, most_characters, pattern)


def _checked(refusal: Callable[[Any], str | None], schema: CoreSchema) -> CoreSchema:
    """Return a schema whose values `refusal` is asked about; it returns what is wrong, or None."""
    from pydantic_core import PydanticCustomError, core_schema

    def check(value: Any) -> Any:
        wrong = refusal(value)
        if wrong is not None:
            raise PydanticCustomError("constraint", "{wrong}", {"wrong": wrong})
        return value

    return core_schema.no_info_after_validator_function(check, schema)


ALGORITHM_NAME = matching("a name of 1 to 15 letters, digits, '-' or '_'", r"[A-Za-z0-9_-]{1,15}")
"""What a congestion control or a qdisc registers itself as: TCP_CA_NAME_MAX and IFNAMSIZ are 16 with the final zero
(include/net/tcp.h, include/net/sch_generic.h)."""
