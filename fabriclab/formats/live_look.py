"""The records of a look into a live lab's machine, as the kernel lays them out.

`images/machine/kernel/tree/include/uapi/linux/fabriclab_live.h` says what they mean, and `switch_port.h`'s statistics
are in some (`images/machine/kernel/tree/net/sched/switch_port/uapi`); a test compares. Numbers are of the machine's
byte order, which is the host's.
"""

from __future__ import annotations

from enum import IntEnum

UNKNOWN = 2**64 - 1
"""What the kernel does not know, or has no end."""
EVERY_NODE = UNKNOWN
LOOK_FRAMES = 1
"""A bit of LOOK: each frame, too."""

PLACE = "=I16s"
"""A port that is looked at: the node's number, the interface."""
RECORD = "=HHI"
"""What a record begins with: its kind, its length in all, a number whose meaning is its kind's."""


class Record(IntEnum):
    """Kinds of records (`enum live_record_kind`)."""

    PORT = 1
    SWITCH_PORT = 2
    QUEUE = 3
    GROUP = 4
    QDISC = 5
    FRAME = 6
    CONNECTION = 7


PORT = "=4Q2I"
"""tx bytes, tx packets, rx bytes, rx packets; whether it exists, whether it is up."""
SWITCH_PORT = "=Q2I31Q"
"""rate, paused, pausing; marks, drops, pauses sent and received, frames on the wire, lost, ports; then the pools."""
POOLS = 4
POOL_WORDS = 6
"""Of a pool: size, reserved, used, watermark, headroom, watermark of the headroom."""
QUEUE = "=3Q18Q"
"""limit, reserved, (none); bytes, packets, cells, watermark, sent bytes, sent packets; 7 kinds of drops, 2 of marks;
times paused, ns paused, storms."""
GROUP = "=3Q8Q"
"""limit, reserved, whether in XOFF; bytes, of them in headroom, watermark, received bytes, received packets, discards;
times in XOFF, ns in XOFF."""
QDISC = "=16s2I6Q"
"""kind, parent, packets; bytes, drops, overlimits, sent bytes, sent packets, rate; then its own statistics."""
FRAME = "=QIHH"
"""ns waited, bytes, EtherType, how much of it follows."""
CONNECTION = "=HHIHHI16s16s"
"""family, state, mark, local port, remote port, (none), local address, remote address."""
CONNECTION_STATE = "=16s10Q22I6I"
"""Of a connection that is open: `struct live_connection_state`."""
