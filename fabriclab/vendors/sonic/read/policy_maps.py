"""Reading ROUTE_MAP, as frrcfgd hands it to FRR (sonic-buildimage, src/sonic-frr-mgmt-framework, frrcfgd.py:
route_map_key_map)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv6Address
from typing import cast

from fabriclab.constraints import Within
from fabriclab.formats import names, ranges
from fabriclab.formats.family import Family
from fabriclab.formats.plan.policies import NEXT_HOP, PEER, Changes, MapEntry, Matches, Origin, RouteMap, Sign
from fabriclab.keys.wording import shown
from fabriclab.vendors.sonic.read.entries import Entry, FieldValue, Tables
from fabriclab.vendors.sonic.read.map_effects import MAP_FIELDS
from fabriclab.vendors.sonic.read.policy_sets import NotExpressibleError, SetReader, check_name, community

TABLE = "ROUTE_MAP"
_ORIGINS = ("igp", "egp", "incomplete")
_KEY = ("name", "stmt_name", "route_operation", "description", "NULL")
_SIGNS: dict[str, Sign] = {"METRIC_SET_VALUE": "", "METRIC_ADD_VALUE": "+", "METRIC_SUBTRACT_VALUE": "-"}
_UNSEEN = ("set_tag", "match_protocol", "match_ipv6_prefix_set")
"""What frrcfgd hands to zebra alone (match_protocol) or to nobody, so that bgpd's entry has none of it."""
_OF_IPV6 = ("set_ipv6_next_hop_global", "set_ipv6_next_hop_prefer_global")
_IDLE: dict[Family, tuple[str, ...]] = {4: (*_UNSEEN, *_OF_IPV6), 6: (*_UNSEEN, "set_next_hop")}
"""What is nothing to a route of BGP, by its family (FRR, bgpd/bgp_routemap.c: route_set_ip_nexthop)."""
_ACTING = (
    *("match_prefix_set", "match_as_path", "match_community", "match_ext_community", "match_local_pref", "match_med"),
    *("match_origin", "match_neighbor", "call_route_map", "set_origin", "set_local_pref", "set_med", "set_metric"),
    *("set_metric_action", "set_asn", "set_repeat_asn", "set_asn_list", "set_community_inline", "set_community_ref"),
    *("set_ext_community_inline", "set_ext_community_ref", "match_interface", "match_next_hop_set", "set_next_hop"),
    *_OF_IPV6,
)
_NEVER: dict[Family, tuple[str, ...]] = {4: ("match_src_vrf",), 6: ("match_src_vrf", "match_next_hop_set")}
"""What no route of the family fits in the default VRF: only one that came from another VRF has a source, and frrcfgd
writes `match ip next-hop`, which is about next hops of IPv4 (FRR, bgpd/bgp_routemap.c: route_match_vrl_source_vrf,
route_match_ip_next_hop_prefix_list)."""
_LISTS = ("match_prefix_set", "match_next_hop_set")
_TAG = "match_tag"
"""What no route of BGP fits unless it was redistributed with a tag: sessions do not carry them (FRR,
bgpd/bgp_routemap.c: route_match_tag)."""
_LARGEST_TAG = 2**32 - 1
_NOT_ACTING = {
    _TAG: "tags, which STATIC_ROUTE has, and FRR takes from 1 to 4294967295: a lab announces static routes by "
    "`network`, which has no tag"
}
"""Fields of the YANG model that the lab's maps have not, and what they are about."""


