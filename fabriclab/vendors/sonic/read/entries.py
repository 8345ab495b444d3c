"""The tables of a config_db.json: entries with fields that are texts, and how one field is read by its meaning."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface

from fabriclab.keys.wording import did_you_mean, nearest, shown
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.sonic.read.json_text import Json, JsonText, NotANumber, RepeatedKeys, describe

SEPARATOR = "|"
MOST_ENTRIES = 50_000
"""The most entries of a table that is read, and the most fields of an entry:
ten times those of a large chassis. It bounds the time that reading takes."""
_MOST_COMPARED = 1000
"""Names among which a mistyped one is looked for: comparing takes long."""
MOST_PROBLEMS = 50
"""A file that is something else altogether has a mistake a line; more than these help nobody."""

_WHOLE = re.compile(r"-?[0-9]{1,20}")
_OLD_REFERENCE = re.compile(r"\[([A-Z0-9_]+)\|([^\[\]]+)\]")
_RANGE = re.compile(r"([0-9]{1,2})(?:-([0-9]{1,2}))?")

FieldValue = str | tuple[str, ...]


class TooManyProblemsError(Exception):
    """The file has so many mistakes that reading on is of no use."""


@dataclass(frozen=True)
class Entry:
    """One key of a table with its fields; a list of texts is a leaf-list."""

    table: str
    key: str
    fields: Mapping[str, FieldValue]
    malformed: frozenset[str] = frozenset()
    """Fields that stand there and are not text: complained about already."""

    @property
    def words(self) -> list[str]:
        """The key's words: `Ethernet0|3-4` has two."""
        return self.key.split(SEPARATOR)

    def origin(self, name: str = "") -> str:
        """Return `TABLE|key|field`, which says where a figure is from."""
        return SEPARATOR.join([self.table, self.key, *([name] if name else [])])


@dataclass
class _Repeated:
    """What is wrong in several entries alike."""

    path: tuple[str, str, str]
    message: str
    value: str
    more: list[str] = field(default_factory=list)
    """The entries' keys."""


