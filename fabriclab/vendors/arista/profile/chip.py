"""The switch chip that an EOS configuration runs on: memory, limits and headroom of a profile,
without its scheduling and PFC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabriclab.keys.wording import listed, nearest, shown
from fabriclab.lab.reading.document import MappingValue, SequenceValue, Value, read_document
from fabriclab.lab.reading.problems import LabError, Problems
from fabriclab.lab.switch.keys import PROFILES
from fabriclab.lab.switch.profile import parse_profile, profile_names
from fabriclab.vendors.common.sourced_values import Block, Figure

_SCHEDULING = ("scheduler", "weight", "cir", "cbs", "pir", "pbs", "wred", "phantom")
"""What EOS says of a queue itself."""


@dataclass(frozen=True)
class Chip:
    """The memory of a switch chip, as its profile's file says it."""

    name: str
    head: Mapping[str, str]
    """bandwidth, port_rate, cell."""
    cell_bytes: int | None
    port_rate_bps: int | None
    sources: tuple[str, ...]
    pools: Mapping[str, Block]
    queue: Block
    """What a queue has, in the words of the lab language."""
    lossless_queue: Block
    """What a queue of a lossless class has instead."""
    group: Block | None
    """What a priority group has, likewise; None: the profile limits queues alone."""
    lossless_group: Block | None
    """What a lossless group has instead."""


def read_chip(name: str) -> Chip:
    """Return the memory of a profile that comes with fabriclab. Raises LabError for another name."""
    if name not in profile_names():
        near = nearest(name, profile_names())
        raise ChipError(
            f"{shown(name)} is not a switch profile; {f'did you mean {near!r}? ' if near else ''}valid here: "
            f"{listed(profile_names())}"
        )
    path = PROFILES / f"{name}.yml"
    problems = Problems()
    document = read_document(path, problems, named=True)
    profile, found = parse_profile(path.read_text(encoding="utf-8"), name, path.name)
    if document is None or profile is None or found:
        raise LabError([*problems.found(), *found.found()])
    queues, groups = _mapping(document, "queues"), _mapping(document, "priority_groups")
    return Chip(
        name=name,
        head={
            key: _text(document.entries[key]) for key in ("bandwidth", "port_rate", "cell") if key in document.entries
        },
        cell_bytes=None if profile.layer.cell is None else profile.layer.cell.value,
        port_rate_bps=None if profile.port_rate is None else profile.port_rate.value,
        sources=_sources(document.entries.get("source")),
        pools={pool: _block(value, name) for pool, value in _mapping(document, "pools").items()},
        queue=_without_scheduling(_block(queues.get("default"), name)),
        lossless_queue=_without_scheduling(_lossless_queue(queues, groups, name)),
        group=_block(groups["default"], name) if "default" in groups else None,
        lossless_group=next((block for block in _special(groups, name).values() if "lossless" in block), None),
    )


class ChipError(ValueError):
    """There is no such profile; the text says which there are."""


def _mapping(document: MappingValue, key: str) -> Mapping[str, Value]:
    value = document.entries.get(key)
    return value.entries if isinstance(value, MappingValue) else {}


def _special(blocks: Mapping[str, Value], name: str) -> dict[str, Block]:
    return {key: _block(value, name) for key, value in blocks.items() if key != "default"}


def _lossless_queue(queues: Mapping[str, Value], groups: Mapping[str, Value], name: str) -> Block:
    """Return what the queues have whose number a lossless group has."""
    lossless = [key for key, block in _special(groups, name).items() if "lossless" in block]
    special = _special(queues, name)
    return next((special[key] for key in lossless if key in special), {})


def _block(value: Value | None, name: str) -> Block:
    entries = value.entries.items() if isinstance(value, MappingValue) else ()
    return {
        key: Figure(_text(one), name) if not isinstance(one, MappingValue) else _block(one, name)
        for key, one in entries
    }


def _without_scheduling(block: Block) -> Block:
    return {key: value for key, value in block.items() if key not in _SCHEDULING}


def _sources(value: Value | None) -> tuple[str, ...]:
    if isinstance(value, SequenceValue):
        return tuple(_text(item) for item in value.items)
    return () if value is None else (_text(value),)


def _text(value: Value) -> str:
    if isinstance(value, SequenceValue):
        return f"[{', '.join(map(_text, value.items))}]"
    return "" if isinstance(value, MappingValue) else value.text
