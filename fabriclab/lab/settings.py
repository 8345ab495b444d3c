"""Settings: values that replace what `experiment.yml` says, by dotted key (`hosts.default.rto_min`), parameter or
variant.

A setting is put into the document before that is read, so it meets the very checks that the file's own text meets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabriclab.keys.mappings import Forms, Key, Keys, Kinds, Named
from fabriclab.keys.values import Either, Items, Scalar, Value, Word
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.keys import EXPERIMENT, SETTABLE
from fabriclab.lab.reading.document import MappingValue, ScalarValue
from fabriclab.lab.reading.document import Value as Written
from fabriclab.lab.reading.names import Names, expand_range

_SINGLE_DOT = re.compile(r"(?<!\.)\.(?!\.)")
"""Separates the words of a key; the two dots of a range do not."""


def split_key(dotted: str) -> list[str]:
    """Return the words of a dotted key; a range (`hosts.h1..h4.ecn`) is one word."""
    return _SINGLE_DOT.split(dotted)


def is_dotted(name: str) -> bool:
    """Return whether a setting's name is a key of the file rather than a parameter."""
    return len(split_key(name)) > 1 or (name in SETTABLE and not _mappings(SETTABLE[name]))


def check_later(dotted: str) -> None:
    """Raise ValueError, which says why, for a key that can be set (`check_key`), but not while the lab runs."""
    reason = EXPERIMENT.by_name[split_key(dotted)[0]].fixed
    if reason:
        raise ValueError(reason)


def check_key(dotted: str, document: MappingValue, names: Names) -> None:
    """Raise ValueError, which says what would be right, unless `dotted` is a key that can be set."""
    first, *rest = split_key(dotted)
    if first not in SETTABLE:
        raise ValueError(f"{shown(dotted)} is not a key that can be set; {did_you_mean(first, SETTABLE)}")
    place = _Place((first,), (SETTABLE[first],), document, names)
    for word in rest:
        if not place.mappings:
            raise ValueError(f"{shown(dotted)} goes too deep; {shown('.'.join(place.path))} is a value")
        if not place.accepts(word):
            raise ValueError(f"{shown(dotted)}: {shown(word)} is unknown; {did_you_mean(word, place.words())}")
        place = place.below(word)
    if not place.is_value:
        raise ValueError(f"{shown(dotted)} is a section; add one of {', '.join(place.words())}")


def begun_keys(incomplete: str, document: MappingValue, names: Names) -> list[str]:
    """Return the keys that can be set later and begin so, to the end of the word that is begun; whole ones with `=`."""
    *done, last = split_key(incomplete)
    later = [name for name in SETTABLE if not EXPERIMENT.by_name[name].fixed]
    if not done:
        return [f"{section}." for section in later if section.startswith(last)]
    if done[0] not in later:
        return []
    place = _Place((done[0],), (SETTABLE[done[0]],), document, names)
    for word in done[1:]:
        place = place.below(word)
    words = [word for word in place.words() if word.startswith(last)]
    return [".".join([*done, word]) + ("=" if place.below(word).is_value else ".") for word in words]


def keys_at(dotted: str, document: MappingValue) -> tuple[Key[Any], ...]:
    """Return the records of a dotted key: several where its mapping may be of several kinds, none where it is none."""
    words = split_key(dotted)
    if words[0] not in SETTABLE:
        return ()
    if len(words) == 1:
        return (EXPERIMENT.by_name[words[0]],)
    place = _Place((words[0],), (SETTABLE[words[0]],), document, None)
    for word in words[1:-1]:
        place = place.below(word)
    return tuple(place.keys(words[-1]))


def normalise(dotted: str, text: str, document: MappingValue) -> Scalar:
    """Return a value in the one form that values of this key are compared in: counts as numbers, `0.064 MB` as `64 KB`.

    A text that is no such value is returned as it is: the reader of the key complains about it.
    """
    forms = (key.value.canonical(text) for key in keys_at(dotted, document))
    return next((form for form in forms if form is not None), text.strip())


