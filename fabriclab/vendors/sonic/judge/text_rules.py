"""Rules of how a file is written: references, keys, ranges that overlap, fields that nobody reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from fabriclab.formats.finding import Severity
from fabriclab.keys.wording import nearest
from fabriclab.lab.reading.problems import Mistake
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.read.config_db import BufferBinding, ConfigDb, QueueBinding
from fabriclab.vendors.sonic.read.entries import SEPARATOR, FieldValue
from fabriclab.vendors.sonic.read.known_tables import KNOWN
from fabriclab.vendors.sonic.read.left_out import MANAGEMENT, NOT_EMULATED

B = TypeVar("B", BufferBinding, QueueBinding)
_OLD_REFERENCE = re.compile(r"\[[A-Z0-9_]+\|[^\[\]]+\]")
_PORT_TABLES = ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PORT_QOS_MAP", "PFC_WD")
"""Tables whose keys begin with a port."""
_ADDRESS_TABLES = ("INTERFACE", "VLAN_INTERFACE", "PORTCHANNEL_INTERFACE", "LOOPBACK_INTERFACE")


def malformed(problems: Iterable[Mistake], config: ConfigDb | None) -> Iterator[SonicFinding]:
    """Yield what the reader found wrong, each with its line: what is not there has none to look up."""
    for problem in problems:
        path = split_path(problem.key, config)
        one = finding("malformed", path, None, problem.message, "SONiC refuses it, or uses a default")
        if path[:1] == ("PORT",) and path[-1:] == ("speed",) and _says_no_speed(config):
            # So a preset is where port_config.ini has no speeds: the platform has them.
            one = replace(
                one, severity="warning", bound="missing on all ports", consequence="the chip's default speed is used"
            )
        yield replace(one, line=problem.line)


def _says_no_speed(config: ConfigDb | None) -> bool:
    return config is not None and not any("speed" in fields for fields in entries(config, "PORT").values())


def split_path(text: str, config: ConfigDb | None) -> tuple[str, ...]:
    """Return table, key and field of a text in which bars part them; a key may hold bars, too,
    as Ethernet0|3-4 does."""
    table, *words = text.split(SEPARATOR)
    known = {} if config is None else entries(config, table)
    for count in range(len(words), 0, -1):
        if SEPARATOR.join(words[:count]) in known:
            return table, SEPARATOR.join(words[:count]), *filter(None, [SEPARATOR.join(words[count:])])
    return table, *filter(None, [SEPARATOR.join(words)])


def old_references(bindings: Bindings) -> Iterator[SonicFinding]:
    """References of the form that SONiC wrote until 2021."""
    for table, key, name, value in fields(bindings.config):
        if isinstance(value, str) and _OLD_REFERENCE.fullmatch(value):
            remedy = f"write {value[1:-1].partition('|')[2]}"
            path = (table, key, name)
            yield finding(
                "old-reference",
                path,
                value,
                "a reference of the old form",
                "the YANG models refuse it, and so does orchagent (202511): the profile is not created, and nothing "
                "is bound",
                remedy,
            )


def port_lists(bindings: Bindings) -> Iterator[SonicFinding]:
    """Keys that name several ports."""
    for table in _PORT_TABLES:
        for key in entries(bindings.config, table):
            if "," in key:
                bound = "several ports in one key, as Configuration.md shows"
                yield finding(
                    "port-list-key",
                    (table, key),
                    None,
                    bound,
                    "the YANG models refuse it",
                    "write an entry for each port",
                )


def overlaps(bindings: Bindings) -> Iterator[SonicFinding]:
    """Keys of one port that name the same queue or group."""
    config = bindings.config
    yield from _overlaps(config.buffer_pgs, "BUFFER_PG", lambda one: (one.profile,))
    yield from _overlaps(config.buffer_queues, "BUFFER_QUEUE", lambda one: (one.profile,))
    yield from _overlaps(config.queues, "QUEUE", lambda one: (one.scheduler, one.wred_profile))


def _overlaps(bindings: Iterable[B], table: str, said: Callable[[B], tuple[str | None, ...]]) -> Iterator[SonicFinding]:
    first: dict[tuple[str, str, int], B] = {}
    for binding in bindings:
        # A chassis has keys host|asic|port|number: ports of one name on other line cards.
        card = SEPARATOR.join(binding.key.split(SEPARATOR)[:-2])
        for port in binding.ports:
            others = dict.fromkeys(
                first[card, port, index] for index in binding.indices if (card, port, index) in first
            )
            for other in others:
                common = [index for index in binding.indices if first.get((card, port, index)) is other]
                yield _overlap(table, binding, other, port, common, said(binding) == said(other))
            for index in binding.indices:
                first.setdefault((card, port, index), binding)


def _overlap(table: str, binding: B, other: B, port: str, common: list[int], is_same: bool) -> SonicFinding:
    bound = f"{', '.join(map(str, common))} of {port} is also in {table}|{other.key}"
    consequence = (
        "both are equal now, but a change of only one may have no effect"
        if is_same
        else "they differ, and SONiC uses the one that it reads last"
    )
    severity: Severity = "warning" if is_same else "error"
    return finding(
        "range-overlap", (table, binding.key), None, bound, consequence, "keep one of the two", (port,), severity
    )


def blanks(bindings: Bindings) -> Iterator[SonicFinding]:
    """Addresses in keys end with the prefix length."""
    for table in _ADDRESS_TABLES:
        for key in entries(bindings.config, table):
            if key != key.rstrip():
                fate = "intfmgrd reads over the blank, but the YANG models refuse the key"
                yield finding("blank-in-key", (table, key), None, "a key that ends with a blank", fate, "take it off")


def unknown_tables(bindings: Bindings) -> Iterator[SonicFinding]:
    """Tables that SONiC does not have: a name that is nearly right is a mistake."""
    json = bindings.config.json
    root = json.value if json is not None and isinstance(json.value, dict) else {}
    for table in root:
        if table in KNOWN or table.startswith(MANAGEMENT):
            continue
        near = nearest(table, KNOWN)
        severity: Severity = "note" if near is None else "warning" if near in root else "error"
        remedy = "" if near is None else f"did you mean {near!r}?"
        fate = "SONiC reads no table of that name, and the YANG models refuse it; nothing in it has an effect"
        yield finding("unknown-table", (table,), None, "not a table of CONFIG_DB", fate, remedy, (), severity)


def unknown_fields(bindings: Bindings) -> Iterator[SonicFinding]:
    """Fields that mean nothing to the reader, of tables that it reads."""
    for one in bindings.config.left_out:
        table, colon, names = one.what.partition(": ")
        for name in names.split(", ") if colon and one.why == NOT_EMULATED else ():
            key = next((key for key, values in entries(bindings.config, table).items() if name in values), "")
            fate = "it has no effect here; is the name right?"
            yield finding("unknown-field", (table, key, name), None, "fabriclab does not know this field", fate)


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
    found: dict[str, FieldValue] = {}
    for name, one in pairs:
        if isinstance(one, str):
            found[str(name)] = one
        elif isinstance(one, list):
            found[str(name)] = tuple(item for item in one if isinstance(item, str))
    return found
