"""Where a switch's value was written, by the path that a finding names."""

from __future__ import annotations

from typing import Any

from fabriclab.lab.reading.section import Written
from fabriclab.lab.switch.written import WrittenGroup, WrittenQueue, WrittenSwitch

_ACCOUNT = {"pool": "pool", "reserved": "reserved", "alpha": "alpha_log", "limit": "limit"}


def written_at(switch: WrittenSwitch, path: tuple[str, ...]) -> Written[Any] | None:
    """Return what stands at `path` (`("queues", "3", "wred", "min")`); None: nothing does, a default holds."""
    part, *more = path
    buffer = switch.buffer
    if part == "pools":
        return _descend(buffer.pools.get(more[0]), more[1:])
    if part in ("queues", "priority_groups") and more[0].isdigit():
        entries: dict[int, WrittenQueue | WrittenGroup] = {**(buffer.queues if part == "queues" else buffer.groups)}
        entry = entries.get(int(more[0]))
        return (
            _descend(entry.account, [_ACCOUNT[more[1]]])
            if entry is not None and more[1] in _ACCOUNT
            else _descend(entry, more[1:])
        )
    return _descend(buffer.pfc, more) if part == "pfc" else None


def _descend(record: object, words: list[str]) -> Written[Any] | None:
    for word in words:
        record = getattr(record, word, None)
    return record if isinstance(record, Written) else None
