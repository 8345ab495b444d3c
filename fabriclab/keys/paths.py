"""Dotted keys (`hosts.default.rto_min`): which there are, for all that sets one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fabriclab.keys.mappings import NAME, Forms, Key, Keys, Kinds, Named
from fabriclab.keys.values import Either, Items, Schema, Several, Shared, Text, Value, Word

_SET: Several[str] = Several(Text("a value"), "a value or a list of values")


def pattern(sections: Mapping[str, Value[Any]]) -> str:
    """Return a regular expression of the dotted keys below these sections."""
    return "|".join(_from(name, value) for name, value in sections.items())


def _from(name: str, value: Value[Any]) -> str:
    """Return the expression of a word and of what may follow it."""
    below, is_value = _below(value)
    if not below:
        return name
    follow = rf"\.(?:{'|'.join(below)})"
    return f"{name}(?:{follow})?" if is_value else f"{name}{follow}"


def _below(value: Value[Any]) -> tuple[list[str], bool]:
    """Return the expressions of what may stand below, and whether the value may also be set itself."""
    if isinstance(value, Either):
        found = [_below(part) for part in value.values if not isinstance(part, Items)]
        return [one for below, _ in found for one in below], any(is_value for _, is_value in found)
    if isinstance(value, Named):
        return [_from(NAME, value.value)], False
    keys = _keys(value)
    if keys is None:
        return [], True
    return [_from(key.name, key.value) for key in keys], False


def _keys(value: Value[Any]) -> list[Key[Any]] | None:
    """Return the keys below a mapping that can be set; None for what is not a mapping."""
    if isinstance(value, Keys):
        return [key for key in value.keys if key.settable]
    if isinstance(value, Kinds | Forms):
        groups = value.kinds.values() if isinstance(value, Kinds) else value.forms.values()
        every = _of_all(key for keys in groups for key in reversed(keys.keys) if key.settable)
        if isinstance(value, Kinds) and not value.always:
            every["kind"] = Key("kind", Word[str](tuple(value.kinds)), value.about)
            return list(every.values())
        return list(every.values())
    return None


def _of_all(keys: Iterable[Key[Any]]) -> dict[str, Key[Any]]:
    """Return keys by name; of a name that several kinds have, the one below which there are keys, or the last."""
    every: dict[str, Key[Any]] = {}
    for key in keys:
        if key.name not in every or not _below(every[key.name].value)[0]:
            every[key.name] = key
    return every


def fixed(sections: Mapping[str, Value[Any]]) -> Iterator[Key[Any]]:
    """Yield each dotted key that names nothing of the author's, such as `hosts.default.ecn`, as a key of its own."""
    for name, value in sections.items():
        yield from _fixed(name, value, "")


def _fixed(dotted: str, value: Value[Any], about: str) -> Iterator[Key[Any]]:
    if isinstance(value, Either):
        for part in value.values:
            yield from _fixed(dotted, part, about)
    elif isinstance(value, Named):
        for name, below in value.fixed.items():
            yield from _fixed(f"{dotted}.{name}", below, about)
    elif (keys := _keys(value)) is not None:
        for key in keys:
            yield from _key(f"{dotted}.{key.name}", key)


def _key(dotted: str, key: Key[Any]) -> Iterator[Key[Any]]:
    values = key.value.values if isinstance(key.value, Either) else (key.value,)
    plain = tuple(one for one in values if not isinstance(one, Keys | Kinds | Named | Forms))
    if plain:
        value = plain[0] if len(plain) == 1 else Either(plain)
        yield Key(dotted, value, key.about, key.default, key.source, key.unset, key.examples)
    for one in values:
        yield from _fixed(dotted, one, key.about)


@dataclass(frozen=True)
class DottedKey(Value[str]):
    """A dotted key; in place of one several, separated by commas."""

    sections: Mapping[str, Value[Any]] = field(hash=False)

    def schema(self) -> Schema:
        """Return its JSON schema."""
        return Text(
            self.told(),
            rf"\s*(?:{pattern(self.sections)})\s*(?:,.*)?",
            "No key that can be set: write it with dots, such as hosts.default.rto_min.",
        ).schema()

    def told(self) -> str:
        """Return it in words."""
        return "a dotted key"


@dataclass(frozen=True)
class Settings(Shared[Any]):
    """A mapping of dotted keys to values: those without names of the author's are proposed, others are of a pattern."""

    name: str
    sections: Mapping[str, Value[Any]]

    def body(self) -> Schema:
        """Return its JSON schema."""
        return {
            "title": "Keys with dots, and their values",
            "type": "object",
            "properties": {key.name: _shown(key) for key in fixed(self.sections)},
            "patternProperties": {f"^(?:{pattern(self.sections)})$": _SET.schema()},
            "additionalProperties": False,
        }

    def told(self) -> str:
        """Return it in words."""
        return "a mapping of dotted keys to values"

    def parts(self) -> Iterator[Value[Any]]:
        """Yield what may be set."""
        yield from (key.value for key in fixed(self.sections))


def _shown(key: Key[Any]) -> Schema:
    """Return a key's schema with its meaning in one line: there are many of them."""
    return {name: value for name, value in key.schema().items() if name != "markdownDescription"}
