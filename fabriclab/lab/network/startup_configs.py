"""What a node of another kind is configured by: its startup-config, and binds of such files."""

from __future__ import annotations

from collections.abc import Sequence

from fabriclab.lab.reading.document import ScalarValue, SequenceValue
from fabriclab.lab.reading.section import Section, Written

_NODE_NAME = "__clabNodeName__"
"""What Containerlab puts a node's name in the place of."""


def startup_configs(name: str, layers: Sequence[Section], paths: Sequence[str]) -> tuple[Written[str], ...]:
    """Return names of files, or a text of several lines.

    `paths` are where nodes of the kind look for a bound file, or for several, in `PATH.d`.
    """
    found: list[Written[str]] = []
    for layer in layers:
        value = layer.get("startup-config")
        if isinstance(value, ScalarValue) and not value.is_null and not found:
            text = value.text.replace(_NODE_NAME, name)
            found.append(Written(text, layer.path("startup-config"), value.text, value.place))
    for layer in layers:
        value = layer.get("binds")
        for bind in value.items if isinstance(value, SequenceValue) else ():
            source, _, rest = bind.text.partition(":") if isinstance(bind, ScalarValue) else ("", "", "")
            target = rest.partition(":")[0]
            if any(target == path or target.startswith(f"{path}.d/") for path in paths):
                found.append(Written(source.replace(_NODE_NAME, name), layer.path("binds"), source, bind.place))
    return tuple(found)
