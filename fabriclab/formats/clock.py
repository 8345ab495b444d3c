"""Which clock an engine's times are of: the virtual machine's stands while its processors are busy,
containers have the host's."""

from __future__ import annotations

from typing import Literal

Clock = Literal["virtual", "real"]


def clock_of(engine: object) -> Clock:
    """Return the clock of an engine by its name in the manifest; `virtual_s` there is seconds of that
    clock, whichever it is."""
    return "real" if engine == "containerlab" else "virtual"