@dataclass
class Tables:
    """A file's tables, and what is found wrong with them."""

    json: JsonText
    problems: Problems
    notes: dict[str, None] = field(default_factory=dict)
    """What was read and is worth a sentence, each once."""
    _seen: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """The entries in which a field stands, by table and field."""
    _asked: set[tuple[str, str]] = field(default_factory=set)
    _repeated: dict[tuple[str, ...], _Repeated] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Return the names of all tables in the order of the file."""
        return list(self._root)

    def count(self, table: str) -> int:
        """Return the number of a table's entries."""
        entries = self._root.get(table)
        return len(entries) if isinstance(entries, dict) else 0

    def keys(self, table: str) -> list[str]:
        """Return the keys of a table in the order of the file."""
        entries = self._root.get(table)
        return list(entries) if isinstance(entries, dict) else []

    def entries(self, table: str) -> Iterator[Entry]:
        """Yield the entries of a table that are whole; what is wrong with the others is recorded."""
        entries = self._root.get(table)
        if not isinstance(entries, dict):
            return
        for key, value in entries.items():
            if not isinstance(value, dict):
                self.complain((table, key), f"is {describe(value)}; write an object of fields, such as {{}}")
                continue
            self._refuse_repeated(value, (table, key))
            for name in value:
                self._seen.setdefault((table, name), set()).add(key)
            said = {name: one for name, one in value.items() if one is not None}
            fields = {
                name: text for name, one in said.items() if (text := self._field((table, key, name), one)) is not None
            }
            yield Entry(table, key, fields, frozenset(said.keys() - fields.keys()))

    def ask(self, table: str, *names: str) -> None:
        """Remember that these fields of a table are looked at."""
        self._asked.update((table, name) for name in names)

    def unasked(self) -> dict[tuple[str, str], int]:
        """Return the fields of the tables that were read which nobody looked at, by table and field,
        with the number of entries."""
        return {where: len(keys) for where, keys in self._seen.items() if where not in self._asked}

    def mistyped(self, table: str) -> str:
        """Return which table was meant to be one that the file does not have; empty: it has it, or nothing is near."""
        near = None if table in self._root else nearest(table, self._root, cutoff=0.8)
        return "" if near is None else f"the file has {printable(near)}: did you mean {table}?"

    def device(self, name: str) -> str:
        """Return what DEVICE_METADATA says of the switch itself; empty: nothing."""
        table = self._root.get("DEVICE_METADATA")
        entry = table.get("localhost") if isinstance(table, dict) else None
        said = entry.get(name) if isinstance(entry, dict) else None
        self.ask("DEVICE_METADATA", name)
        return str(said) if _is_text(said) else ""

    def note(self, sentence: str) -> None:
        """Keep a sentence for the user."""
        self.notes[sentence] = None

    def complain_once(self, what: tuple[str, str], entry: Entry, name: str, message: str, value: str = "") -> None:
        """Keep one message for what is wrong with a field of many entries for one reason, `what`; `finish` records it.

        A switch has as many entries as ports, and one missing map is one mistake.
        """
        path, where = (entry.table, entry.key, name), (*what, entry.table, name)
        first = self._repeated.setdefault(where, _Repeated(path, message, value))
        first.more.append(entry.key)

    def finish(self) -> None:
        """Record what stands in many entries alike, each once. Raises TooManyProblemsError."""
        for one in self._repeated.values():
            others = one.more[1:]
            also = f" (so do {len(others)} other entries, up to {printable(others[-1])})" if others else ""
            self.complain(one.path, one.message + also, one.value)
        self._repeated.clear()

    def complain(self, path: Sequence[str], message: str, value: str = "") -> None:
        """Record what is wrong at `path`: table, key, field. Raises TooManyProblemsError."""
        self.problems.add(self.json.place(path), SEPARATOR.join(printable(word) for word in path), message, value)
        if len(self.problems) >= MOST_PROBLEMS:
            raise TooManyProblemsError

    @property
    def _root(self) -> dict[str, Json]:
        return self.json.value if isinstance(self.json.value, dict) else {}

    def check_shape(self, read: Collection[str]) -> None:
        """Record what is not a table, what occurs twice, and what is too large among the tables to `read`.

        Raises TooManyProblemsError.
        """
        if not isinstance(self.json.value, dict):
            self.complain((), f"the file contains {describe(self.json.value)}; a config_db.json is an object of tables")
        self._refuse_repeated(self._root, ())
        for table, entries in self._root.items():
            if not isinstance(entries, dict):
                self.complain((table,), f"is {describe(entries)}; a table must be an object of entries")
            else:
                self._refuse_repeated(entries, (table,))
                if table in read:
                    self._check_size(table, entries)

    def _check_size(self, table: str, entries: Mapping[str, Json]) -> None:
        most = max(len(entries), *(len(entry) for entry in entries.values() if isinstance(entry, dict)), 0)
        if most > MOST_ENTRIES:
            self.complain((table,), f"{most} entries or fields; a switch has fewer than {MOST_ENTRIES}")
            raise TooManyProblemsError

    def _refuse_repeated(self, value: Mapping[str, Json], path: tuple[str, ...]) -> None:
        for key in value.repeated if isinstance(value, RepeatedKeys) else ():
            self.complain((*path, key), "occurs twice, and only the last one would take effect; remove one")

    def _field(self, path: tuple[str, ...], value: Json) -> FieldValue | None:
        if isinstance(value, bool):
            return str(value)
        if _is_text(value):
            return str(value)
        if isinstance(value, list) and all(map(_is_text, value)):
            return tuple(str(item) for item in value)
        example = f', such as "{value}"' if isinstance(value, str) else ""
        self.complain(path, f"is {describe(value)}; write a text or a list of texts{example}")
        return None


def _is_text(value: Json) -> bool:
    """Return whether a value is a text, or a number: SONiC writes a number into CONFIG_DB as it stands
    (swss-common, configdb.h: typed_to_raw)."""
    return isinstance(value, str) and not isinstance(value, NotANumber)


def printable(text: str) -> str:
    """Return a key as a message shows it: on one line, cut where it is long."""
    short = text if len(text) <= 80 else text[:80] + "..."
    return short if short.isprintable() else repr(short)[1:-1]


def suggestion(word: str, valid: Collection[str]) -> str:
    """Return which of the file's names was probably meant, or which there are."""
    if len(valid) > _MOST_COMPARED:
        return f"it is none of the {len(valid)} names in the file"
    return did_you_mean(word, map(printable, valid))


