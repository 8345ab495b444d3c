"""Protobuf's wire format, as far as files of messages need it: a length and a message, one after the other.

This is our own reader because the library `protobuf` reads messages only by code that `protoc` generates, each release
of which goes with some versions of the library; and because its errors do not say where a file ends too early.

Source: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {FIXED64: 8, FIXED32: 4}
_LONGEST_VARINT = 10
"""Bytes: 64 bits, seven in each."""


class WireError(ValueError):
    """Bytes that are not in the wire format; the text says where and why."""


class Field(NamedTuple):
    """A field of a message: a number of a varint, or the bytes of anything else."""

    number: int
    wire: int
    value: int
    """Of a varint; else 0."""
    data: bytes
    """Of anything else."""


def messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages of a file. Raises WireError where it ends within one."""
    at = 0
    while at < len(data):
        length, begin = varint(data, at)
        if begin + length > len(data):
            left = len(data) - begin
            raise WireError(f"byte {at}: a message of {length} bytes begins, but the file has only {left} more")
        at = begin + length
        yield data[begin:at]


def fields(message: bytes) -> Iterator[Field]:
    """Yield the fields of a message in their order. Raises WireError."""
    at = 0
    while at < len(message):
        key, begin = varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = varint(message, begin)
            yield Field(number, wire, value, b"")
            continue
        if wire == LENGTH:
            length, begin = varint(message, begin)
        elif wire in _FIXED_BYTES:
            length = _FIXED_BYTES[wire]
        else:
            raise WireError(f"byte {at} of the message: wire type {wire} is none of protobuf's 0, 1, 2 and 5")
        at = begin + length
        if at > len(message):
            raise WireError(f"byte {begin} of the message: field {number} is longer than the message")
        yield Field(number, wire, 0, message[begin:at])


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number without a sign at a place, and the place behind it. Raises WireError."""
    value = 0
    for place in range(_LONGEST_VARINT):
        if at + place >= len(data):
            raise WireError(f"byte {at}: a number begins, but nothing follows")
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at + place + 1
    raise WireError(f"byte {at}: a number of more than {_LONGEST_VARINT} bytes")


def varints(field: Field) -> list[int]:
    """Return the numbers of a repeated field: one where it stands alone, all of them where they are packed."""
    if field.wire == VARINT:
        return [field.value]
    found: list[int] = []
    at = 0
    while at < len(field.data):
        value, at = varint(field.data, at)
        found.append(value)
    return found
