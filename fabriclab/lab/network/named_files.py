"""Files that nodes of a Containerlab file name, by their paths as they are written.

A topology file may lie below the directory that was named, such as `lab/topology/lab.clab.yml` beside `lab/configs`:
then the lab is all of that directory, and paths are told as seen from there.

Source: Containerlab's `clab/config.go` and containerlab.dev/manual/nodes: relative paths of `binds`, `env-files` and
`startup-config` start at the topology file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value
from fabriclab.lab.setup.binds import is_of_lab_path

_READ = ("env-files", "startup-config")
_BINDS = "binds"
_LAYERS = ("kinds", "groups", "nodes")
"""Sections of a topology that hold mappings of a node's keys, by name; `defaults` is one such mapping."""


def read_files(document: MappingValue) -> Iterator[str]:
    """Yield the lab's files that nodes name and do not bind."""
    topology = document.entries.get("topology")
    entries = topology.entries if isinstance(topology, MappingValue) else {}
    layers = [entries["defaults"]] if "defaults" in entries else []
    for section in (entries[name] for name in _LAYERS if name in entries):
        layers += section.entries.values() if isinstance(section, MappingValue) else ()
    for layer in layers:
        if isinstance(layer, MappingValue):
            for value in (layer.entries[name] for name in _READ if name in layer.entries):
                items = value.items if isinstance(value, SequenceValue) else (value,)
                yield from (item.text for item in items if isinstance(item, ScalarValue) and _is_path(item))


def moved_up(document: MappingValue, file: Path, directory: Path) -> MappingValue:
    """Return the document of a Containerlab file as it would be if the file lay in `directory`, in or below which it
    lies."""
    below = PurePosixPath(file.parent.relative_to(directory))
    topology = document.entries.get("topology")
    if below == PurePosixPath(".") or not isinstance(topology, MappingValue):
        return document
    entries = dict(topology.entries)
    for name in _LAYERS:
        entries = _with(entries, name, lambda section: _each(section, lambda layer: _layer(layer, below)))
    entries = _with(entries, "defaults", lambda layer: _layer(layer, below))
    return document.with_entry("topology", MappingValue(entries, topology.key_places, topology.place))


def _with(entries: dict[str, Value], name: str, change: Callable[[Value], Value]) -> dict[str, Value]:
    return {**entries, name: change(entries[name])} if name in entries else entries


def _each(section: Value, change: Callable[[Value], Value]) -> Value:
    if not isinstance(section, MappingValue):
        return section
    entries = {name: change(value) for name, value in section.entries.items()}
    return MappingValue(entries, section.key_places, section.place)


def _layer(layer: Value, below: PurePosixPath) -> Value:
    if not isinstance(layer, MappingValue):
        return layer
    changed = {name: _paths(value, below) for name, value in layer.entries.items() if name in (_BINDS, *_READ)}
    return MappingValue({**layer.entries, **changed}, layer.key_places, layer.place)


def _paths(value: Value, below: PurePosixPath) -> Value:
    if isinstance(value, SequenceValue):
        return SequenceValue(tuple(_paths(item, below) for item in value.items), value.place)
    if not isinstance(value, ScalarValue) or not _is_path(value):
        return value
    path, colon, rest = value.text.partition(":")
    return replace(value, text=os.path.normpath(below / path) + colon + rest)


def _is_path(value: ScalarValue) -> bool:
    """Return whether a text names a file of the lab; a startup configuration may stand in the topology itself."""
    return not value.is_null and "\n" not in value.text and is_of_lab_path(value.text)
