"""The tables of a config_db.json as FRR's configuration gets them: texts of one line, whoever wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.entries import SEPARATOR, shortest
from fabriclab.vendors.sonic.read.json_text import Json

DEFAULT = "default"
_ON = ("true", "True", "up", "enable")


@dataclass(frozen=True)
class Row:
    """An entry of a table: the words of its key, and its fields."""

    table: str
    key: str
    words: tuple[str, ...]
    """Without blanks around them, addresses in their shortest form."""
    fields: Mapping[str, Json]

    def text(self, name: str) -> str:
        """Return a field as one line without blanks at its ends; empty: it says nothing, or no such line."""
        value = self.fields.get(name)
        parts = value if isinstance(value, list) else [value]
        texts = [str(one).strip() for one in parts if isinstance(one, str | int | float)]
        line = " ".join(filter(None, texts))
        return line if line.isprintable() else ""

    def items(self, name: str) -> tuple[str, ...]:
        """Return the parts of a list, or of a text between commas, each one word; an empty one keeps its place."""
        value = self.fields.get(name)
        parts = value if isinstance(value, list) else str(value).split(",") if isinstance(value, str) else []
        words = tuple(str(one).strip() for one in parts)
        return words if all(is_word(one) or not one for one in words) else ()

    def word(self, name: str) -> str:
        """Return a field as one word, an address in its shortest form; empty: it is none."""
        text = self.text(name)
        return shortest(text) if is_word(text) else ""

    def says(self, name: str) -> bool | None:
        """Return whether a field is on; None: it says nothing."""
        text = self.text(name)
        return None if not text else text in _ON


def is_word(text: str) -> bool:
    """Return whether a text is one word that FRR's configuration can have."""
    return bool(text) and text.isprintable() and " " not in text and text.isascii()


def rows(config: ConfigDb, table: str) -> Iterator[Row]:
    """Yield the entries of a table, without those whose keys no line can have."""
    root = {} if config.json is None else config.json.value
    entries = root.get(table) if isinstance(root, dict) else None
    for key, fields in entries.items() if isinstance(entries, dict) else ():
        words = tuple(shortest(one.strip()) for one in key.split(SEPARATOR))
        if isinstance(fields, dict) and all(map(is_word, words)):
            yield Row(table, key, words, fields)


def with_group(row: Row, groups: Mapping[tuple[str, ...], Row]) -> Row:
    """Return a neighbour with what its peer group says and it does not."""
    group = groups.get((row.words[0], row.word("peer_group_name")))
    return row if group is None else Row(row.table, row.key, row.words, {**group.fields, **row.fields})