@dataclass(frozen=True)
class _Place:
    """A place of the document: what may stand there, by the records."""

    path: tuple[str, ...]
    values: tuple[Value[Any], ...]
    document: MappingValue
    names: Names | None
    """What a topology names; None: any name may stand."""

    @property
    def mappings(self) -> list[Value[Any]]:
        """The mappings that may stand here."""
        return [one for value in self.values for one in _mappings(value)]

    @property
    def is_value(self) -> bool:
        """Whether a value may stand here."""
        return any(_is_value(value) for value in self.values)

    def words(self) -> list[str]:
        """Return what may stand below, or examples of it."""
        return list(dict.fromkeys(word for one in self.mappings for word in self._words(one)))

    def accepts(self, word: str) -> bool:
        """Return whether a word may stand below."""
        named = [one for one in self.mappings if isinstance(one, Named)]
        return word in self.words() or any(self._takes(one, word) for one in named)

    def below(self, word: str) -> _Place:
        """Return the place below a word; one where nothing may stand where the word is unknown."""
        return _Place((*self.path, word), tuple(key.value for key in self.keys(word)), self.document, self.names)

    def keys(self, word: str) -> Iterator[Key[Any]]:
        """Yield the records of a word below."""
        for one in self.mappings:
            if isinstance(one, Named):
                yield Key(word, one.fixed.get(word, one.value), one.what)
            else:
                yield from (key for key in self._keys(one) if key.name == word)

    def _words(self, mapping: Value[Any]) -> Iterable[str]:
        if not isinstance(mapping, Named):
            return [key.name for key in self._keys(mapping)]
        if mapping.source == "document" or self.names is None:
            written = look_up(self.document, ".".join(self.path))
            return written.entries if isinstance(written, MappingValue) else ()
        if mapping.source == "hosts":
            groups = look_up(self.document, "groups")
            return ("default", *(groups.entries if isinstance(groups, MappingValue) else ()), *self.names.hosts)
        return ("default", *self.names.switches) if mapping.source == "switches" else mapping.examples

    def _takes(self, mapping: Named, word: str) -> bool:
        if mapping.source == "any":
            return mapping.accepts(word)
        return mapping.source == "hosts" and _is_range(word)

    def _keys(self, mapping: Value[Any]) -> list[Key[Any]]:
        """Return the keys below a mapping that can be set: of its kind, where one must stand there."""
        if isinstance(mapping, Keys):
            every: Iterable[Key[Any]] = mapping.keys
        elif isinstance(mapping, Forms):
            every = (key for keys in mapping.forms.values() for key in keys.keys)
        elif isinstance(mapping, Kinds):
            written = look_up(self.document, ".".join([*self.path, "kind"]))
            kind = written.text.strip() if isinstance(written, ScalarValue) else ""
            if mapping.always:
                every = mapping.kinds[kind].keys if kind in mapping.kinds else ()
            else:
                chosen = [mapping.kinds[kind]] if kind in mapping.kinds else []
                word = Key("kind", Word[str](tuple(mapping.kinds)), mapping.about)
                every = (word, *(key for keys in (*chosen, *mapping.kinds.values()) for key in keys.keys[1:]))
        else:
            every = ()
        return list({(key.name, id(key)): key for key in every if key.settable}.values())


def _mappings(value: Value[Any]) -> list[Value[Any]]:
    """Return the mappings among the alternatives of a value."""
    if isinstance(value, Either):
        return [one for part in value.values for one in _mappings(part)]
    return [value] if isinstance(value, Keys | Kinds | Forms | Named) else []


def _is_value(value: Value[Any]) -> bool:
    if isinstance(value, Either):
        return any(_is_value(part) for part in value.values)
    return not isinstance(value, Keys | Kinds | Forms | Named | Items)


def _is_range(word: str) -> bool:
    try:
        return expand_range(word) is not None
    except ValueError:
        return False


def put(document: MappingValue, dotted: str, value: Written) -> MappingValue:
    """Return a copy of `document` with the value at a checked key; missing sections on the way are made."""
    return _put(document, split_key(dotted), value)


def _put(mapping: MappingValue, words: Sequence[str], value: Written) -> MappingValue:
    first, *rest = words
    if not rest:
        return mapping.with_entry(first, value)
    below = mapping.entries.get(first)
    if not isinstance(below, MappingValue):
        below = MappingValue({}, {}, value.place if below is None else below.place)
    return MappingValue({**mapping.entries, first: _put(below, rest, value)}, mapping.key_places, mapping.place)


def look_up(document: MappingValue, dotted: str) -> Written | None:
    """Return what stands at a key, None when nothing does."""
    value: Written | None = document
    for word in split_key(dotted):
        value = value.entries.get(word) if isinstance(value, MappingValue) else None
    return value
