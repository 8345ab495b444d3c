"""Reading the lists that policies name, as frrcfgd hands them to FRR (sonic-buildimage, src/sonic-frr-mgmt-framework,
frrcfgd.py: hdl_com_set, hdl_aspath_set, MatchPrefix).

frrcfgd looks at no `action` of a set of communities or paths: their members permit. A list that a lab cannot have is
told by the field that names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network

from fabriclab.formats import ranges
from fabriclab.formats.family import AnyNetwork, Family
from fabriclab.formats.plan.policies import (
    COMMUNITY,
    EXPRESSION,
    POLICY_NAME,
    AsPathList,
    CommunityKind,
    CommunityList,
    PrefixList,
    PrefixRule,
)
from fabriclab.keys.wording import shown
from fabriclab.vendors.sonic.read.entries import Entry, FieldValue, Tables

COMMUNITIES: dict[CommunityKind, str] = {"community": "COMMUNITY_SET", "extcommunity": "EXTENDED_COMMUNITY_SET"}
PATHS = "AS_PATH_SET"
FIELDS = {
    "PREFIX_SET": ("name", "mode"),
    "PREFIX": ("name", "sequence_number", "ip_prefix", "masklength_range", "action"),
    **dict.fromkeys(COMMUNITIES.values(), ("name", "set_type", "match_action", "community_member", "action")),
    PATHS: ("name", "as_path_set_member", "action"),
}
_LENGTHS = re.compile(r"([0-9]{1,3})\.\.([0-9]{1,3})")
_STEP = 5
"""Between the numbers that FRR gives to entries without one."""
_TYPES = {"route-target:": "rt ", "route-origin:": "soo "}


class NotExpressibleError(Exception):
    """A lab cannot have a policy; why."""


def check_name(name: str) -> str:
    """Return a name that FRR takes. Raises NotExpressibleError."""
    if not POLICY_NAME.is_in(name):
        raise NotExpressibleError(f"{shown(name)} is not {POLICY_NAME.what}")
    return name


class SetReader:
    """The lists of a file by name, each read when a policy names it."""

    def __init__(self, tables: Tables, family: Family = 4) -> None:
        self._entries = {table: list(tables.entries(table)) for table in FIELDS}
        self._family = family
        for table, names in FIELDS.items():
            tables.ask(table, *names)

    def prefixes(self, name: str) -> PrefixList | None:
        """Return a list of prefixes of the family; None: it is not there. Raises NotExpressibleError."""
        entry = self._named("PREFIX_SET", name)
        if self._family == 6 and not self.is_of_ipv6(name):
            return None
        rules = sorted(self._prefix_rules(name), key=lambda rule: rule.sequence)
        if entry is None or not rules:
            return None
        numbers = [rule.sequence for rule in rules]
        if len(set(numbers)) < len(numbers):
            raise NotExpressibleError(f"PREFIX {name} has two entries of one sequence_number")
        return PrefixList(name=check_name(name), rules=tuple(rules))

    def is_of_ipv6(self, name: str) -> bool:
        """Return whether a list of prefixes is there and is of IPv6."""
        entry = self._named("PREFIX_SET", name)
        return entry is not None and _text(entry.fields.get("mode")).lower() == "ipv6"

    def is_of_other(self, name: str) -> bool:
        """Return whether a list of prefixes is there and is of the other family."""
        return self._named("PREFIX_SET", name) is not None and self.is_of_ipv6(name) is (self._family == 4)

    def paths(self, name: str) -> AsPathList | None:
        """Return a list of AS paths; None: it is not there. Raises NotExpressibleError."""
        entry = self._named(PATHS, name)
        members = () if entry is None else _words(entry.fields.get("as_path_set_member"))
        for member in members:
            _check_expression(PATHS, name, member)
        return AsPathList(name=check_name(name), expressions=members) if members else None

    def communities(self, kind: CommunityKind, name: str) -> CommunityList | None:
        """Return a list of communities; None: it is not there, or says too little. Raises NotExpressibleError."""
        table = COMMUNITIES[kind]
        entry = self._named(table, name)
        if entry is None:
            return None
        members = self.members(kind, name)
        how, match = (_text(entry.fields.get(field)).lower() for field in ("set_type", "match_action"))
        if not members or how not in ("standard", "expanded") or match not in ("any", "all"):
            return None
        rows = (members,) if match == "all" else tuple((member,) for member in members)
        if how == "standard":
            return CommunityList(kind=kind, name=check_name(name), entries=rows)
        expressions = tuple(" ".join(row) for row in rows)
        for expression in expressions:
            _check_expression(table, name, expression)
        return CommunityList(kind=kind, name=check_name(name), expressions=expressions)

    def members(self, kind: CommunityKind, name: str) -> tuple[str, ...]:
        """Return the members of a set of communities in FRR's words. Raises NotExpressibleError."""
        table = COMMUNITIES[kind]
        entry = self._named(table, name)
        found = () if entry is None else _words(entry.fields.get("community_member"))
        if entry is not None and _text(entry.fields.get("set_type")).lower() == "expanded":
            return found
        return tuple(community(kind, f"{table} {name}", member) for member in found)

    def _named(self, table: str, name: str) -> Entry | None:
        return next((entry for entry in self._entries[table] if entry.key == name), None)

    def _prefix_rules(self, name: str) -> Iterator[PrefixRule]:
        number = 0
        for entry in self._entries["PREFIX"]:
            words = entry.words
            if words[0] != name:
                continue
            said = _text(entry.fields.get("sequence_number"))
            if len(words) == 4:
                said, words = words[1], [words[0], *words[2:]]
            number = int(said) if said.isascii() and said.isdigit() else number + _STEP
            yield _rule(entry, words, number, self._family)


