"""Mappings: keys with their values and defaults, names that the author gives, kinds with keys of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, cached_property
from typing import Any, Generic, Literal, Protocol, TypeVar

from fabriclab.keys.values import Plain, Scalar, Schema, Shared, Value

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

NAME = r"(?:[^.]|\.\.)+"
"""A word of a dotted key; the two dots of a range are part of it."""


class Unset(Enum):
    """Says that a key has no default that could be written."""

    UNSET = "unset"


class HasValue(Protocol[T_co]):
    """What a reader returns for a key: the value, with its place."""

    @property
    def value(self) -> T_co:
        """The value."""


@dataclass(frozen=True)
class Key(Generic[T]):
    """A key: what may stand there, what it means, what holds where it is not written."""

    name: str
    value: Value[T]
    about: str
    """One or two whole sentences."""
    default: T | Unset = Unset.UNSET
    """What holds where the key is not written."""
    source: str = ""
    """Where the default comes from."""
    unset: str = ""
    """In words, what holds where the key is not written and no one value says it, such as `all hosts`."""
    examples: tuple[str | int | bool | tuple[str, ...], ...] = ()
    """Values that a lab may have; a tuple is a list."""
    required: bool = False
    settable: bool = True
    """Whether a setting by dotted key reaches it."""
    fixed: str = ""
    """Why nothing can set it, or what stands below, while a lab runs; empty: it can be set."""

    def but(self, **changes: Any) -> Key[Any]:
        """Return the key as one mapping has it; words for what holds where it is not written replace its default."""
        if "unset" in changes:
            changes = {"default": Unset.UNSET, "source": "", **changes}
        return replace(self, **changes)

    def or_default(self, written: HasValue[T] | None) -> T:
        """Return what was written, else the default."""
        if written is not None:
            return written.value
        assert self.default is not Unset.UNSET, f"{self.name} has no default"
        return self.default

    def default_written(self) -> Scalar | None:
        """Return the default as one would write it; None: there is none."""
        if self.default is Unset.UNSET:
            return None
        if isinstance(self.value, Plain):
            return self.value.written(self.default)
        return self.default if isinstance(self.default, str) else None

    def default_canonical(self) -> Scalar | None:
        """Return the default in the form that values are compared in; None: there is none."""
        written = self.default_written()
        return written if written is None or isinstance(written, bool) else self.value.canonical(str(written))

    def holds(self) -> str:
        """Return in words what holds where the key is not written."""
        written = self.default_written()
        if written is not None:
            return f"`{str(written).lower() if isinstance(written, bool) else written}`"
        return self.unset or ("required" if self.required else "none")

    def schema(self) -> Schema:
        """Return the value's JSON schema with what an editor shows."""
        shown: Schema = dict(self.value.schema())
        source = f" ({self.source})" if self.source else ""
        told = self.value.told()
        shown["description"] = self.about.replace("`", "")
        shown["markdownDescription"] = (
            f"{self.about}\n\n*Value:* {told}  \n*Where it is not written:* {self.holds()}{source}"
        )
        default = self.default_written()
        if default is not None:
            shown["default"] = default
        if self.examples:
            shown["examples"] = [list(one) if isinstance(one, tuple) else one for one in self.examples]
        return shown


@dataclass(frozen=True)
class Keys(Shared[Any]):
    """A mapping of fixed keys. It stands once in the schema, by its name."""

    name: str
    title: str
    keys: tuple[Key[Any], ...]
    one_of: tuple[tuple[str, ...], ...] = ()
    """Sets of keys, all of one of which must stand here, and of no other; none: no such."""
    any_of: tuple[str, ...] = ()
    """Keys of which one must stand here at least; none: no such."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its keys' names."""
        return tuple(key.name for key in self.keys)

    @cached_property
    def by_name(self) -> Mapping[str, Key[Any]]:
        """Its keys by name."""
        return {key.name: key for key in self.keys}

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

    def parts(self) -> Iterator[Value[Any]]:
        """Yield what stands at its keys."""
        yield from (key.value for key in self.keys)


@dataclass(frozen=True)
class Named(Value[Any]):
    """A mapping whose keys the author chooses, such as names of traffic; some may be fixed."""

    value: Value[Any]
    what: str
    pattern: str = ".+"
    """A regular expression of the whole name."""
    wrong: str = ""
    """What an editor says of a name that is not of the pattern."""
    fixed: Mapping[str, Value[Any]] = field(default_factory=dict)
    """Names with a meaning of their own."""
    about: Mapping[str, str] = field(default_factory=dict)
    """What each of the fixed names means."""
    least: int = 0
    source: Literal["any", "document", "hosts", "switches"] = "any"
    """Which names a setting may have: any of the pattern, those that stand there, hosts and groups, or switches."""
    examples: tuple[str, ...] = ()
    """Names for a message, where any may stand."""

    def accepts(self, name: str) -> bool:
        """Return whether a name is fixed or of the pattern."""
        return name in self.fixed or re.fullmatch(self.pattern, name) is not None

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

    def parts(self) -> Iterator[Value[Any]]:
        """Yield what stands at its names."""
        yield from self.fixed.values()
        yield self.value


@dataclass(frozen=True)
class Kinds(Shared[Any]):
    """A mapping whose key `kind` says which other keys it has."""

    name: str
    title: str
    kinds: Mapping[str, Keys] = field(hash=False)
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

    def parts(self) -> Iterator[Value[Any]]:
        """Yield the mapping of each kind."""
        yield from self.kinds.values()


class MadeWhenAsked(Mapping[str, Keys]):
    """The keys of each kind, made when they are asked for first: who reads a lab needs few of them."""

    def __init__(self, kinds: Iterable[str], make: Callable[[str], Keys]) -> None:
        """Take the kinds' names, and what makes the keys of one."""
        self._kinds = tuple(kinds)
        self._make = cache(make)

    def __getitem__(self, kind: str) -> Keys:
        """Return the keys of a kind. Raises KeyError for what is none."""
        if kind not in self._kinds:
            raise KeyError(kind)
        return self._make(kind)

    def __iter__(self) -> Iterator[str]:
        """Yield the kinds."""
        return iter(self._kinds)

    def __len__(self) -> int:
        """Return how many kinds there are."""
        return len(self._kinds)


@dataclass(frozen=True)
class Forms(Shared[Any]):
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

    def parts(self) -> Iterator[Value[Any]]:
        """Yield the mapping of each form."""
        yield from self.forms.values()