class MapReader:
    """The maps of a file by name, each read when a session names it, as far as routes of a family go."""

    def __init__(self, tables: Tables, sets: SetReader, family: Family = 4) -> None:
        self._sets = sets
        self._family = family
        self._entries: dict[str, list[Entry]] = {}
        self._has_tags = any("tag" in entry.fields for entry in tables.entries("STATIC_ROUTE"))
        tables.ask(TABLE, *_KEY, *MAP_FIELDS)
        for entry in tables.entries(TABLE):
            self._entries.setdefault(entry.key.rpartition("|")[0], []).append(entry)

    def route_map(self, name: str) -> RouteMap | None:
        """Return a map; None: it is not there. Raises NotExpressibleError."""
        # frrcfgd makes no entry without route_operation.
        whole = [entry for entry in self._entries.get(name, ()) if "route_operation" in entry.fields]
        # An entry that no route fits is skipped. A map of no others denies everything, as one that is not there.
        whole = [entry for entry in whole if not self._fits_nothing(entry)]
        found = sorted(map(self._entry, whole), key=lambda one: one.sequence)
        return RouteMap(name=check_name(name), entries=tuple(found)) if found else None

    def _fits_nothing(self, entry: Entry) -> bool:
        """Return whether no route of the family fits: a list of the other one matches none (FRR, lib/plist.c:
        prefix_list_entry_match)."""
        fields = _Fields(entry)
        lists = (fields.words(name) for name in _LISTS)
        return (
            any(name in entry.fields for name in _NEVER[self._family])
            or any(self._sets.is_of_other(word) for words in lists for word in words)
            or (not self._has_tags and _has_tag(entry))
        )

    def _entry(self, entry: Entry) -> MapEntry:
        number = _number(entry, "stmt_name", entry.key.rpartition("|")[2], ranges.SEQUENCE)
        operation = _Fields(entry).one("route_operation")
        if operation not in ("permit", "deny"):
            raise _refusal(entry, "route_operation", f"{shown(operation or '')} is neither permit nor deny")
        for field in entry.fields:
            is_idle = operation == "deny" and field.startswith("set_")
            if field not in (*_KEY, *_UNSEEN, *_ACTING) and not is_idle:
                about = _NOT_ACTING.get(field)
                why = "a lab's maps have no such field" if about is None else f"a lab's maps do not look at {about}"
                raise _refusal(entry, field, why)
        fields = _Fields(entry)
        return MapEntry(
            sequence=number,
            permits=operation == "permit",
            matches=self._matches(fields),
            changes=self._changes(fields) if operation == "permit" else Changes(),
            calls=_name_or_none(fields.one("call_route_map")),
        )

    def _matches(self, fields: _Fields) -> Matches:
        return Matches(
            prefixes=_name_or_none(fields.one("match_prefix_set")),
            paths=_name_or_none(fields.one("match_as_path")),
            communities=_name_or_none(fields.one("match_community")),
            extended=_name_or_none(fields.one("match_ext_community")),
            local_preference=fields.number("match_local_pref"),
            metric=fields.number("match_med"),
            origin=fields.origin("match_origin"),
            peer=fields.peer("match_neighbor"),
            next_hops=_name_or_none(fields.one("match_next_hop_set")),
            interface=fields.interface("match_interface", "not an interface"),
        )

    def _changes(self, fields: _Fields) -> Changes:
        metric, sign = _metric(fields)
        communities = fields.words("set_community_inline")
        reference = fields.one("set_community_ref")
        if reference is not None:
            communities = self._sets.members("community", reference)
        plain = [word for word in communities if word not in ("additive", "none")]
        return Changes(
            local_preference=fields.number("set_local_pref"),
            metric=metric,
            metric_sign=sign,
            origin=fields.origin("set_origin"),
            prepend=_prepended(fields),
            communities=tuple(community("community", fields.origin_of("set_community_inline"), one) for one in plain),
            adds_communities="additive" in communities,
            removes_communities="none" in communities,
            extended=self._extended(fields),
            next_hop=fields.next_hop("set_next_hop") if self._family == 4 else None,
            global_hop=fields.global_hop("set_ipv6_next_hop_global") if self._family == 6 else None,
            prefers_global=self._family == 6 and fields.one("set_ipv6_next_hop_prefer_global") == "true",
        )

    def _extended(self, fields: _Fields) -> tuple[str, ...]:
        reference = fields.one("set_ext_community_ref")
        if reference is not None:
            return self._sets.members("extcommunity", reference)
        where = fields.origin_of("set_ext_community_inline")
        return tuple(community("extcommunity", where, one) for one in fields.words("set_ext_community_inline"))


def _has_tag(entry: Entry) -> bool:
    """Return whether an entry asks for a tag that FRR takes; it refuses others, and 0."""
    words = _Fields(entry).words(_TAG)
    return len(words) == 1 and words[0].isascii() and words[0].isdigit() and 1 <= int(words[0][:11]) <= _LARGEST_TAG


