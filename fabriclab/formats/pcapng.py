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
_APPLICATION, _NAME, _RESOLUTION, _FLAGS = 4, 2, 9, 2
"""Options: shb_userappl, if_name, if_tsresol, epb_flags."""
_INBOUND, _OUTBOUND = 1, 2
"""Values of epb_flags; without it the direction is not known."""
_MAC = 6
HEADS_BYTES = 4096
"""More than all that stands before the first packet."""


def packet_bytes(snaplen: int) -> int:
    """Return the length of the block of a packet of which so many bytes are kept."""
    return 12 + 20 + len(_padded(bytes(snaplen))) + len(_options({_FLAGS: bytes(4)}))


class CaptureError(FabriclabError):
    """What tcpdump wrote is not a capture; the text says why."""


class Pcapng:
    """Takes a pcap stream in pieces, and returns pcapng."""

    def __init__(self, interface: str, mac: bytes | None = None, earlier_ns: int = 0) -> None:
        """Take the name that the packets' interface has in the file, and its address, where it has one of its own: it
        tells packets that came in from those that went out. `earlier_ns`: what their times become less."""
        self._interface = interface
        self._mac = mac
        self._earlier_ns = earlier_ns
        self.packets = 0
        """How many have been taken."""
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
            data = bytes(self._buffer[_PACKET_HEAD.size : end])
            time_ns = seconds * 10**9 + nanoseconds - self._earlier_ns
            blocks += _packet(time_ns, data, original, self._direction(data))
            self.packets += 1
            del self._buffer[:end]
        return bytes(blocks)

    @property
    def is_cut(self) -> bool:
        """Whether what has been taken ends within a packet, or before there was a capture."""
        return bool(self._buffer) or not self._begun

    def _direction(self, data: bytes) -> int | None:
        if self._mac is None:
            return None
        to, sender = data[:_MAC], data[_MAC : 2 * _MAC]
        return _OUTBOUND if sender == self._mac else _INBOUND if to == self._mac else None

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


def _packet(time_ns: int, data: bytes, original: int, direction: int | None) -> bytes:
    head = struct.pack("<IIIII", 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(data), original)
    options = b"" if direction is None else _options({_FLAGS: struct.pack("<I", direction)})
    return _block(_PACKET, head + _padded(data) + options)


def _options(options: dict[int, bytes]) -> bytes:
    packed = b"".join(struct.pack("<HH", code, len(value)) + _padded(value) for code, value in options.items())
    return packed + struct.pack("<HH", 0, 0)


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
