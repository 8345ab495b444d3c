"""A plan's JSON, read: from this host, or from a stranger. What stands in it may not be more than a lab could say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fabriclab.errors import FabriclabError
from fabriclab.formats.plan.traffic import KINDS

if TYPE_CHECKING:
    from pydantic import ValidationError

    from fabriclab.formats.plan.model import Plan

LARGEST_PLAN_BYTES = 1 << 28
"""The plan of a fabric of a thousand hosts has 20 MB."""
_MOST_SHOWN, _MOST_SAID = 60, 300


class PlanError(FabriclabError):
    """A plan that no lab could have; the text names the key, its value and what would be right."""


def parse_plan_json(text: str | bytes) -> Plan:
    """Return the plan of `plan_json`'s text. Raises PlanError."""
    from pydantic import ValidationError

    from fabriclab.formats.plan.model import Plan

    if len(text) > LARGEST_PLAN_BYTES:
        raise PlanError(f"has {len(text)} bytes; at most {LARGEST_PLAN_BYTES >> 20} MiB of a plan are read")
    try:
        return Plan.model_validate_json(text)
    except ValidationError as error:
        raise PlanError(first_mistake(error)) from error


def parse_plan(data: Mapping[str, Any]) -> Plan:
    """Return the plan of the object that `plan_json`'s text holds. Raises PlanError."""
    try:
        return parse_plan_json(json.dumps(data))
    except (ValueError, RecursionError) as error:
        raise PlanError(f"not JSON: {error}") from error


def first_mistake(error: ValidationError) -> str:
    """Return the first thing that is wrong with a record, and how many more there are."""
    first = error.errors(include_url=False)[0]
    key = ".".join(_without_kinds(first["loc"]))
    value = first.get("input")
    told = f", not {_shown(value)}" if first["type"] != "missing" and isinstance(value, str | int | float) else ""
    more = error.error_count() - 1
    others = f" ({more} more such keys)" if more else ""
    return _printable(f"{key}: {first['msg'][:_MOST_SAID]}{told}{others}")


def _without_kinds(places: Sequence[int | str]) -> Iterator[str]:
    """Yield the way to a value as the JSON has it: pydantic adds the kind of a piece of traffic behind its number."""
    for before, place in pairwise((None, *places)):
        if not (isinstance(before, int) and place in KINDS):
            yield _cut(str(place))


def _printable(text: str) -> str:
    """Return a text with its control characters as escapes: keys and values of a stranger stand in it."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _shown(value: str | float) -> str:
    return _cut(ascii(value) if isinstance(value, str) else str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
