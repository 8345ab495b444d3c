"""The keys of a shared buffer in one mapping: a profile's file, `switches.default` or a switch's name."""

from __future__ import annotations

import re
from dataclasses import replace

from fabriclab.formats import ranges
from fabriclab.lab.reading.or_none import NONE
from fabriclab.lab.reading.problems import shown
from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.switch.account import LARGEST_BYTES
from fabriclab.lab.switch.maps import MAP_KEYS, read_maps
from fabriclab.lab.switch.pfc import read_pfc
from fabriclab.lab.switch.port_keys import check_port_key
from fabriclab.lab.switch.priority_groups import read_groups
from fabriclab.lab.switch.queues import read_queues
from fabriclab.lab.switch.written import Numbered, WrittenLayer, WrittenMaps, WrittenPool, WrittenSlice

PORT_KEYS = ("maps", "queues", "priority_groups", "pfc", "slice")
BUFFER_KEYS = ("cell", "slices", "pools", *PORT_KEYS, "ports")
SLICE_KEYS = ("in", "out")
SLICES = (1, 2, 4)
"""Into how many parts a memory may be divided: a frame's slice is two numbers, bit by bit together."""
POOL_KEYS = ("size", "headroom")
LARGEST_CELL_BYTES = ranges.CELL_BYTES.most
"""`parse.c` of the kernel's `switch_port`."""
POOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")


def read_layer(section: Section) -> WrittenLayer:
    """Return what a mapping says; what is wrong is recorded."""
    return replace(
        _read_port_layer(section),
        cell=section.size("cell", 1, LARGEST_CELL_BYTES),
        slices=_read_slices(section),
        pools=_read_pools(section),
        ports=_read_ports(section),
    )


def _read_port_layer(section: Section) -> WrittenLayer:
    queues, groups = section.section("queues", None), section.section("priority_groups", None)
    maps = section.section("maps", MAP_KEYS)
    return WrittenLayer(
        queues=Numbered() if queues is None else read_queues(queues),
        groups=Numbered() if groups is None else read_groups(groups),
        maps=WrittenMaps() if maps is None else read_maps(maps),
        pfc=read_pfc(section),
        slice=_read_slice(section),
    )


def _read_slices(section: Section) -> Written[int] | None:
    slices = section.count("slices", SLICES[0], SLICES[-1])
    if slices is not None and slices.value not in SLICES:
        slices.complain(section.problems, f"a memory has {', '.join(map(str, SLICES[:-1]))} or {SLICES[-1]} slices")
        return None
    return slices


def _read_slice(section: Section) -> WrittenSlice:
    part = section.section("slice", SLICE_KEYS)
    if part is None:
        return WrittenSlice()
    return WrittenSlice(part.count("in", 0, SLICES[-1] - 1), part.count("out", 0, SLICES[-1] - 1))


def _read_ports(layer: Section) -> dict[str, WrittenLayer]:
    ports = layer.section("ports", None)
    written = {}
    for key in ports.names() if ports else ():
        if ports is not None and (port := ports.section(key, PORT_KEYS)) is not None and check_port_key(ports, key):
            written[key] = _read_port_layer(port)
    return written


def _read_pools(layer: Section) -> dict[str, WrittenPool]:
    pools = layer.section("pools", None)
    written = {}
    for name in pools.names() if pools else ():
        if pools is None or (pool := pools.section(name, POOL_KEYS)) is None:
            continue
        if not is_pool_name(name):
            message = f"{shown(name)} cannot name a pool; write letters, digits, '-' and '_', other than '{NONE}'"
            pools.problems.add(pools.mapping.key_place(name), pools.path(name), message, name)
        written[name] = WrittenPool(
            size=pool.size("size", 1, LARGEST_BYTES), headroom=pool.size("headroom", 0, LARGEST_BYTES)
        )
    return written


def is_pool_name(name: str) -> bool:
    """Return whether a pool may have this name."""
    return name != NONE and POOL_NAME.fullmatch(name) is not None
