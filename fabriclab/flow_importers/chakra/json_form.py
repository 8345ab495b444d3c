"""Execution traces as JSON, as `chakra_jsonizer` writes them: an object of the metadata, then one for each node.

Source: mlcommons/chakra, src/jsonizer/jsonizer.py, which uses protobuf's own form (`MessageToJson`): whole numbers of
64 bits are texts, and a field's name is in camel case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fabriclab.flow_importers.chakra.nodes import NODE_TYPES, TraceNode, Value
from fabriclab.workload.trace_problems import TraceProblems, shown

_BLANKS = " \t\r\n"


def read_json(data: bytes, file: str, problems: TraceProblems) -> list[TraceNode]:
    """Return the nodes of a file; what is wrong is recorded."""
    nodes: list[TraceNode] = []
    place = 1
    try:
        for found in _objects(data.decode()):
            if place > 1:
                nodes.append(_node(place, found, file, problems))
            place += 1
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        problems.add(file, place, f"{error}; it must be what chakra_jsonizer writes, whole")
    if not nodes and not problems.count:
        problems.add(file, 1, "the file has no node; it must be what chakra_jsonizer writes")
    return nodes


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text):
        if text[at] in _BLANKS:
            at += 1
            continue
        found, at = decoder.raw_decode(text, at)
        yield found


def _node(place: int, found: Mapping[str, Any], file: str, problems: TraceProblems) -> TraceNode:
    number = int(found.get("id", 0))
    kind = str(found.get("type", NODE_TYPES[0]))
    if kind not in NODE_TYPES:
        problems.add(
            file, place, f"node {number}: type {shown(kind)} is unknown; the types are {', '.join(NODE_TYPES)}"
        )
        kind = NODE_TYPES[0]
    waits = dict.fromkeys(int(one) for name in ("ctrlDeps", "dataDeps") for one in found.get(name, ()))
    attributes = dict(_attribute(one) for one in found.get("attr", ()))
    inputs = str(found.get("inputs", {}).get("values", ""))
    duration = int(found.get("durationMicros", 0))
    return TraceNode(place, number, str(found.get("name", "")), kind, tuple(waits), duration, inputs, attributes)


def _attribute(found: Mapping[str, Any]) -> tuple[str, Value]:
    """Return the name and the value of an attribute; lists of other than whole numbers are left out."""
    value: Value = 0
    for kind, written in found.items():
        if kind.endswith("List") and ("int" in kind.lower() or kind in ("boolList", "fixed32List", "fixed64List")):
            value = [int(one) for one in written.get("values", ())]
        elif kind == "stringVal":
            value = str(written)
        elif kind in ("doubleVal", "floatVal"):
            value = float(written)
        elif kind.endswith("Val") and kind != "bytesVal":
            value = int(written)
    return str(found.get("name", "")), value
