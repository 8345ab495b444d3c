"""tcpdump's stream (pcap, nanoseconds) as pcapng, packet by packet as they come.

pcapng is draft-ietf-opsawg-pcapng, pcap with nanoseconds draft-ietf-opsawg-pcap: magic number 0xa1b23c4d.
"""

from __future__ import annotations

import struct

from fabriclab.errors import FabriclabError

_FILE_HEAD = struct.Struct("<IHHiIII")
_PACKET_HEAD = struct.Struct("<IIII")
_NANOSECONDS = 0xA1B23C4D
_LARGEST_PACKET = 1 << 20
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
_UNKNOWN_LENGTH = 2**64 - 1
_APPLICATION, _NAME, _RESOLUTION = 4, 2, 9
"""Options: shb_userappl, if_name, if_tsresol."""


class CaptureError(FabriclabError):
    """What tcpdump wrote is no capture; the text says why."""


class Pcapng:
    """Takes a pcap stream in pieces, and returns pcapng."""

    def __init__(self, interface: str) -> None:
        """Take the name that the packets' interface has in the file."""
        self._interface = interface
        self._buffer = bytearray()
        self._begun = False

    def take(self, data: bytes) -> bytes:
        """Return the blocks of what is whole by now. Raises CaptureError."""
        self._buffer += data
        blocks = bytearray()
        if not self._begun and len(self._buffer) >= _FILE_HEAD.size:
            blocks += self._begin()
        while self._begun and len(self._buffer) >= _PACKET_HEAD.size:
            seconds, nanoseconds, length, original = _PACKET_HEAD.unpack_from(self._buffer)
            if length > _LARGEST_PACKET:
                raise CaptureError(f"tcpdump wrote a packet of {length} bytes; at most {_LARGEST_PACKET} are right")
            end = _PACKET_HEAD.size + length
            if len(self._buffer) < end:
                break
            blocks += _packet(seconds * 10**9 + nanoseconds, bytes(self._buffer[_PACKET_HEAD.size : end]), original)
            del self._buffer[:end]
        return bytes(blocks)

    def _begin(self) -> bytes:
        magic, _, _, _, _, longest, link_type = _FILE_HEAD.unpack_from(self._buffer)
        if magic != _NANOSECONDS:
            raise CaptureError(f"tcpdump's stream begins with {magic:#x}; nanoseconds begin with {_NANOSECONDS:#x}")
        del self._buffer[: _FILE_HEAD.size]
        self._begun = True
        section = struct.pack("<IHHQ", _BYTE_ORDER, 1, 0, _UNKNOWN_LENGTH) + _options({_APPLICATION: b"fabriclab"})
        options = _options({_NAME: self._interface.encode(), _RESOLUTION: bytes([9])})
        return _block(_SECTION, section) + _block(
            _INTERFACE, struct.pack("<HHI", link_type & 0xFFFF, 0, longest) + options
        )


def _packet(time_ns: int, data: bytes, original: int) -> bytes:
    head = struct.pack("<IIIII", 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(data), original)
    return _block(_PACKET, head + _padded(data))


def _options(options: dict[int, bytes]) -> bytes:
    packed = b"".join(struct.pack("<HH", code, len(value)) + _padded(value) for code, value in options.items())
    return packed + struct.pack("<HH", 0, 0)


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
