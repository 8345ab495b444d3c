"""A part of a switch that can be given up with `none`: a mapping, or that word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.problems import listed, shown
from fabriclab.lab.reading.section import Section

T = TypeVar("T")
NONE = "none"


def read_part(section: Section, name: str, keys: Sequence[str], read: Callable[[Section], T], none: T) -> T | None:
    """Return what `read` makes of the mapping below `name`, `none` where the word stands there;
    None when it is absent or wrong."""
    value = section.get(name)
    if isinstance(value, ScalarValue) and not value.is_null:
        if value.text.strip() == NONE:
            return none
        section.complain(name, f"{shown(value.text)} stands here; a mapping of {listed(keys)} is wanted, or '{NONE}'")
        return None
    part = section.section(name, keys)
    return None if part is None else read(part)
