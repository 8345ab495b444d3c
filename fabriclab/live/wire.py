"""Messages as bytes: those of the kernel, the frames that travel in them, and those between client and server."""

from __future__ import annotations

import json
import struct
from collections import namedtuple

from fabriclab.formats.live import FRAME, HEADER, NAP, PAYLOAD_MAX, Request

TYPE_CHECKING = False  # `typing` takes as long to import as all else here
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    class Frame(NamedTuple):
        """What belongs to a session: its kind, and the bytes."""

        session: int
        kind: int
        data: bytes

    class Head(NamedTuple):
        """A message of the kernel's without its bytes."""

        kind: int
        length: int
        a: int
        b: int

else:
    # Python's `typing` takes as long to import as all else that a client needs.
    Frame = namedtuple("Frame", "session kind data")
    Head = namedtuple("Head", "kind length a b")

HEADER_BYTES = struct.calcsize(HEADER)
FRAME_BYTES = struct.calcsize(FRAME)
LARGEST_CLIENT_FRAME = 1 << 20
"""The longest frame between a client and its server, in bytes: a question or an answer; data come in smaller ones."""
DATA_MAX = PAYLOAD_MAX - FRAME_BYTES
"""The most bytes of data in one input."""


class WireError(ValueError):
    """Bytes that are not a message; the text says why."""


def request(kind: Request, a: int = 0, b: int = 0, payload: bytes = b"") -> bytes:
    """Return a message to the kernel. Raises WireError for an input that is too long."""
    if len(payload) > PAYLOAD_MAX:
        raise WireError(f"an input has {len(payload)} bytes; at most {PAYLOAD_MAX} are allowed")
    return struct.pack(HEADER, kind, len(payload), a, b) + payload


def parse_head(data: bytes) -> Head:
    """Return the head of a message of the kernel's. Raises WireError for one that announces too much."""
    head = Head(*struct.unpack(HEADER, data))
    if head.length > PAYLOAD_MAX:
        raise WireError(f"a message has {head.length} bytes; at most {PAYLOAD_MAX} are allowed")
    return head


def nap_message(calls: int, length_ns: int, ticks: int) -> bytes:
    """Return what goes with a recording's nap to the kernel."""
    return struct.pack(NAP, calls, length_ns, ticks, b"", b"")


def parse_nap(payload: bytes) -> tuple[int, int, int, str, str]:
    """Return what the kernel said of a nap: calls, length, ticks, program, node. Raises WireError."""
    if len(payload) != struct.calcsize(NAP):
        raise WireError(f"a nap has {len(payload)} bytes instead of {struct.calcsize(NAP)}")
    calls, length_ns, ticks, *names = struct.unpack(NAP, payload)
    program, node = (name.partition(b"\0")[0].decode(errors="replace") for name in names)
    return calls, length_ns, ticks, program, node


def frame(session: int, kind: int, data: bytes = b"") -> bytes:
    """Return an input for PID 1."""
    return struct.pack(FRAME, session, kind) + data


def parse_frame(payload: bytes) -> Frame:
    """Return what PID 1 wrote. Raises WireError for less than a frame."""
    if len(payload) < FRAME_BYTES:
        raise WireError(f"a frame has {len(payload)} bytes; at least {FRAME_BYTES} are needed")
    session, kind = struct.unpack_from(FRAME, payload)
    return Frame(session, kind, payload[FRAME_BYTES:])


def client_frame(kind: int, data: bytes = b"") -> bytes:
    """Return a frame between a client and its server."""
    return struct.pack(FRAME, len(data), kind) + data


def parse_client_head(data: bytes) -> tuple[int, int]:
    """Return a frame's length and kind. Raises WireError for one that announces too much."""
    length, kind = struct.unpack(FRAME, data)
    if length > LARGEST_CLIENT_FRAME:
        raise WireError(f"a frame has {length} bytes; at most {LARGEST_CLIENT_FRAME} are allowed")
    return length, kind


def encode(data: object) -> bytes:
    """Return data as JSON in one line."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogateescape")


def decode(data: bytes) -> dict[str, Any]:
    """Return the object that JSON holds. Raises WireError."""
    try:
        found = json.loads(data)
    except ValueError as error:
        raise WireError(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise WireError("JSON, but not an object")
    return found


def number(value: int) -> bytes:
    """Return what CREDIT carries."""
    return struct.pack("<I", value)


def parse_number(data: bytes) -> int:
    """Return what CREDIT carried. Raises WireError."""
    if len(data) != 4:
        raise WireError(f"a number has {len(data)} bytes instead of 4")
    return int(struct.unpack("<I", data)[0])


def window(rows: int, columns: int) -> bytes:
    """Return what RESIZE carries."""
    return struct.pack("<HH", min(rows, 0xFFFF), min(columns, 0xFFFF))
