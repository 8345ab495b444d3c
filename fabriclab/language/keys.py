"""Mappings: keys with their values and defaults, names that the author gives, kinds with keys of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fabriclab.language.sources import Default
from fabriclab.language.values import Schema, Shared, Value

NAME = r"(?:[^.]|\.\.)+"
"""A word of a dotted key; the two dots of a range are part of it."""


@dataclass(frozen=True)
class Key:
    """A key: what may stand there, what it means, what holds where it is not written."""

    name: str
    value: Value
    about: str
    """One or two whole sentences."""
    default: Default | None = None
    examples: tuple[str | int | bool | tuple[str, ...], ...] = ()
    """Values that a lab may have; a tuple is a list."""
    required: bool = False

    def holds(self) -> str:
        """Return in words what holds where the key is not written."""
        if self.default is not None:
            return self.default.text
        return "must be written" if self.required else "none"

    def schema(self) -> Schema:
        """Return the value's JSON schema with what an editor shows."""
        shown: Schema = dict(self.value.schema())
        source = f" ({self.default.source})" if self.default is not None and self.default.source else ""
        told = self.value.told()
        shown["description"] = self.about.replace("`", "")
        shown["markdownDescription"] = (
            f"{self.about}\n\n*Value:* {told}  \n*Where it is not written:* {self.holds()}{source}"
        )
        if self.default is not None and self.default.value is not None:
            shown["default"] = self.default.value
        if self.examples:
            shown["examples"] = [list(one) if isinstance(one, tuple) else one for one in self.examples]
        return shown


@dataclass(frozen=True)
class Keys(Shared):
    """A mapping of fixed keys. It stands once in the schema, by its name."""

    name: str
    title: str
    keys: tuple[Key, ...]
    one_of: tuple[tuple[str, ...], ...] = ()
    """Sets of keys, all of one of which must stand here, and of no other; none: no such."""
    any_of: tuple[str, ...] = ()
    """Keys of which one must stand here at least; none: no such."""

    def body(self) -> Schema:
        """Return its JSON schema."""
        body: Schema = {
            "title": self.title,
            "type": "object",
            "additionalProperties": False,
            "properties": {key.name: key.schema() for key in self.keys},
        }
        required = [key.name for key in self.keys if key.required]
        if required:
            body["required"] = required
        if self.one_of:
            body["oneOf"] = [{"required": list(keys)} for keys in self.one_of]
        if self.any_of:
            body["anyOf"] = [{"required": [key]} for key in self.any_of]
        return body

    def told(self) -> str:
        """Return its keys, or how many there are."""
        names = [f"`{key.name}`" for key in self.keys]
        return f"a mapping of {', '.join(names)}" if len(names) <= 6 else "a mapping"

    def parts(self) -> Iterator[Value]:
        """Yield what stands at its keys."""
        yield from (key.value for key in self.keys)


@dataclass(frozen=True)
class Named(Value):
    """A mapping whose keys the author chooses, such as names of traffic; some may be fixed."""

    value: Value
    what: str
    pattern: str = ".+"
    """A regular expression of the whole name."""
    wrong: str = ""
    """What an editor says of a name that is not of the pattern."""
    fixed: Mapping[str, Value] = field(default_factory=dict)
    """Names with a meaning of their own."""
    about: Mapping[str, str] = field(default_factory=dict)
    """What each of the fixed names means."""
    least: int = 0

    def schema(self) -> Schema:
        """Return its JSON schema."""
        found: Schema = {
            "type": "object",
            "properties": {
                name: {**value.schema(), "description": self.about[name]} for name, value in self.fixed.items()
            },
            "patternProperties": {f"^(?:{self.pattern})$": self.value.schema()},
            "additionalProperties": False,
        }
        if self.least:
            found["minProperties"] = self.least
        if self.wrong:
            names = "|".join([*self.fixed, self.pattern])
            found["propertyNames"] = {"pattern": f"^(?:{names})$", "patternErrorMessage": self.wrong}
        return found

    def told(self) -> str:
        """Return it in words."""
        return self.what

    def parts(self) -> Iterator[Value]:
        """Yield what stands at its names."""
        yield from self.fixed.values()
        yield self.value


@dataclass(frozen=True)
class Kinds(Shared):
    """A mapping whose key `kind` says which other keys it has."""

    name: str
    title: str
    kinds: Mapping[str, Keys]
    about: str
    always: bool = True
    """Whether `kind` must stand here; where not, it may stand in another layer, and all keys are valid."""

    def body(self) -> Schema:
        """Return its JSON schema: the kind first, so that an error is of the kind that stands there."""
        kind = {
            "enum": list(self.kinds),
            "description": self.about,
            "markdownEnumDescriptions": [keys.keys[0].about for keys in self.kinds.values()],
        }
        body: Schema = {
            "title": self.title,
            "type": "object",
            "properties": {"kind": kind},
            "allOf": [
                {
                    "if": {"properties": {"kind": {"const": name}}, "required": ["kind"]},
                    "then": {"$ref": f"#/definitions/{keys.name}"},
                }
                for name, keys in self.kinds.items()
            ],
        }
        if self.always:
            return {**body, "required": ["kind"]}
        every = {key.name: key.schema() for keys in self.kinds.values() for key in reversed(keys.keys)}
        return {**body, "properties": {**every, "kind": kind}, "additionalProperties": False}

    def told(self) -> str:
        """Return the kinds."""
        return f"a mapping with a `kind`, one of {', '.join(f'`{kind}`' for kind in self.kinds)}, and its keys"

    def parts(self) -> Iterator[Value]:
        """Yield the mapping of each kind."""
        yield from self.kinds.values()


@dataclass(frozen=True)
class Forms(Shared):
    """A mapping that has one of several keys, which says what else may stand there."""

    name: str
    title: str
    forms: Mapping[str, Keys]

    def body(self) -> Schema:
        """Return its JSON schema."""
        every: Schema = {}
        for key in (key for keys in self.forms.values() for key in keys.keys):
            # What a key may hold that two forms have, such as `action`, is said by the form.
            every[key.name] = {} if key.name in every else key.schema()
        return {
            "title": self.title,
            "type": "object",
            "properties": every,
            "additionalProperties": False,
            "oneOf": [{"required": [key]} for key in self.forms],
            "allOf": [
                {"if": {"required": [key]}, "then": {"$ref": f"#/definitions/{keys.name}"}}
                for key, keys in self.forms.items()
            ],
        }

    def told(self) -> str:
        """Return the keys of which one must stand there."""
        return f"a mapping with one of {', '.join(f'`{key}`' for key in self.forms)}"

    def parts(self) -> Iterator[Value]:
        """Yield the mapping of each form."""
        yield from self.forms.values()
