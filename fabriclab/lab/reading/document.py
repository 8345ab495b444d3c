"""YAML as a tree of what was written, each value with its place.

Scalars stay text. So `ecn: on` is the text `on` whether a YAML 1.1 parser would call it true or not, a version `1.10`
is not 1.1, and a size keeps its unit; the reader of a key decides what its text means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from fabriclab.keys.wording import shown
from fabriclab.lab.reading import yaml_nodes
from fabriclab.lab.reading.files import (
    LARGEST_YAML_BYTES,
    MissingError,
    UnreadableError,
    read_lab_file,
    read_named_file,
    text_of,
)
from fabriclab.lab.reading.problems import Place, Problems

_HALVES = re.compile("[\ud800-\udfff]")
_NULLS = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True)
class ScalarValue:
    """A text. `quoted` scalars are never null."""

    text: str
    place: Place
    quoted: bool = False

    @property
    def is_null(self) -> bool:
        """Whether the key stands without a value."""
        return not self.quoted and self.text in _NULLS


@dataclass(frozen=True)
class SequenceValue:
    """A list as written, its items with their places."""

    items: tuple[Value, ...]
    place: Place


@dataclass(frozen=True)
class MappingValue:
    """Keys with their places and values, in the order of the file."""

    entries: Mapping[str, Value]
    key_places: Mapping[str, Place]
    place: Place

    def key_place(self, key: str) -> Place:
        """Return where `key` stands; the mapping's own place when it is not there."""
        return self.key_places.get(key, self.place)

    def with_entry(self, key: str, value: Value) -> MappingValue:
        """Return a copy with one key set, where it stood or at the end."""
        return MappingValue({**self.entries, key: value}, {**self.key_places, key: value.place}, self.place)


Value = ScalarValue | SequenceValue | MappingValue


def describe(value: Value) -> str:
    """Return what a value is, for an error message."""
    if isinstance(value, MappingValue):
        return "a mapping"
    if isinstance(value, SequenceValue):
        return "a list"
    return "nothing" if value.is_null else shown(value.text)


def must_be(wanted: str, value: Value) -> str:
    """Return what a value must be instead of what it is, for an error message."""
    if isinstance(value, ScalarValue) and value.is_null:
        return f"must be {wanted}, but is empty"
    return f"must be {wanted}, not {describe(value)}"


_GO_TEMPLATE = re.compile(r"\{\{-?\s*(?:range|if|else|end|with|define|template|block|[.$])")
"""What YAML has no use for; Containerlab renders such a file with the variables beside it before it reads it."""


def read_document(path: Path, problems: Problems, *, named: bool = False) -> MappingValue | None:
    """Return the mapping of a lab's file, or None after recording why there is none.

    `named`: the command line names the file itself, not the lab's directory.
    """
    place = Place(str(path))
    try:
        data = (
            read_named_file(path, LARGEST_YAML_BYTES)
            if named
            else read_lab_file(path.parent, path.name, LARGEST_YAML_BYTES)
        )
        return parse_document(text_of(data), str(path), problems)
    except MissingError as error:
        problems.add(place, "", f"{error}; a lab is a directory with {path.name} in it")
    except UnreadableError as error:
        problems.add(place, "", str(error))
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.add(
            Place(str(path), line), "", f"byte {error.object[error.start]:#04x} is not UTF-8; save the file as UTF-8"
        )
    return None


def is_go_template(text: str) -> bool:
    """Return whether a text is not YAML yet, but a Go template that makes it."""
    return _GO_TEMPLATE.search(text) is not None


def parse_document(text: str, file: str, problems: Problems) -> MappingValue | None:
    """Return the mapping that `text` holds, or None after recording why there is none."""
    template = _GO_TEMPLATE.search(text)
    if template is not None:
        line = text.count("\n", 0, template.start()) + 1
        message = (
            "a Go template; render it with its variables first (gomplate has Containerlab's functions), and give that"
        )
        problems.add(Place(file, line), "", message)
        return None
    try:
        root = yaml_nodes.composed(text)
    except MarkedYAMLError as error:
        problems.add(_error_place(error, file), "", _syntax_message(error))
        return None
    except YAMLError as error:
        problems.add(Place(file), "", f"is not YAML: {str(error).partition(chr(10))[0]}")
        return None
    except RecursionError:
        problems.add(Place(file), "", "nested too deeply; a lab needs about six levels")
        return None
    except (ValueError, OverflowError, AttributeError, IndexError, KeyError, TypeError) as error:
        # The YAML library lets a few malformed texts (a directive, an escape) escape as bare Python errors.
        problems.add(Place(file), "", f"is not YAML: {error}")
        return None
    if root is None:
        problems.add(Place(file), "", "the file is empty; write a mapping, with lines such as `key: value`")
        return None
    value = _Converter(file, problems).convert(root, "")
    if not isinstance(value, MappingValue):
        found = "" if value is None else f"the file holds {describe(value)}; "
        problems.add(Place(file, 1), "", f"{found}write a mapping, with lines such as `key: value`")
        return None
    return value


