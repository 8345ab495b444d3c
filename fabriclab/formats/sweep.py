"""A sweep's own file, `sweep.json`: the points of a matrix, and where each one's run lies."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict

from fabriclab.formats import names, ranges
from fabriclab.formats.names import Setting, SettingName
from fabriclab.formats.run_directory import SWEEP_FORMAT


class SweepEntry(BaseModel):
    """A point of the matrix."""

    model_config = ConfigDict(extra="ignore")

    settings: dict[SettingName, Setting] = {}
    seed: Annotated[int, ranges.SEED] = 0
    status: Annotated[str, names.LINE] = "missing"
    run: Annotated[str, names.LAB_PATH] | None = None
    """Its run directory, below the sweep's."""


class SweepRecord(BaseModel):
    """The keys in the order in which they are written; what an older version did not write has its default."""

    model_config = ConfigDict(extra="ignore")

    format: str = SWEEP_FORMAT
    lab: Annotated[str, names.LINE] = ""
    matrix: Annotated[str, names.LINE] | None = ""
    title: Annotated[str, names.PROSE] | None = ""
    points: list[SweepEntry] = []
