"""The text that a user's file comes to, where the file is a template or another program's, and where the user's files
say its parts: errors and notes name those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fabriclab.lab.reading.document import MappingValue, SequenceValue, Value, parse_document
from fabriclab.lab.reading.problems import Place, Problems


@dataclass(frozen=True)
class MadeText:
    """A text that was made of a file."""

    text: str
    named: str
    """What errors call it, before the line in the text."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """Where the user's files say a value and all in it, by its key, such as `topology.nodes.r1.exec[2]`."""

    def document(self, problems: Problems) -> MappingValue | None:
        """Return the mapping that the text is, or None after recording why it is none."""
        document = parse_document(self.text, self.named, problems)
        return None if document is None else self._of_mapping(document, "", None)

    def _of_mapping(self, value: MappingValue, key: str, place: Place | None) -> MappingValue:
        entries, key_places = dict(value.entries), dict(value.key_places)
        for name, inner in value.entries.items():
            path = f"{key}.{name}" if key else name
            own = self.places.get(path, place)
            entries[name] = self._placed(inner, path, own)
            key_places[name] = own or value.key_place(name)
        return MappingValue(entries, key_places, place or value.place)

    def _placed(self, value: Value, key: str, place: Place | None) -> Value:
        if isinstance(value, MappingValue):
            return self._of_mapping(value, key, place)
        if isinstance(value, SequenceValue):
            paths = (f"{key}[{number}]" for number in range(len(value.items)))
            items = (
                self._placed(item, path, self.places.get(path, place))
                for item, path in zip(value.items, paths, strict=True)
            )
            return SequenceValue(tuple(items), place or value.place)
        return value if place is None else replace(value, place=place)
