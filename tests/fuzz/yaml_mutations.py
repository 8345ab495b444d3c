"""Mutants of YAML: a key, a value or a line changed where the text has one."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from mutations import VALUES, mistyped, other_number, perhaps_torn
from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

YAML_WORDS = (
    *(
        "[]",
        "{}",
        "[[]]",
        "[~]",
        "{a: b}",
        "[a, {b: c}]",
        "!!int x",
        "!!python/object:os.system x",
        "!x y",
        "&a b",
        "*a",
        "&a [*a]",
    ),
    *(
        '"\\0"',
        '"\\x00"',
        '"\\ud800"',
        "'",
        '"',
        "|\n",
        ">-\n",
        "---",
        "...",
        "%YAML 9.9",
        "? x",
        "- - -",
        "@x",
        "`x",
        "0o7",
        "1:30:00",
    ),
)


@dataclass(frozen=True)
class Span:
    """A piece of a text."""

    start: int
    end: int


@dataclass(frozen=True)
class YamlParts:
    """Where keys, values and entries of a YAML text lie."""

    keys: tuple[Span, ...]
    values: tuple[Span, ...]
    entries: tuple[Span, ...]
    scalars: tuple[Span, ...]


def mutated_yaml(text: str, rng: random.Random) -> bytes:
    """Return a YAML text with one to three changes."""
    edits: list[tuple[Span, str]] = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        edit = _yaml_edit(text, yaml_parts(text), rng)
        if all(edit[0].end <= other.start or edit[0].start >= other.end for other, _ in edits):
            edits.append(edit)
    for span, new in sorted(edits, key=lambda edit: edit[0].start, reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return perhaps_torn(text.encode(errors="surrogatepass"), rng)


@cache
def yaml_parts(text: str) -> YamlParts:
    """Return the parts of a text that is YAML."""
    keys, values, entries, scalars = [], [], [], []
    for key, value in _pairs(YAML(typ="safe", pure=True).compose(text)):
        if key is not None:
            keys.append(_span(key))
            entries.append(Span(key.start_mark.index, value.end_mark.index))
        else:
            entries.append(_span(value))
        values.append(_span(value))
        if isinstance(value, ScalarNode):
            scalars.append(_span(value))
    return YamlParts(tuple(keys), tuple(values), tuple(entries), tuple(scalars))


def _pairs(node: Node) -> Iterator[tuple[Node | None, Node]]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield key, value
            yield from _pairs(value)
    elif isinstance(node, SequenceNode):
        for value in node.value:
            yield None, value
            yield from _pairs(value)


def _span(node: Node) -> Span:
    return Span(node.start_mark.index, node.end_mark.index)


def _yaml_edit(text: str, parts: YamlParts, rng: random.Random) -> tuple[Span, str]:
    kind = rng.randrange(10)
    if kind == 0:
        span = rng.choice(parts.keys)
        return span, mistyped(text[span.start : span.end], rng)
    if kind == 1:
        key, other = rng.choice(parts.keys), rng.choice(parts.keys)
        return key, text[other.start : other.end]
    if kind == 2:  # an entry is gone, with the comma behind it
        entry = rng.choice(parts.entries)
        after = re.compile(r"[ ]*,[ ]*").match(text, entry.end)
        return Span(entry.start, after.end() if after else entry.end), ""
    if kind == 3:  # an entry stands twice
        entry = rng.choice(parts.entries)
        written = text[entry.start : entry.end]
        line = text[text.rfind("\n", 0, entry.start) + 1 : entry.start]
        between = ", " if line.strip(" -") or "\n" not in text[entry.start : entry.end + 1] else "\n" + " " * len(line)
        return Span(entry.start, entry.start), written.rstrip() + between
    if kind == 4:  # a value is another one of the file
        value, other = rng.choice(parts.values), rng.choice(parts.values)
        return value, text[other.start : other.end]
    if kind == 5:
        value = rng.choice(parts.values)
        return value, rng.choice(("[]", "{}", "", "~", "''"))
    span = rng.choice(parts.scalars)
    if kind == 6:
        return span, mistyped(text[span.start : span.end], rng)
    if kind == 7:
        return span, rng.choice(VALUES)
    if kind == 8:
        return span, other_number(text[span.start : span.end], rng)
    return rng.choice(parts.values), rng.choice(YAML_WORDS)
