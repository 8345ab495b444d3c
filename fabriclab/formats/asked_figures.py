"""The figures that an experiment asks for, as a run's manifest keeps them in its section `report`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

from fabriclab.constraints import Within
from fabriclab.formats import names, ranges
from fabriclab.formats.names import Setting, SettingName

_Line = Annotated[str, names.LINE]


class AskedFigure(BaseModel):
    """A figure: its kind (`fabriclab.formats.figures`), and the values of the keys that it has."""

    model_config = ConfigDict(extra="allow")

    kind: _Line
    metric: _Line | None = None
    x: _Line | None = None
    port: _Line | None = None
    switch: _Line | None = None
    queue: Annotated[int, ranges.QUEUE] | None = None
    log_x: bool | None = None
    series: list[_Line] | None = None
    traffic: list[_Line] | None = None
    bins: list[Annotated[int, Within(0, 2**63 - 1)]] | None = None
    where: dict[SettingName, list[Setting] | Setting] | None = None


class _Section(BaseModel):
    """The section `report`."""

    model_config = ConfigDict(extra="allow")

    figures: list[AskedFigure] | None = None


def _checked(section: dict[str, Any]) -> dict[str, Any]:
    """Return the section as it is. Raises pydantic.ValidationError, a ValueError."""
    _Section.model_validate(section)
    return section


ReportSection = Annotated[dict[str, Any], AfterValidator(_checked)]
