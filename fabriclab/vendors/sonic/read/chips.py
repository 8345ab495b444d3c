"""What the name of a switch (hwsku) says of how its chip counts memory."""

from __future__ import annotations

import re
from typing import Literal

PoolHolds = Literal["all", "without xoff", "free"]
"""What the size of a BUFFER_POOL holds: all of the pool's memory; all but the headroom that groups share; or only what
nobody reserved."""

_NVIDIA = re.compile(r"(ACS-MSN|ACS-SN|LS-SN|Mellanox-|Nvidia-)", re.IGNORECASE)
_BAREFOOT = re.compile(r"(Arista-7170|montara|mavericks|newport)", re.IGNORECASE)


def is_nvidia(hwsku: str) -> bool:
    """Return whether a switch has one of NVIDIA's Spectrum chips, of which pools are what is left of the memory
    (sonic-swss, cfgmgr/buffer_pool_mellanox.lua)."""
    return _NVIDIA.match(hwsku) is not None


def pool_holds(hwsku: str) -> PoolHolds:
    """Return what the sizes of a switch's pools hold, by its hwsku; unknown ones as SAI says it: all."""
    if is_nvidia(hwsku):
        return "free"
    return "without xoff" if _BAREFOOT.match(hwsku) else "all"
