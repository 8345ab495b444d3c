"""Read a text of YAML as the library's nodes; scalars stay text.

libyaml reads ten times as fast as the parser in Python, which took most of the time to read a fat-tree. libyaml gets
texts that both parsers read alike: plain mappings, lists and scalars, as in large topologies. The parser in Python gets
all other texts, and those that libyaml refuses, so users always see its messages.
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
"""Comments before everything else. Further down, such a line may be part of a quoted text."""
_NOT_PLAIN = re.compile(r"[^\n\x20-\x7e\xa0-\u1fff]|[!&*%?|>\\]")
"""Where the two may differ: tabs and other white space, tags, anchors, directives, block scalars, escapes."""
_TEXT = Tag(suffix="tag:yaml.org,2002:str")
_DEEPEST = 100
"""How many nodes may lie in each other for libyaml, which has no bound of its own."""
_REMEMBERED = 1 << 16
"""Longer texts, in characters, are not kept: their nodes take much memory."""


class TooDeepError(YAMLError):
    """More nodes lie in each other than libyaml may read."""


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
    """A resolver that gives all nodes one tag: the reader of a key decides what its text means."""

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
