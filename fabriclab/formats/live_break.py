"""The conditions at which a live lab's time stops, as the kernel takes them (`fabriclab_live.h`)."""

from __future__ import annotations

from enum import IntEnum

CONDITIONS = 64
"""So many at a time."""
ANY = 2**32 - 1
CONDITION = "=2I16s2IQ2I"
"""kind, node, interface, queue, whether packets are meant, threshold, mark, (none)."""
VALUE = "=Q"
"""What follows a stop by a condition: what it compares, as it was then."""


class ConditionKind(IntEnum):
    """`enum live_condition_kind`."""

    QUEUE = 1
    DROP = 2
    MARK = 3
    PAUSE = 4
    TIMEOUT = 5
    FLOW = 6
