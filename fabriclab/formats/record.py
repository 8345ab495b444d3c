"""What every record of the plan is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable record that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
