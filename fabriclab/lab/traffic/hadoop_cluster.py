"""What a lab writes of a Hadoop cluster beside its jobs: hosts, blocks, properties."""

from __future__ import annotations

import re

from fabriclab.formats import ranges
from fabriclab.lab.reading import defaults
from fabriclab.lab.reading.document import ScalarValue, describe
from fabriclab.lab.reading.problems import did_you_mean, shown
from fabriclab.lab.reading.section import Section, value_of, value_or
from fabriclab.lab.traffic.scope import Scope
from fabriclab.units import format_size

MOST_SLOTS = ranges.SLOTS.most
SMALLEST_BLOCK_BYTES, LARGEST_BLOCK_BYTES = ranges.BLOCK_BYTES
SMALLEST_DISK_BYTES, LARGEST_DISK_BYTES = ranges.DISK_BYTES
PROPERTY = r"[A-Za-z][A-Za-z0-9_.-]*"
_IDLE_KEY = "ipc.client.connection.maxidletime"
_BLOCK_STEP_BYTES = 512
"""HDFS has a checksum of so many bytes each (dfs.bytes-per-checksum), of which a block is a multiple."""


def read_block_size(section: Section) -> int:
    """Return the size of HDFS's blocks in bytes."""
    block = section.size("block_size", SMALLEST_BLOCK_BYTES, LARGEST_BLOCK_BYTES)
    if block is not None and block.value % _BLOCK_STEP_BYTES:
        right = format_size(block.value - block.value % _BLOCK_STEP_BYTES)
        message = f"{shown(block.text)} is no multiple of {_BLOCK_STEP_BYTES} B; write {right}"
        block.complain(section.problems, message)
    return value_or(block, defaults.HDFS_BLOCK_BYTES)


def read_disk_size(section: Section, block_bytes: int) -> int | None:
    """Return the size of a node's disk in bytes; None: nothing bounds it."""
    disk = section.size("disk_size", SMALLEST_DISK_BYTES, LARGEST_DISK_BYTES)
    if disk is not None and disk.value < block_bytes:
        block = format_size(block_bytes)
        message = f"{shown(disk.text)} has no room for a block of {block}; write more, or a smaller block_size"
        disk.complain(section.problems, message)
    return value_of(disk)


def read_host(section: Section, key: str, scope: Scope) -> str | None:
    """Return the host of a key; None when it is absent or wrong, which is recorded."""
    hosts = scope.names.hosts

    def convert(text: str) -> str:
        if text not in hosts and scope.names.complete:
            raise ValueError(f"{shown(text)} is no host; {did_you_mean(text, hosts)}")
        return text

    return value_of(section.read(key, "a host's name", convert))


def read_settings(section: Section) -> tuple[tuple[str, str], ...]:
    """Return Hadoop's properties as the lab writes them."""
    settings = section.section("settings", None)
    found = []
    for name in () if settings is None else settings.names():
        assert settings is not None
        value = settings.get(name)
        if re.fullmatch(PROPERTY, name) is None:
            message = f"{shown(name)} is no property of Hadoop's, such as mapreduce.task.io.sort.mb"
            section.problems.add(settings.mapping.key_place(name), settings.path(name), message, name)
        elif isinstance(value, ScalarValue) and name == _IDLE_KEY and value.text.strip() == "0":
            settings.complain(
                name, "with 0 Hadoop polls without a pause, and virtual time stands still; write 1 or more"
            )
        elif isinstance(value, ScalarValue) and not value.is_null:
            found.append((name, value.text))
        elif value is not None:
            settings.complain(name, f"{describe(value)} stands here; a value is wanted")
    return tuple(found)
