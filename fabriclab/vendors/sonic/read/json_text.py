"""JSON as it is written: every scalar as text, repeated keys seen, and the line of a value found when an error asks for
it.

The standard reader knows no positions, and readers that keep them are far slower. So the text is read by the standard
one, in C, and a line is looked up only when something is wrong there, by reading past the members of the objects on the
way to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fabriclab.keys.wording import shown
from fabriclab.lab.reading.problems import Place, Problems

LARGEST_BYTES = 32 * 2**20
"""The largest file that is read: a chassis' running configuration has a few megabytes."""

_SPACE = re.compile(r"[ \t\n\r]*")
_KEY = re.compile(r'[ \t\n\r]*("(?:[^"\\]|\\.)*")[ \t\n\r]*:[ \t\n\r]*')
_COMMA = re.compile(r"[ \t\n\r]*,")


class Number(str):
    """A number, as it is written."""

    __slots__ = ()


class NotANumber(str):
    """`NaN`, `Infinity` or `-Infinity`: no JSON, but the standard reader takes them."""

    __slots__ = ()


class RepeatedKeys(dict[str, "Json"]):
    """An object in which keys stand twice; the last one holds, as everywhere."""

    def __init__(self, pairs: list[tuple[str, Json]]) -> None:
        super().__init__(pairs)
        counts: dict[str, int] = {}
        for key, _ in pairs:
            counts[key] = counts.get(key, 0) + 1
        self.repeated = [key for key, count in counts.items() if count > 1]


Json: TypeAlias = "dict[str, Json] | list[Json] | str | bool | None"
"""A mapping, a list, or a scalar: a plain `str` for a string, Number and NotANumber with their text."""


def describe(value: Json) -> str:
    """Return what a value is, for an error message."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Number | NotANumber):
        return f"the number {value[:40]}"
    return shown(value) if isinstance(value, str) else {True: "true", False: "false", None: "null"}[value]


class _Members:
    """Finds the members of the object at a place of a valid text, no further than it is asked for."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._found: dict[str, tuple[int, int]] = {}
        self._ahead = self._scan(start)

    def find(self, key: str, last: bool) -> tuple[int, int] | None:
        """Return the positions of a key and its value; None without.

        Of a key that occurs twice the first, or the last one's.
        """
        while (last or key not in self._found) and (member := next(self._ahead, None)) is not None:
            self._found[member[0]] = member[1:]
        return self._found.get(key)

    def _scan(self, start: int) -> Iterator[tuple[str, int, int]]:
        if self._text[start : start + 1] != "{":
            return
        position = start + 1
        while (key := _KEY.match(self._text, position)) is not None:
            yield key[1][1:-1] if "\\" not in key[1] else str(json.loads(key[1])), key.start(1), key.end()
            _, end = _SKIP.raw_decode(self._text, key.end())
            comma = _COMMA.match(self._text, end)
            position = end if comma is None else comma.end()


@dataclass
class JsonText:
    """A file's text and its value."""

    file: str
    text: str
    value: Json
    _members: dict[tuple[str, ...], _Members] = field(default_factory=dict)
    """The members of the objects that were looked into, by their path."""

    def place(self, path: Sequence[str]) -> Place:
        """Return where the key at `path` stands, or the nearest thing above it that is there.

        Of a key that occurs twice: the last one.
        """
        space = _SPACE.match(self.text)
        position, start = 0, 0 if space is None else space.end()
        value: Json = self.value
        for depth, key in enumerate(path):
            members = self._members.setdefault(tuple(path[:depth]), _Members(self.text, start))
            member = members.find(key, last=isinstance(value, RepeatedKeys))
            if member is None or not isinstance(value, dict):
                break
            position, start = member
            value = value[key]
        return Place(self.file, line_of(self.text, position))


def line_of(text: str, position: int) -> int:
    """Return the line, from 1, of a position."""
    return text.count("\n", 0, position) + 1


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    mapping = dict(pairs)
    return mapping if len(mapping) == len(pairs) else RepeatedKeys(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=Number, parse_float=Number, parse_constant=NotANumber)
_SKIP = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
"""Reads past a value, no matter what it is."""


def parse_json(data: bytes, file: str, problems: Problems) -> JsonText | None:
    """Return the text with its value; None after recording the one mistake that leaves none: no JSON, cut off,
    too large, not UTF-8."""
    text = _decode(data, file, problems)
    if text is None:
        return None
    if not text.strip():
        problems.add(Place(file, 1), "", "the file is empty; a config_db.json is a JSON object of tables")
        return None
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        problems.add(Place(file, error.lineno), "", _syntax_message(error, text))
    except RecursionError:
        problems.add(Place(file), "", "nested too deeply; a config_db.json has three levels: table, key, field")
    else:
        return JsonText(file, text, value)
    return None


def _decode(data: bytes, file: str, problems: Problems) -> str | None:
    if len(data) > LARGEST_BYTES:
        problems.add(Place(file), "", f"{len(data)} bytes; a config_db.json is smaller than {LARGEST_BYTES >> 20} MiB")
    elif data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        problems.add(Place(file, 1), "", "begins with a byte order mark; save the file as UTF-8 without one")
    else:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            problems.add(Place(file, line), "", f"byte {data[error.start]:#04x} is not UTF-8; save the file as UTF-8")
    return None


def _syntax_message(error: json.JSONDecodeError, text: str) -> str:
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return (
            f"the file ends within a value (column {error.colno}): it was cut off, or a quote or a bracket is missing"
        )
    if error.msg == "Extra data":
        return f"something follows the last bracket (column {error.colno}); a config_db.json is one JSON object"
    found = text[error.pos : error.pos + 20].splitlines()[0] if text[error.pos] != "\n" else "the end of the line"
    return f"is not JSON: {error.msg[0].lower()}{error.msg[1:]}, but found {shown(found)} (column {error.colno})"
