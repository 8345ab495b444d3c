"""The language's records at work: what stands at a dotted key, and a document that has every key there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fabriclab.keys.mappings import Forms, Key, Keys, Kinds, Named
from fabriclab.keys.paths import DottedKey, Settings
from fabriclab.keys.quantities import Factor, Flag, Number, Percent, Quantity
from fabriclab.keys.values import Either, Items, Several, Text, Value, Word
from fabriclab.lab.settings import split_key
from fabriclab.lab.switch.queue_keys import PowerOfTwo
from fabriclab.language.document import SCHEMAS
from fabriclab.units import format_quantity

ROOTS = SCHEMAS
NAMES = ("leaf1", "3", "Vlan10", "PortChannel1")
TEXTS = (
    *("h1", "hosts.default.ecn", "ef", "10.1.0.0/31", "192.168.0.11", "2 KB .. 16 KB", "fct_p99_ns[leaf1]"),
    *("web-search",),
)


def fitting(pattern: str, candidates: tuple[str, ...]) -> str:
    """Return the first candidate of a pattern; any for an empty one."""
    return next(text for text in candidates if not pattern or re.fullmatch(pattern, text))


def of_key(key: Key[Any]) -> Any:
    """Return a value that a key may have."""
    if not key.examples:
        return of(key.value)
    return list(key.examples[0]) if isinstance(key.examples[0], tuple) else key.examples[0]


SAMPLES: dict[type[Value[Any]], Callable[[Any], Any]] = {
    Quantity: lambda value: format_quantity(max(value.least, 1), value.dimension),
    Number: lambda value: value.least,
    Percent: lambda value: "50 %",
    Factor: lambda value: "1/8",
    Flag: lambda value: True,
    Word: lambda value: value.words[0],
    Text: lambda value: fitting(value.pattern, TEXTS),
    DottedKey: lambda value: "hosts.default.ecn",
    PowerOfTwo: lambda value: "1/8",
    Either: lambda value: of(value.values[0]),
    Several: lambda value: [of(value.item)],
    Items: lambda value: [of(value.item)],
    Keys: lambda value: {key.name: of_key(key) for key in value.keys},
    Kinds: lambda value: of(next(iter(value.kinds.values()))),
    Forms: lambda value: of(next(iter(value.forms.values()))),
    Settings: lambda value: {"hosts.default.ecn": "on"},
    Named: lambda value: {
        **{name: of(below) for name, below in value.fixed.items()},
        fitting(value.pattern, NAMES): of(value.value),
    },
}


def of(value: Value[Any]) -> Any:
    """Return something that may stand there; of a mapping all its keys, of kinds and alternatives the first."""
    kind = next(one for one in type(value).__mro__ if one in SAMPLES)
    return SAMPLES[kind](value)


def find(value: Value[Any], dotted: str, kind: str = "") -> list[Value[Any]]:
    """Return what may stand at a dotted key: several where there are alternatives, none where it is unknown."""
    found: list[Value[Any]] = [value]
    words = split_key(dotted) if dotted else []
    for index, word in enumerate(words):
        name, bracket, _ = word.partition("[")
        last = index == len(words) - 1
        found = [below for one in found for below in step(one, name, kind if last else "")]
        if bracket:
            found = [one.item for value in found for one in plain(value) if isinstance(one, Items | Several)]
    return found


def step(value: Value[Any], word: str, kind: str) -> list[Value[Any]]:
    """Return what may stand at a word below a value."""
    match value:
        case Either():
            return [below for part in value.values for below in step(part, word, kind)]
        case Items() | Several():
            return step(value.item, word, kind)
        case Keys():
            return [key.value for key in value.keys if key.name == word]
        case Kinds():
            chosen = [value.kinds[kind]] if kind in value.kinds and value.always else list(value.kinds.values())
            return [below for keys in chosen for below in step(keys, word, "")]
        case Forms():
            return [below for keys in value.forms.values() for below in step(keys, word, "")]
        case Named():
            return [value.fixed.get(word, value.value)]
    return []


def plain(value: Value[Any]) -> list[Value[Any]]:
    """Return the alternatives of a value, one by one."""
    return [one for part in value.values for one in plain(part)] if isinstance(value, Either) else [value]


def mappings(value: Value[Any]) -> list[Value[Any]]:
    """Return the mappings among the alternatives."""
    return [one for one in plain(value) if isinstance(one, Keys | Kinds | Forms | Named | Settings)]
