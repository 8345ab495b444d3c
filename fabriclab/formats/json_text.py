"""JSON from outside: bounded in size, depth and digits, and one error for whatever is wrong with it."""

from __future__ import annotations

import json
from typing import Any

LARGEST_JSON_BYTES = 1 << 27
"""The plan of a fabric of a thousand hosts has 20 MB, and a manifest holds one; a value takes some ten times its
text in memory."""
DEEPEST = 64
"""A plan has a depth of 12."""
_MOST_DIGITS = 40


class JsonError(ValueError):
    """A text is no JSON, or more than is read; the text says what is wrong with it."""


def parse_json(text: str | bytes) -> Any:
    """Return what a JSON text holds. Raises JsonError."""
    if len(text) > LARGEST_JSON_BYTES:
        raise JsonError(f"has {len(text)} bytes; at most {LARGEST_JSON_BYTES >> 20} MiB of JSON are read")
    try:
        data = json.loads(text, parse_int=_whole_number)
    except RecursionError:
        raise JsonError(f"is nested more than {DEEPEST} deep") from None
    except JsonError:
        raise
    except ValueError as error:  # its own, of what is no UTF-8 as well
        raise JsonError(f"not JSON: {error}") from error
    _check_depth(data)
    return data


def _whole_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise JsonError(f"has a number of {len(digits)} digits; at most {_MOST_DIGITS} are read")
    return int(digits)


def _check_depth(data: Any) -> None:
    """Raise JsonError for what is nested too deep: whoever walks through it later calls itself for each level."""
    level = [data] if isinstance(data, dict | list) else []
    for _ in range(DEEPEST):
        inner = (value for one in level for value in (one.values() if isinstance(one, dict) else one))
        level = [value for value in inner if isinstance(value, dict | list)]
    if level:
        raise JsonError(f"is nested more than {DEEPEST} deep")
