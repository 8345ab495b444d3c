"""A lab's document made of Python's plain data, changed, and written as YAML: with a place in the data where a file has
its line."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML

from fabriclab.keys.wording import did_you_mean
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value
from fabriclab.lab.reading.problems import Place, Problems

Key = str | int
_WIDTH = 120


def scalar_text(value: object) -> str | None:
    """Return a text, a number, True or False as a lab's file has it; None for anything else."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str | int | float):
        return str(value)
    return None


def document_of(data: Mapping[str, Any], name: str, problems: Problems) -> MappingValue:
    """Return what a file with this content would be read as; the places are `name['key'][0]`.

    What no file can hold is recorded.
    """
    value = value_of(data, name, problems)
    if isinstance(value, MappingValue):
        return value
    problems.add(Place(name), "", f"must be a mapping of the file's keys, not a {type(data).__name__}")
    return MappingValue({}, {}, Place(name))


def value_of(data: object, place: str, problems: Problems) -> Value:
    """Return one value of such a document. What no file can hold is recorded."""
    at = Place(place)
    if isinstance(data, Mapping):
        entries, places = {}, {}
        for key, value in data.items():
            below = f"{place}[{key!r}]"
            name = scalar_text(key)
            if name is None:
                problems.add(Place(below), "", f"a key must be a word, not a {type(key).__name__}")
                continue
            entries[name], places[name] = value_of(value, below, problems), Place(below)
        return MappingValue(entries, places, at)
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return SequenceValue(
            tuple(value_of(item, f"{place}[{index}]", problems) for index, item in enumerate(data)), at
        )
    if data is None:
        return ScalarValue("", at)
    text = scalar_text(data)
    if text is None:
        problems.add(at, "", f"must be a text, a number, True, False, a mapping or a list, not a {type(data).__name__}")
    return ScalarValue(text or "", at, quoted=True)


def with_value(
    document: MappingValue, words: Sequence[Key], data: object, place: str, problems: Problems
) -> MappingValue:
    """Return a copy of a document with a value at a key; missing sections on the way are made.

    What cannot be is recorded.
    """
    changed = _with(document, words, value_of(data, place, problems), place, problems)
    return changed if isinstance(changed, MappingValue) else document


def _with(value: Value | None, words: Sequence[Key], new: Value, place: str, problems: Problems) -> Value:
    if not words:
        return new
    first, *rest = words
    if isinstance(value, SequenceValue):
        index = _index(value, first)
        if index is None:
            problems.add(Place(place), "", f"{first!r} is not an item of this list; it has 0 to {len(value.items) - 1}")
            return value
        items = list(value.items)
        items[index] = _with(items[index], rest, new, place, problems)
        return SequenceValue(tuple(items), value.place)
    if isinstance(value, ScalarValue) and not value.is_null:
        problems.add(
            Place(place), "", f"{str(first)!r} can't lie below {value.text!r}, which is neither a section nor a list"
        )
        return value
    mapping = value if isinstance(value, MappingValue) else MappingValue({}, {}, Place(place))
    name = str(first)
    return mapping.with_entry(name, _with(mapping.entries.get(name), rest, new, place, problems))


def without(document: MappingValue, words: Sequence[Key]) -> MappingValue:
    """Return a copy of a document without a key. Raises KeyError, which says what is there, where it does not stand."""
    left = _without(document, words)
    assert isinstance(left, MappingValue)
    return left


def _without(value: Value, words: Sequence[Key]) -> Value:
    first, *rest = words
    if isinstance(value, SequenceValue):
        index = _index(value, first)
        if index is None:
            raise KeyError(f"{first!r} is not an item of this list; it has 0 to {len(value.items) - 1}")
        below = [_without(value.items[index], rest)] if rest else []
        return SequenceValue((*value.items[:index], *below, *value.items[index + 1 :]), value.place)
    name = str(first)
    if not isinstance(value, MappingValue) or name not in value.entries:
        valid = value.entries if isinstance(value, MappingValue) else ()
        raise KeyError(f"{name!r} does not stand there; {did_you_mean(name, valid)}")
    if rest:
        return value.with_entry(name, _without(value.entries[name], rest))
    return MappingValue(
        {key: each for key, each in value.entries.items() if key != name}, value.key_places, value.place
    )


def _index(value: SequenceValue, word: Key) -> int | None:
    index = int(word) if isinstance(word, int) or word.isdecimal() else -1
    return index if 0 <= index < len(value.items) else None


def yaml_text(document: MappingValue) -> str:
    """Return the text of a file that is read as this document.

    Anchors and merged mappings are written out, comments are gone.
    """
    out = io.StringIO()
    writer = YAML()
    writer.width = _WIDTH
    writer.default_flow_style = False
    writer.dump(plain(document), out)
    return out.getvalue()


def plain(value: Value) -> Any:
    """Return a value of a file as mappings, lists, and texts; None where nothing stands."""
    if isinstance(value, MappingValue):
        return {key: plain(below) for key, below in value.entries.items()}
    if isinstance(value, SequenceValue):
        return [plain(item) for item in value.items]
    return None if value.is_null else value.text