def community(kind: CommunityKind, where: str, member: str) -> str:
    """Return a community in FRR's words. Raises NotExpressibleError."""
    text = member
    if kind == "extcommunity":
        text = next((to + member.removeprefix(of) for of, to in _TYPES.items() if member.startswith(of)), member)
    if not COMMUNITY.is_in(text):
        raise NotExpressibleError(f"{where}: {shown(member)} is not {COMMUNITY.what}")
    return text


def _rule(entry: Entry, words: list[str], number: int, family: Family) -> PrefixRule:
    if len(words) != 3 or not ranges.SEQUENCE.least <= number <= ranges.SEQUENCE.most:
        raise NotExpressibleError(f"PREFIX|{entry.key} is not name|sequence_number|prefix|lengths")
    _, text, lengths = words
    try:
        prefix: AnyNetwork = (IPv4Network if family == 4 else IPv6Network)(text, strict=False)
    except ValueError:
        raise NotExpressibleError(f"PREFIX|{entry.key}: {shown(text)} is not an IPv{family} prefix") from None
    least, most = _bounds(entry, prefix, lengths)
    action = _text(entry.fields.get("action")).lower() or "permit"
    if action not in ("permit", "deny"):
        raise NotExpressibleError(f"PREFIX|{entry.key}|action: {shown(action)} is neither permit nor deny")
    return PrefixRule(sequence=number, permits=action == "permit", prefix=str(prefix), least=least, most=most)


def _bounds(entry: Entry, prefix: AnyNetwork, lengths: str) -> tuple[int | None, int | None]:
    if lengths == "exact":
        return None, None
    match = _LENGTHS.fullmatch(lengths)
    if match is None:
        raise NotExpressibleError(f"PREFIX|{entry.key}: {shown(lengths)} is neither exact nor lengths such as 24..32")
    least, most = int(match[1]), int(match[2])
    if not prefix.prefixlen <= most <= prefix.max_prefixlen or least > most:
        raise NotExpressibleError(f"PREFIX|{entry.key}: no prefix within {prefix} has a length of {lengths}")
    if (least, most) == (prefix.prefixlen, prefix.prefixlen):
        return None, None
    return (least if least > prefix.prefixlen else None), most


def _check_expression(table: str, name: str, text: str) -> None:
    if not EXPRESSION.is_in(text):
        raise NotExpressibleError(f"{table} {name}: {shown(text)} is not {EXPRESSION.what}")


def _words(value: FieldValue | None) -> tuple[str, ...]:
    words = () if value is None else value.split(",") if isinstance(value, str) else value
    return tuple(word.strip() for word in words if word.strip())


def _text(value: FieldValue | None) -> str:
    return (value[0] if len(value) == 1 else "") if isinstance(value, tuple) else (value or "").strip()
