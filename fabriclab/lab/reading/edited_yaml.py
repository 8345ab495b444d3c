"""A lab's file with values changed, its comments kept."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

_WIDTH = 120


class EditedYaml:
    """The text of a file that was read before, and is known to be right."""

    def __init__(self, text: str) -> None:
        """Take the text."""
        self._yaml = YAML()
        self._yaml.width = _WIDTH
        self._yaml.preserve_quotes = True
        self._root: Any = self._yaml.load(text)

    def put(self, words: Sequence[str], value: Any) -> None:
        """Put a value at a key, given word by word; sections on the way are made, and take the place of a value."""
        *sections, last = words
        place = self._root
        for word in sections:
            key = _known(place, word)
            if not isinstance(place.get(key), CommentedMap):
                place[key] = CommentedMap()
            place = place[key]
        key = _known(place, last)
        if key in place or place is self._root:
            place[key] = value
        else:  # before the last one, behind which comments and blank lines of what follows may hang
            place.insert(max(0, len(place) - 1), key, value)

    def remove(self, word: str) -> bool:
        """Remove a section; returns whether there was one."""
        return self._root.pop(word, None) is not None

    def append(self, section: str, name: str, entry: dict[str, Any]) -> None:
        """Add an entry behind a section's others, by its name where the section has names."""
        new = CommentedMap(entry)
        new.fa.set_flow_style()
        for key, value in entry.items():
            if isinstance(value, dict):
                new[key] = CommentedMap(value)
                new[key].fa.set_flow_style()
        if isinstance(self._root.get(section), list):
            self._root[section].append(new)
            return
        if not isinstance(self._root.get(section), CommentedMap):
            self._root[section] = CommentedMap()
        # A section on one line would have all of its new entries there, too.
        self._root[section].fa.set_block_style()
        self._root[section][name] = new

    def names(self, section: str) -> list[str]:
        """Return the names in a section."""
        found = self._root.get(section)
        return [str(name) for name in found] if isinstance(found, CommentedMap) else []

    def text(self) -> str:
        """Return the text of the file now."""
        out = io.StringIO()
        self._yaml.dump(self._root, out)
        return out.getvalue()


def _known(mapping: Any, word: str) -> Any:
    """Return the key that a mapping has for a word: numbers are numbers to YAML."""
    return next((key for key in mapping if str(key) == word), word)
