"""Rules of how a file is written: references, keys, ranges that overlap, fields that nobody reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from fabriclab.lab.problems import Problem
from fabriclab.lab.sonic.config_db import BufferBinding, ConfigDb, QueueBinding
from fabriclab.lab.sonic.entries import FieldValue
from fabriclab.plan.sonic.bindings import Bindings
from fabriclab.plan.sonic.findings import Severity, SonicFinding
from fabriclab.plan.sonic.rules import finding

B = TypeVar("B", BufferBinding, QueueBinding)
_OLD_REFERENCE = re.compile(r"\[[A-Z0-9_]+\|[^\[\]]+\]")
_PORT_TABLES = ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PORT_QOS_MAP", "PFC_WD")
"""Tables whose keys begin with a port."""


def malformed(problems: Iterable[Problem]) -> Iterator[SonicFinding]:
    """Yield what the reader found wrong."""
    for problem in problems:
        # A key may hold a bar, as Ethernet0|3-4 does; nothing depends on where the field begins.
        yield finding("malformed", tuple(problem.key.split("|", 2)), None, problem.message, "SONiC refuses it, or takes a default")


def old_references(bindings: Bindings) -> Iterator[SonicFinding]:
    """References of the form that SONiC wrote until 2021."""
    for table, key, name, value in fields(bindings.config):
        if isinstance(value, str) and _OLD_REFERENCE.fullmatch(value):
            remedy = f"write {value[1:-1].partition('|')[2]}"
            path = (table, key, name)
            yield finding(
                "old-reference", path, value, "of the old form", "today's YANG models refuse it, and so does a config reload", remedy
            )


def port_lists(bindings: Bindings) -> Iterator[SonicFinding]:
    """Keys that name several ports."""
    for table in _PORT_TABLES:
        for key in entries(bindings.config, table):
            if "," in key:
                bound = "several ports in one key, as Configuration.md shows"
                yield finding("port-list-key", (table, key), None, bound, "the YANG models refuse it", "write an entry for each port")


def overlaps(bindings: Bindings) -> Iterator[SonicFinding]:
    """Keys of one port that name the same queue or group."""
    config = bindings.config
    yield from _overlaps(config.buffer_pgs, "BUFFER_PG", lambda one: (one.profile,))
    yield from _overlaps(config.buffer_queues, "BUFFER_QUEUE", lambda one: (one.profile,))
    yield from _overlaps(config.queues, "QUEUE", lambda one: (one.scheduler, one.wred_profile))


def _overlaps(bindings: Iterable[B], table: str, said: Callable[[B], tuple[str | None, ...]]) -> Iterator[SonicFinding]:
    first: dict[tuple[str, int], B] = {}
    for binding in bindings:
        for port in binding.ports:
            others = dict.fromkeys(first[port, index] for index in binding.indices if (port, index) in first)
            for other in others:
                common = [index for index in binding.indices if first.get((port, index)) is other]
                yield _overlap(table, binding, other, port, common, said(binding) == said(other))
            for index in binding.indices:
                first.setdefault((port, index), binding)


def _overlap(table: str, binding: B, other: B, port: str, common: list[int], is_same: bool) -> SonicFinding:
    bound = f"{', '.join(map(str, common))} of {port} stands in {table}|{other.key}, too"
    consequence = (
        "both say the same today, a change of one will not hold" if is_same else "they differ, and whichever SONiC reads last holds"
    )
    severity: Severity = "warning" if is_same else "error"
    return finding("range-overlap", (table, binding.key), None, bound, consequence, "keep one of the two", (port,), severity)


def unknown_fields(bindings: Bindings) -> Iterator[SonicFinding]:
    """Fields that the reader does not know, of tables that it reads."""
    for one in bindings.config.left_out:
        table, colon, name = one.what.partition(": ")
        if colon and one.why == "unknown field":
            entries = "an entry has" if one.entries == 1 else f"{one.entries} entries have"
            yield finding("unknown-field", (table,), None, f"{entries} a field {name}", "it has no effect here; is the name right?")


def entries(config: ConfigDb, table: str) -> Mapping[str, Mapping[str, FieldValue]]:
    """Return a table as the file has it."""
    root = config.json.value if config.json is not None else None
    written = root.get(table) if isinstance(root, dict) else None
    return {key: _texts(value) for key, value in written.items()} if isinstance(written, dict) else {}


def fields(config: ConfigDb) -> Iterator[tuple[str, str, str, FieldValue]]:
    """Yield table, key, field and value of all that stands in the file."""
    root = config.json.value if config.json is not None else None
    for table in root if isinstance(root, dict) else ():
        for key, values in entries(config, table).items():
            for name, value in values.items():
                yield table, key, name, value


def _texts(value: object) -> dict[str, FieldValue]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {str(name): str(one) for name, one in pairs if isinstance(one, str)}
