"""Reads pcapng as draft-ietf-opsawg-pcapng has it, as far as fabriclab writes it."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_DIRECTIONS = {1: "in", 2: "out"}


@dataclass(frozen=True)
class Packet:
    """A packet: when, what of it was kept, how long it was, `in`, `out`, or None for not known."""

    time_ns: int
    data: bytes
    length: int
    direction: str | None


def read_blocks(file: bytes) -> list[tuple[int, bytes]]:
    """Return each block's type and body."""
    blocks, start = [], 0
    while start < len(file):
        kind, length = struct.unpack_from("<II", file, start)
        end = start + length
        assert 12 <= length <= len(file) - start and length % 4 == 0
        assert struct.unpack_from("<I", file, end - 4) == (length,)
        blocks.append((kind, file[start + 8 : end - 4]))
        start = end
    return blocks


def read_packets(file: bytes) -> list[Packet]:
    """Return the packets of a whole file, or of a part of one."""
    return [_packet(body) for kind, body in read_blocks(file) if kind == 6]


def _packet(body: bytes) -> Packet:
    interface, high, low, kept, length = struct.unpack_from("<IIIII", body)
    assert interface == 0
    options = body[20 + kept + -kept % 4 :]
    direction = None
    if options:
        code, size, flags, end = struct.unpack("<HHII", options)
        assert (code, size, end) == (2, 4, 0)
        direction = _DIRECTIONS[flags]
    return Packet(high << 32 | low, body[20 : 20 + kept], length, direction)