class _Fields:
    """The fields of one entry, whose values FRR must take."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._fields: Mapping[str, FieldValue] = entry.fields

    def origin_of(self, name: str) -> str:
        return self._entry.origin(name)

    def words(self, name: str) -> tuple[str, ...]:
        value = self._fields.get(name)
        words = () if value is None else value.split(",") if isinstance(value, str) else value
        return tuple(part for word in words for part in word.split())

    def one(self, name: str) -> str | None:
        found = self.words(name)
        if len(found) > 1:
            raise _refusal(self._entry, name, f"{len(found)} values, and FRR takes one")
        return found[0] if found else None

    def number(self, name: str, within: Within = ranges.METRIC) -> int | None:
        text = self.one(name)
        return None if text is None else _number(self._entry, name, text, within)

    def numbers(self, name: str) -> tuple[int, ...]:
        return tuple(_number(self._entry, name, word, ranges.ASN) for word in self.words(name))

    def origin(self, name: str) -> Origin | None:
        text = self.one(name)
        if text is None:
            return None
        if text.lower() not in _ORIGINS:
            raise _refusal(self._entry, name, f"{shown(text)} is none of {', '.join(_ORIGINS)}")
        return cast(Origin, text.lower())

    def interface(self, name: str, otherwise: str) -> str | None:
        text = self.one(name)
        if text is not None and not names.INTERFACE_NAME.is_in(text):
            raise _refusal(self._entry, name, f"{shown(text)} is {otherwise}")
        return text

    def peer(self, name: str) -> str | None:
        text = self.one(name)
        if text is not None and not PEER.is_in(text):
            raise _refusal(self._entry, name, f"{shown(text)} is neither an address nor an interface")
        return str(IPv6Address(text)) if text is not None and names.IPV6.is_in(text) else text

    def global_hop(self, name: str) -> str | None:
        text = self.one(name)
        if text is None:
            return None
        # FRR refuses these (bgpd/bgp_routemap.c: route_set_ipv6_nexthop_global, of its own address family).
        if not names.IPV6.is_in(text) or IPv6Address(text).is_link_local:
            raise _refusal(self._entry, name, f"{shown(text)} is not an IPv6 address that is more than a link's")
        return str(IPv6Address(text))

    def next_hop(self, name: str) -> str | None:
        text = self.one(name)
        if text is not None and not NEXT_HOP.is_in(text):
            raise _refusal(self._entry, name, f"{shown(text)} is not {NEXT_HOP.what}")
        return text


def _metric(fields: _Fields) -> tuple[int | None, Sign]:
    action = fields.one("set_metric_action")
    if action is None:
        return (fields.number("set_metric") if fields.one("set_med") is None else fields.number("set_med")), ""
    if action not in _SIGNS:
        raise NotExpressibleError(f"{fields.origin_of('set_metric_action')}: {action}: {_why_not(action)}")
    value = fields.number("set_metric")
    return (fields.number("set_med"), "") if value is None else (value, _SIGNS[action])


def _why_not(action: str) -> str:
    if action.endswith("_RTT"):
        return (
            "bgpd measures round-trip times on the session, with late acknowledgements in them, so that nobody can "
            "calculate the metric"
        )
    return f"is none of {', '.join(_SIGNS)}"


def _prepended(fields: _Fields) -> tuple[int, ...]:
    own, times = fields.numbers("set_asn"), fields.number("set_repeat_asn", Within(0, 255))
    return (*own * (1 if times is None else max(1, times)), *fields.numbers("set_asn_list"))


def _name_or_none(name: str | None) -> str | None:
    return None if name is None else check_name(name)


def _number(entry: Entry, field: str, text: str, within: Within) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20 and within.least <= int(text) <= within.most):
        raise _refusal(entry, field, f"{shown(text)} is not a whole number from {within.least} to {within.most}")
    return int(text)


def _refusal(entry: Entry, field: str, why: str) -> NotExpressibleError:
    return NotExpressibleError(f"{entry.origin(field)}: {why}")


def named_sets(entries: tuple[MapEntry, ...]) -> Iterator[tuple[str, str]]:
    """Yield what the entries of a map name: `prefixes`, `paths`, `communities`, `extended` or `maps`, and the name."""
    kinds = {"hops": "prefixes"}
    for entry in entries:
        said = {
            "prefixes": entry.matches.prefixes,
            "hops": entry.matches.next_hops,
            "paths": entry.matches.paths,
            "communities": entry.matches.communities,
            "extended": entry.matches.extended,
            "maps": entry.calls,
        }
        yield from ((kinds.get(kind, kind), name) for kind, name in said.items() if name is not None)
