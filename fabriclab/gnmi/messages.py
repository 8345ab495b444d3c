"""gNMI's messages: paths and values as the protocol has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pygnmi.spec.v080 import gnmi_pb2

from fabriclab.gnmi.tree import MODELS, ORIGINS, Element, Leaf, Path

VERSION = "0.8.0"
ENCODINGS = (gnmi_pb2.JSON, gnmi_pb2.PROTO, gnmi_pb2.JSON_IETF)
T0_NS = 946_684_800 * 10**9
"""What the lab's epoch is called: 2000-01-01, as in files for flent and Prometheus."""


class BadPathError(ValueError):
    """A path that the tree cannot have."""


def path_of(message: Any) -> Path:
    """Return the parts of a path. Raises BadPathError."""
    if message.origin not in ORIGINS:
        raise BadPathError(f"origin {message.origin!r}: there is only openconfig")
    return tuple(Element(part.name, dict(part.key)) for part in message.elem)


def capabilities() -> Any:
    """Return what the server has."""
    models = [gnmi_pb2.ModelData(name=name, organization="OpenConfig", version=version) for name, version in MODELS]
    return gnmi_pb2.CapabilityResponse(supported_models=models, supported_encodings=ENCODINGS, gNMI_version=VERSION)


def notification(leaves: Iterable[Leaf], node: str, now_ns: int, encoding: int) -> Any:
    """Return leaves of a node at a virtual instant."""
    updates = [gnmi_pb2.Update(path=_message(path), val=_value(value, encoding)) for path, value in leaves]
    prefix = gnmi_pb2.Path(target=node, origin="openconfig")
    return gnmi_pb2.Notification(timestamp=T0_NS + now_ns, prefix=prefix, update=updates)


def text_of(path: Sequence[Element]) -> str:
    """Return a path as people write it."""
    return (
        "".join("/" + part.name + "".join(f"[{key}={value}]" for key, value in part.keys.items()) for part in path)
        or "/"
    )


def _message(path: Path) -> Any:
    return gnmi_pb2.Path(elem=[gnmi_pb2.PathElem(name=part.name, key=dict(part.keys)) for part in path])


def _value(value: int | str, encoding: int) -> Any:
    """Return a value; 64-bit numbers are texts in JSON_IETF (RFC 7951)."""
    if encoding == gnmi_pb2.PROTO:
        return gnmi_pb2.TypedValue(uint_val=value) if isinstance(value, int) else gnmi_pb2.TypedValue(string_val=value)
    if encoding == gnmi_pb2.JSON_IETF:
        return gnmi_pb2.TypedValue(json_ietf_val=json.dumps(str(value)).encode())
    return gnmi_pb2.TypedValue(json_val=json.dumps(value).encode())
