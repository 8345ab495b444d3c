"""Defaults with their sources, as they stand in the code: the docstring of a constant or field says from where."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType

from fabriclab.lab.reading import defaults
from fabriclab.lab.reading.percent import format_percent
from fabriclab.units import DURATION, RATE, SIZE, format_quantity


@dataclass(frozen=True)
class Default:
    """What holds where a key is not written."""

    text: str
    """In words."""
    source: str = ""
    """Where it comes from."""
    value: str | int | bool | None = None
    """The value that one would write to the same effect; None: there is none."""


def words(text: str) -> Default:
    """Return a default that is no one value, such as all hosts."""
    return Default(text)


def plain(value: str | int | bool, source: str = "") -> Default:
    """Return a default that can be written."""
    return Default(f"`{str(value).lower() if isinstance(value, bool) else value}`", source, value)


def constant(name: str, *, has_unit: bool = True) -> Default:
    """Return a constant of `fabriclab.lab.reading.defaults` as it would be written, with its docstring as its source.

    The ending of its name is its unit, which a plain number (an MTU) is written without.
    """
    value: int | str | bool = getattr(defaults, name)
    if isinstance(value, int) and has_unit:
        if name.endswith("_NS"):
            value = "0 s" if value == 0 else format_quantity(value, DURATION)
        elif name.endswith("_S"):
            value = f"{value} s"
        elif name.endswith("_BYTES"):
            value = format_quantity(value, SIZE)
        elif name.endswith("_BPS"):
            value = format_quantity(value, RATE)
        elif name.endswith("_PPM"):
            value = format_percent(value)
    return plain(value, _SOURCES.get(name, ""))


def docstrings(owner: ModuleType | type) -> Mapping[str, str]:
    """Return the docstrings below assignments of a module or of a class, each as one line without its last dot."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    body = tree.body
    if isinstance(owner, type):
        assert isinstance(body[0], ast.ClassDef)
        body = body[0].body
    found = {}
    for before, after in pairwise(body):
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            targets = before.targets if isinstance(before, ast.Assign) else [getattr(before, "target", None)]
            text = " ".join(after.value.value.split()).removesuffix(".")
            found.update({target.id: text for target in targets if isinstance(target, ast.Name)})
    return found


_SOURCES = docstrings(defaults)
