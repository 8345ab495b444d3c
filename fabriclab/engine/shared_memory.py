"""The memory that the machines of one lab share: a line for each, and a ring for each pair of them
(`images/machine/kernel/tree/arch/um/kernel/wires.h`)."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LINE_BYTES = 128
LINES = 32
RING_HEADER_BYTES = 256
_SAID = struct.Struct("<32x3Q")


@dataclass(frozen=True)
class Shared:
    """The memory of so many machines. `descriptor` is -1 of a machine that is alone; cables carry from
    `begin_ns` on, and no cable between machines is shorter than `least_ns`."""

    count: int
    begin_ns: int
    descriptor: int = -1
    ring_bytes: int = 0
    least_ns: int = 0

    def figures(self) -> list[dict[str, float]]:
        """Return what each machine said when the lab had ended: seconds for which it waited for others, how often, and
        how many frames it sent to them."""
        if self.descriptor < 0:
            return []
        lines = (os.pread(self.descriptor, LINE_BYTES, machine * LINE_BYTES) for machine in range(self.count))
        said = (_SAID.unpack_from(line) for line in lines)
        return [
            {"waited_s": round(waited / 1e9, 3), "waits": waits, "frames_sent": sent} for waited, waits, sent in said
        ]


@contextmanager
def shared_memory(count: int, begin_ns: int, ring_bytes: int, least_ns: int) -> Iterator[Shared]:
    """Give the memory, which is gone when the last machine has ended. Raises OSError."""
    descriptor = os.memfd_create("fabriclab-wires")
    try:
        os.ftruncate(descriptor, LINES * LINE_BYTES + count * count * (RING_HEADER_BYTES + ring_bytes))
        for machine in range(count):
            # Nothing is sent before the lab begins: each may go as far at once.
            os.pwrite(descriptor, struct.pack("<Q", begin_ns + least_ns), machine * LINE_BYTES)
        yield Shared(count, begin_ns, descriptor, ring_bytes, least_ns)
    finally:
        os.close(descriptor)
