"""The keys of a shared buffer in one mapping: a profile's file, `switches.default` or a switch's name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from fabriclab.keys.values import NONE
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.switch import keys
from fabriclab.lab.switch.numbered_sections import read_maps
from fabriclab.lab.switch.pfc import read_pfc
from fabriclab.lab.switch.port_keys import check_port_key
from fabriclab.lab.switch.queues import read_groups, read_queues
from fabriclab.lab.switch.trimming import read_trimming
from fabriclab.lab.switch.written import Numbered, WrittenLayer, WrittenMaps, WrittenPool, WrittenSlice


def read_layer(section: Section, own: Mapping[str, str]) -> WrittenLayer:
    """Return what a mapping says; what is wrong is recorded.

    `own`: the names of the user's own sharing policies, by file.
    """
    return replace(
        _read_port_layer(section, own),
        cell=section.read(keys.CELL),
        slices=_read_slices(section),
        pools=_read_pools(section),
        ports=_read_ports(section, own),
    )


def _read_port_layer(section: Section, own: Mapping[str, str]) -> WrittenLayer:
    queues, groups = section.section("queues", None), section.section("priority_groups", None)
    maps = section.section("maps", keys.MAPS)
    return WrittenLayer(
        queues=Numbered() if queues is None else read_queues(queues, own),
        groups=Numbered() if groups is None else read_groups(groups),
        maps=WrittenMaps() if maps is None else read_maps(maps),
        pfc=read_pfc(section),
        slice=_read_slice(section),
        trimming=read_trimming(section),
    )


def _read_slices(section: Section) -> Written[int] | None:
    slices = section.read(keys.SLICES)
    if slices is not None and slices.value not in keys.NUMBERS_OF_SLICES:
        *others, last = map(str, keys.NUMBERS_OF_SLICES)
        slices.complain(section.problems, f"a memory has {', '.join(others)} or {last} slices")
        return None
    return slices


def _read_slice(section: Section) -> WrittenSlice:
    part = section.section("slice", keys.SLICE)
    return WrittenSlice() if part is None else WrittenSlice(part.read(keys.SLICE_IN), part.read(keys.SLICE_OUT))


def _read_ports(layer: Section, own: Mapping[str, str]) -> dict[str, WrittenLayer]:
    ports = layer.section("ports", None)
    written = {}
    for key in ports.names() if ports else ():
        if ports is not None and (port := ports.section(key, keys.PORT)) is not None and check_port_key(ports, key):
            written[key] = _read_port_layer(port, own)
    return written


def _read_pools(layer: Section) -> dict[str, WrittenPool]:
    pools = layer.section("pools", None)
    written = {}
    for name in pools.names() if pools else ():
        if pools is None or (pool := pools.section(name, keys.POOL)) is None:
            continue
        if not is_pool_name(name):
            message = f"{shown(name)} cannot name a pool; write letters, digits, '-' and '_', other than '{NONE}'"
            pools.problems.add(pools.mapping.key_place(name), pools.path(name), message, name)
        written[name] = pool.fill(WrittenPool, keys.POOL)
    return written


def is_pool_name(name: str) -> bool:
    """Return whether a pool may have this name."""
    return name != NONE and re.fullmatch(keys.POOL_NAME, name) is not None