def _error_place(error: MarkedYAMLError, file: str) -> Place:
    mark = error.problem_mark or error.context_mark
    return Place(file, None if mark is None else mark.line + 1)


def _syntax_message(error: MarkedYAMLError) -> str:
    problem = error.problem or "syntax error"
    if "'\\t'" in problem:
        return "the line has a tab character; YAML is indented with spaces"
    if "another document" in problem:
        return "a second document starts here (`---`); a file may hold only one"
    if "undefined alias" in problem:
        return f"YAML syntax: {problem}; an anchor (`&name`) must come before its aliases (`*name`)"
    context = f" ({error.context})" if error.context else ""
    return f"YAML syntax: {problem}{context}"


class _Converter:
    """Turns the library's nodes into values: merges `<<`, reports duplicate keys, keys that are not text,
    and anchors within themselves."""

    def __init__(self, file: str, problems: Problems) -> None:
        self._file = file
        self._problems = problems
        self._done: dict[int, Value] = {}
        self._open: set[int] = set()

    def convert(self, node: Node, key: str) -> Value | None:
        """Return the node's value; None after recording a problem that leaves none."""
        if id(node) in self._done:
            return self._done[id(node)]
        if id(node) in self._open:
            self._problems.add(self._place(node), key, "an anchor that contains itself")
            return None
        self._open.add(id(node))
        value = self._convert_new(node, key)
        self._open.discard(id(node))
        self._done[id(node)] = value
        return value

    def _convert_new(self, node: Node, key: str) -> Value:
        place = self._place(node)
        if isinstance(node, ScalarNode):
            return ScalarValue(self._text(node, key), place, quoted=bool(node.style))
        if isinstance(node, SequenceNode):
            items = (self.convert(item, f"{key}[{index}]") for index, item in enumerate(node.value))
            return SequenceValue(tuple(item for item in items if item is not None), place)
        if isinstance(node, MappingNode):
            return self._convert_mapping(node, key, place)
        raise TypeError(f"unknown YAML node {type(node).__name__}")

    def _convert_mapping(self, node: MappingNode, key: str, place: Place) -> MappingValue:
        merged: dict[str, Value] = {}
        own: dict[str, Value] = {}
        places: dict[str, Place] = {}
        for key_node, value_node in node.value:
            key_place = self._place(key_node)
            if not isinstance(key_node, ScalarNode):
                self._problems.add(key_place, key, "a key is a list or a mapping; a key is a word")
                continue
            name = self._text(key_node, key)
            path = f"{key}.{name}" if key else name
            value = self.convert(value_node, path)
            if value is None:
                continue
            if isinstance(value, ScalarValue) and value.is_null:
                value = replace(value, place=key_place)  # the parser puts a missing value where the next key begins
            if name == "<<" and not key_node.style:
                self._merge(value, path, merged, places)
            elif name in own:
                self._problems.add(key_place, path, f"occurs twice; the first is in line {places[name].line}", name)
            else:
                own[name] = value
                places[name] = key_place
        return MappingValue({**merged, **own}, places, place)

    def _text(self, node: ScalarNode, key: str) -> str:
        """Return a scalar's text; halves of a character, which an escape such as \\ud800 makes,
        are recorded and shown as escapes."""
        text = str(node.value)
        if not _HALVES.search(text):
            return text
        self._problems.add(
            self._place(node),
            key,
            f"{shown(text)} has half a character (\\ud800 to \\udfff); write the whole character",
        )
        return text.encode("utf-8", "backslashreplace").decode()

    def _merge(self, value: Value, path: str, merged: dict[str, Value], places: dict[str, Place]) -> None:
        sources = value.items if isinstance(value, SequenceValue) else (value,)
        for source in sources:
            if not isinstance(source, MappingValue):
                self._problems.add(value.place, path, f"merges {describe(source)}, which must be a mapping")
                continue
            for name, entry in source.entries.items():
                if merged.setdefault(name, entry) is entry:
                    places.setdefault(name, source.key_place(name))

    def _place(self, node: Node) -> Place:
        return Place(self._file, node.start_mark.line + 1)
