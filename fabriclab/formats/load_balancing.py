"""What a packet's next hop may be chosen by, in SAI's words (saiars.h)."""

from __future__ import annotations

from typing import Literal, get_args

Mode = Literal["flow", "flowlet-random", "flowlet-quality", "packet-random", "packet-round-robin", "packet-quality"]
MODES: tuple[Mode, ...] = get_args(Mode)
