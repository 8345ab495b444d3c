"""A run's summary, `summary.json`: its metrics, and what was missing or cut in its logs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from fabriclab.formats import names
from fabriclab.formats.run_directory import SUMMARY_FORMAT

_LARGEST = 2**63 - 1


def _is_number(value: Any) -> Any:
    """Return a number, or None. Raises ValueError for what is neither, and for a whole number that no table holds."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError("must be a number or null")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError(f"must be a whole number of at most {_LARGEST}")
    return value


_Number = Annotated[int | float | None, BeforeValidator(_is_number)]


class Summary(BaseModel):
    """The keys in the order in which they are written."""

    model_config = ConfigDict(extra="ignore")

    format: str = SUMMARY_FORMAT
    notes: list[Annotated[str, names.PROSE]]
    metrics: dict[Annotated[str, names.LINE], _Number]
    """By name; None: it was not measured."""
