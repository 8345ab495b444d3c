"""ASIC_DB as its dump has it: objects of SAI with their attributes, references resolved to what they refer to.

Source: sonic-sairedis (ASIC_STATE:SAI_OBJECT_TYPE_...:oid), SAI's headers for the attributes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fabriclab.lab.reading.problems import LabError, Mistake

_STATE = "ASIC_STATE"
_TYPE = "SAI_OBJECT_TYPE_"
_ESCAPED = re.compile(r"\\x([0-9A-Fa-f]{2})")
Attributes = Mapping[str, str]


class AsicDb:
    """The objects of a switch by kind (`BUFFER_POOL`) and oid."""

    def __init__(self, objects: Mapping[str, Mapping[str, Attributes]]) -> None:
        """Take them as read."""
        self._objects = objects

    def of(self, kind: str) -> Mapping[str, Attributes]:
        """Return the objects of a kind by oid."""
        return self._objects.get(kind, {})

    def ports(self) -> dict[str, Attributes]:
        """Return the ports by the name of their interface (SAI_OBJECT_TYPE_HOSTIF), those that have one."""
        ports = self.of("PORT")
        names = {
            interface.get("SAI_HOSTIF_ATTR_OBJ_ID", ""): _plain(interface.get("SAI_HOSTIF_ATTR_NAME", ""))
            for interface in self.of("HOSTIF").values()
        }
        return {names[oid]: port for oid, port in ports.items() if names.get(oid)}


def _plain(text: str) -> str:
    """Return a text that sairedis wrote (sai_serialize_chardata): what is neither letter nor digit is `\\x2D` there."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def read_asic_db(data: bytes, file: str) -> AsicDb:
    """Return what a dump holds: `sonic-db-dump -n ASIC_DB -d -y`, or keys with their hashes. Raises LabError."""
    try:
        document: Any = json.loads(data)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise _error(file, f"is not JSON ({error}); dump ASIC_DB with: sonic-db-dump -n ASIC_DB -d -y") from error
    objects: dict[str, dict[str, Attributes]] = {}
    for key, written in document.items() if isinstance(document, dict) else ():
        words = key.split(":", 2)
        if len(words) != 3 or words[0] != _STATE or not words[1].startswith(_TYPE):
            continue
        value = written.get("value", written) if isinstance(written, dict) else {}
        attributes = {str(name): str(one) for name, one in value.items() if name != "NULL"}
        objects.setdefault(words[1].removeprefix(_TYPE), {})[words[2]] = attributes
    if not objects.get("PORT"):
        raise _error(
            file, "is not an ASIC_DB of a switch: it has no port; dump it with: sonic-db-dump -n ASIC_DB -d -y"
        )
    return AsicDb(objects)


def _error(file: str, message: str) -> LabError:
    return LabError([Mistake(file, None, "", "", message)])
