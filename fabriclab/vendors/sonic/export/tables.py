"""A config_db.json in the making: tables, names for what is alike, and sentences about what
CONFIG_DB has no word for."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fabriclab.resolve.switch.notes import joined_runs

T = TypeVar("T", bound=Hashable)
FieldValue = str | list[str]
ConfigTables = dict[str, dict[str, dict[str, FieldValue]]]
"""Fields by table and key, as config_db.json holds them."""


@dataclass
class Tables:
    """The tables of one switch's config_db.json in the making."""

    tables: ConfigTables = field(default_factory=dict)
    unsaid: dict[str, list[str]] = field(default_factory=dict)
    """What the file cannot say, each sentence with the ports, queues or groups that it is of."""

    def put(self, table: str, key: str, fields: Mapping[str, FieldValue] | None = None) -> None:
        """Add an entry to a table, with its fields as texts."""
        self.tables.setdefault(table, {})[key] = dict(fields or {})

    def leave_unsaid(self, subject: str, sentence: str) -> None:
        """Remember that `sentence` holds of `subject`, and that the file does not say so."""
        subjects = self.unsaid.setdefault(sentence, [])
        if subject not in subjects:
            subjects.append(subject)

    def sentences(self) -> tuple[str, ...]:
        """Return one line for each thing that is not said."""
        return tuple(f"{_several(subjects)}: {sentence}" for sentence, subjects in self.unsaid.items())


_MOST_NAMED = 4


def _several(subjects: list[str]) -> str:
    more = len(subjects) - _MOST_NAMED
    return ", ".join(subjects[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


class Names(Generic[T]):
    """Gives what is alike one name: the wished one, or that with a number where it is taken."""

    def __init__(self) -> None:
        self._names: dict[T, str] = {}

    def of(self, value: T, wish: str) -> tuple[str, bool]:
        """Return the name of a value, and whether it is new."""
        if value in self._names:
            return self._names[value], False
        taken = set(self._names.values())
        name, number = wish, 1
        while name in taken:
            number += 1
            name = f"{wish}_{number}"
        self._names[value] = name
        return name, True


def index_keys(numbers: Iterable[int]) -> list[str]:
    """Return numbers as keys of CONFIG_DB, those in a row as one range: `0-2`, `5`."""
    return joined_runs(numbers, "-")


def config_text(tables: ConfigTables) -> str:
    """Return the file's text; the same tables give the same text."""
    return json.dumps(tables, indent=4) + "\n"
