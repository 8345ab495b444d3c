"""A text of YAML as the library's nodes, whose scalars stay text.

libyaml reads ten times as fast as the library's own parser, which is in Python and took most of the time in which a
fat-tree was read. It is given what both read alike: plain mappings, lists and scalars, as large topologies are.
The parser in Python is given the rest, and what libyaml refuses, so users get its messages.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

from ruamel.yaml import YAML
from ruamel.yaml.error import ReusedAnchorWarning, YAMLError
from ruamel.yaml.nodes import Node
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.tag import Tag

_HEAD = re.compile(r"(?:#[\x20-\x7e\xa0-\u1fff]*\n|\n)*")
"""Comments before all else; further below, such a line may be a part of a text."""
_NOT_PLAIN = re.compile(r"[^\n\x20-\x7e\xa0-\u1fff]|[!&*%?|>\\]")
"""Where the two may differ: tabs and other white space, tags, anchors, directives, block scalars, escapes."""
_TEXT = Tag(suffix="tag:yaml.org,2002:str")
_DEEPEST = 100
"""How deep libyaml goes."""
_REMEMBERED = 1 << 16
"""Longer texts, in characters, are not kept: their nodes take much memory."""


class TooDeepError(YAMLError):
    """Nodes lie deeper in each other than libyaml is let go."""


def composed(text: str) -> Node | None:
    """Return the nodes of a text, which nobody changes; None for an empty one.

    A run reads a lab's files twice (`kept_files`), a suite many times, and of all that reading does this takes longest.
    Raises YAMLError; and what the parser lets escape for a few malformed texts: ValueError, TypeError, LookupError...
    """
    return _composed_once(text) if len(text) <= _REMEMBERED else _composed_anew(text)


def _composed_anew(text: str) -> Node | None:
    if _is_plain(text):
        # With libyaml, unless nobody has compiled it for this Python.
        reader = YAML(typ="safe")
        reader.Resolver = _NoTags
        try:
            root: Node | None = reader.compose(text)
            return root
        except YAMLError:
            pass  # the parser in Python says what is wrong
    return composed_in_python(text)


_composed_once = lru_cache(maxsize=16)(_composed_anew)


def _is_plain(text: str) -> bool:
    head = _HEAD.match(text)
    return not _NOT_PLAIN.search(text, head.end() if head else 0)


class _NoTags(VersionedResolver):
    """Tells no scalar's kind of value: the reader of its key decides that."""

    _depth = 0

    def resolve(self, _kind: type[Node], _value: str | None, _implicit: object) -> Tag:
        """Return the same tag for all."""
        return _TEXT

    def descend_resolver(self, _parent: Node | None, _index: object) -> None:
        """Go one node down: no tag depends on a value's place, but C's stack must not end. Raises TooDeepError."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise TooDeepError

    def ascend_resolver(self) -> None:
        """Come back."""
        self._depth -= 1


def composed_in_python(text: str) -> Node | None:
    """Return the same nodes by the parser that has the last word."""
    with warnings.catch_warnings():
        # YAML 1.2 allows it: the nearest anchor above an alias holds.
        warnings.simplefilter("ignore", ReusedAnchorWarning)
        root: Node | None = YAML(typ="safe", pure=True).compose(text)
    return root
