"""A part of a switch or host that can be given up with `none`: a mapping, or that word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from fabriclab.keys.mappings import Keys
from fabriclab.keys.values import NONE
from fabriclab.keys.wording import listed
from fabriclab.lab.reading.document import ScalarValue, must_be
from fabriclab.lab.reading.section import Section

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """What is written of such a part; each field that is None: nothing."""

    is_none: bool = False
    """The word stands there."""


P = TypeVar("P", bound=Part)


def read_part(section: Section, name: str, keys: Keys, read: Callable[[Section], T], none: T) -> T | None:
    """Return what `read` makes of the mapping below `name`, `none` where the word stands there;
    None when it is absent or wrong."""
    value = section.get(name)
    if isinstance(value, ScalarValue) and not value.is_null:
        if value.text.strip() == NONE:
            return none
        section.complain(name, must_be(f"a mapping (keys: {listed(keys.names)}) or '{NONE}'", value))
        return None
    part = section.section(name, keys)
    return None if part is None else read(part)


def override_part(base: P | None, over: P | None) -> P | None:
    """Return `base` overridden key by key, parts and mappings within it too; `none` on either side leaves nothing of
    the base."""
    if base is None or over is None or base.is_none or over.is_none:
        return base if over is None else over
    written = {one.name: value for one in fields(over) if (value := getattr(over, one.name)) is not None}
    parts = {
        name: override_part(getattr(base, name), value) for name, value in written.items() if isinstance(value, Part)
    }
    mappings = {
        name: {**(getattr(base, name) or {}), **value} for name, value in written.items() if isinstance(value, Mapping)
    }
    return replace(base, **{**written, **parts, **mappings})
