"""What a check or a figure means by `where`: the points of a lab that it is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Scalar = str | int | float | bool
"""A parameter's value."""


def concerns(where: Mapping[str, Any] | None, parameters: Mapping[str, Scalar]) -> bool:
    """Return whether all that a `where` names has that value, or one of a list; texts compare without spaces.

    None: of all points.
    """
    wanted = {name: value if isinstance(value, list) else [value] for name, value in (where or {}).items()}
    return all(
        name in parameters and any(_same(parameters[name], value) for value in values)
        for name, values in wanted.items()
    )


def _same(one: Scalar, other: Scalar) -> bool:
    return "".join(str(one).split()).lower() == "".join(str(other).split()).lower()
