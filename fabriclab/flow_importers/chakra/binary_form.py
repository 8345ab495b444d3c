"""Execution traces as protobuf: a message `GlobalMetadata`, then a message `Node` for each node.

Source: mlcommons/chakra, schema/protobuf/et_def.proto, of which the numbers of the fields are; `protolib.py` there
writes a length before each message, and reads files that gzip has compressed.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable

from fabriclab.flow_importers.chakra.nodes import NODE_TYPES, TraceNode, Value
from fabriclab.flow_importers.chakra.wire import VARINT, Field, WireError, fields, messages, varints
from fabriclab.workload.trace_problems import TraceProblems

_GZIP = b"\x1f\x8b"
_ID, _NAME, _TYPE, _CONTROL, _DATA, _DURATION, _INPUTS, _ATTRIBUTE = 1, 2, 3, 4, 5, 7, 8, 10


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _zigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


_NUMBERS: dict[int, Callable[[int], int]] = {
    **dict.fromkeys((7, 9), _signed),
    **dict.fromkeys((11, 13, 27), int),
    **dict.fromkeys((15, 17), _zigzag),
}
"""Attributes whose value is a varint, by field: int32 and int64; uint32, uint64 and bool; sint32 and sint64. The list
of each kind is the field behind it."""
_FIXED = {3: "<d", 5: "<f", 19: "<I", 21: "<Q", 23: "<i", 25: "<q"}
"""Those of four or eight bytes: double and float; fixed32, fixed64, sfixed32 and sfixed64."""
_STRING = 29


def read_binary(data: bytes, file: str, problems: TraceProblems) -> list[TraceNode]:
    """Return the nodes of a file; what is wrong is recorded."""
    nodes: list[TraceNode] = []
    place = 1
    try:
        for message in messages(_plain(data)):
            if place > 1:
                nodes.append(_node(place, message, file, problems))
            place += 1
    except WireError as error:
        problems.add(file, place, f"{error}; it must be a Chakra execution trace, whole")
    if not nodes and not problems.count:
        problems.add(file, 1, "the file has no node; it must be a Chakra execution trace")
    return nodes


def _plain(data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise WireError(f"compressed by gzip, and {error}") from error


def _node(place: int, message: bytes, file: str, problems: TraceProblems) -> TraceNode:
    numbers = {_ID: 0, _TYPE: 0, _DURATION: 0}
    name = inputs = ""
    depends: list[int] = []
    attributes: dict[str, Value] = {}
    for field in fields(message):
        if field.number in numbers:
            numbers[field.number] = field.value
        elif field.number in (_CONTROL, _DATA):
            depends += varints(field)
        elif field.number == _NAME:
            name = _text(field)
        elif field.number == _INPUTS:
            inputs = next((_text(part) for part in fields(field.data) if part.number == 1), "")
        elif field.number == _ATTRIBUTE:
            attributes.update([_attribute(field.data)])
    kind = numbers[_TYPE]
    if kind >= len(NODE_TYPES):
        known = ", ".join(f"{number} {known}" for number, known in enumerate(NODE_TYPES))
        problems.add(file, place, f"node {numbers[_ID]}: type {kind} is unknown; the types are {known}")
        kind = 0
    waits = tuple(dict.fromkeys(depends))
    return TraceNode(place, numbers[_ID], name, NODE_TYPES[kind], waits, numbers[_DURATION], inputs, attributes)


def _text(field: Field) -> str:
    return field.data.decode(errors="replace")


def _attribute(message: bytes) -> tuple[str, Value]:
    """Return the name and the value of an `AttributeProto`; lists of other than whole numbers are left out."""
    name = ""
    value: Value = 0
    for field in fields(message):
        if field.number == 1:
            name = _text(field)
        elif field.number in _NUMBERS:
            value = _NUMBERS[field.number](field.value)
        elif field.number - 1 in _NUMBERS and field.wire != VARINT:
            number = _NUMBERS[field.number - 1]
            value = [number(one) for part in fields(field.data) for one in varints(part)]
        elif field.number == _STRING:
            value = _text(field)
        else:
            value = _fixed(field, value)
    return name, value


def _fixed(field: Field, other: Value) -> Value:
    """Return a value of four or eight bytes; `other` for a field that is none."""
    form = _FIXED.get(field.number)
    if form is None or struct.calcsize(form) != len(field.data):
        return other
    value: float | int = struct.unpack(form, field.data)[0]
    return value