class Fields:
    """The fields of one entry while they are read; those that nobody asks for are told in the end."""

    def __init__(self, tables: Tables, entry: Entry) -> None:
        self.tables = tables
        self.entry = entry

    def __contains__(self, name: str) -> bool:
        return name in self.entry.fields or name in self.entry.malformed

    def complain(self, name: str, message: str, value: str = "") -> None:
        """Record what is wrong with a field, or with its absence."""
        self.tables.complain((self.entry.table, self.entry.key, name), message, value)

    def text(self, name: str) -> str | None:
        """Return a text; a list of one item is that item."""
        self.tables.ask(self.entry.table, name)
        value = self.entry.fields.get(name)
        if isinstance(value, tuple):
            if len(value) == 1:
                return value[0]
            self.complain(name, f"is a list of {len(value)}; write one text")
            return None
        return value

    def words(self, name: str) -> tuple[str, ...] | None:
        """Return a leaf-list, or a text's parts between commas."""
        self.tables.ask(self.entry.table, name)
        value = self.entry.fields.get(name)
        if value is None or isinstance(value, tuple):
            return value
        return tuple(word.strip() for word in value.split(",") if word.strip())

    def number(self, name: str, minimum: int, maximum: int, unit: str = "") -> int | None:
        """Return a whole number within bounds."""
        text = self.text(name)
        if text is None:
            return None
        text = text.strip()  # shipped templates have blanks around figures, and SONiC reads over them
        if _WHOLE.fullmatch(text) is None or not minimum <= int(text) <= maximum:
            what = f" of {unit}" if unit else ""
            self.complain(name, f"{shown(text)}: must be a whole number{what} from {minimum} to {maximum}", text)
            return None
        return int(text)

    def size(self, name: str) -> int | None:
        """Return the field in bytes; None when it is absent or wrong, which is recorded."""
        return self.number(name, 0, 2**63 - 1, "bytes")

    def choice(self, name: str, words: Sequence[str]) -> str | None:
        """Return the one of `words` that the field has; None when it is absent or none of them, which is recorded."""
        text = self.text(name)
        if text is not None and text not in words:
            self.complain(name, f"{shown(text)} is unknown; {did_you_mean(text, words)}", text)
            return None
        return text

    def flag(self, name: str) -> bool | None:
        """Return the field's truth value; None when it is absent or no such, which is recorded."""
        word = self.choice(name, ("true", "false", "True", "False"))
        return None if word is None else word.lower() == "true"

    def reference(self, name: str, table: str, valid: Collection[str]) -> str | None:
        """Return the name of an entry of another table; `[TABLE|name]`, as older versions of SONiC
        write it, means the same."""
        text = self.text(name)
        if text is None:
            return None
        old = _OLD_REFERENCE.fullmatch(text)
        if old is not None and old[1] == table:
            self.tables.note(
                f"{self.entry.table}: references of the old form [{table}|...] were accepted; SONiC now writes only "
                "the name"
            )
            text = old[2]
        if text not in valid:
            hint = self.tables.mistyped(table) or suggestion(text, valid)
            self.tables.complain_once((table, text), self.entry, name, f"{shown(text)} is not a {table}; {hint}", text)
            return None
        return text


def parse_indices(text: str, most: int) -> range | None:
    """Return the numbers of `3` or `3-4`, all of 0 to `most`; None for anything else."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return range(first, last + 1) if first <= last <= most else None


def parse_address(text: str) -> IPv4Interface | None:
    """Return an IPv4 address with its prefix length; None for IPv6 and what is not an address."""
    try:
        return IPv4Interface(text)
    except ValueError:
        return None


def parse_address6(text: str) -> tuple[IPv6Interface | None]:
    """Return an IPv6 address with its prefix length; None for what is none."""
    try:
        return (IPv6Interface(text) if "/" in text else None,)
    except ValueError:
        return (None,)


def parse_bare_address(text: str) -> IPv4Address | None:
    """Return an IPv4 address; None for IPv6 and what is not an address."""
    try:
        return IPv4Address(text)
    except ValueError:
        return None


def shortest(text: str) -> str:
    """Return an address of IPv6 in its shortest form, as FRR knows it; anything else as it is."""
    try:
        return str(IPv6Address(text))
    except ValueError:
        return text


def shortest_key(key: str) -> str:
    """Return a key whose addresses of IPv6 are in their shortest form: `default|fc07::02|ipv6_unicast` is of the
    neighbour `default|fc07::2`."""
    return SEPARATOR.join(shortest(word.strip()) for word in key.split(SEPARATOR)) if ":" in key else key


def port_list(text: str, ports: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the ports of a key such as `Ethernet0,Ethernet4`, those that are there and the others."""
    names = [name.strip() for name in text.split(",")]
    return [name for name in names if name in ports], [name for name in names if name not in ports]
