"""Policies of BGP: which routes a switch takes from a neighbour and announces to it, and what it changes of them.

Words and meaning are FRR's: entries of a list and of a map are asked in the order of their numbers, the first that
matches decides, and what none matches is denied. A list or a map that is named and is not there denies, too (FRR,
bgpd/bgp_route.c: bgp_input_filter; lib/routemap.c: route_map_apply_ext).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

from fabriclab.constraints import Record, Text
from fabriclab.formats import names, ranges

Origin = Literal["igp", "egp", "incomplete"]
Sign = Literal["", "+", "-"]
CommunityKind = Literal["community", "extcommunity"]

_ONLY_DIGITS = re.compile(r"[0-9]+")
_EXPRESSION = re.compile(r"[0-9()\[\]|_.,^$*+?:{} -]+")
_NEVER = re.compile(r"\)[*+?{]|[*+?}][*+?{]|\(\?|\{[^}]*[0-9]{3}|\[[^\]]*_")
"""What is repeated is no group; nothing is repeated twice, or very often; Python's own extensions; an edge in a set."""
_UNBOUNDED = re.compile(r"[*+]|\{[0-9]*,")
_MOST_UNBOUNDED = 3
_MOST_LETTERS = 200
_WELL_KNOWN = "no-export|no-advertise|local-AS|no-peer|graceful-shutdown|accept-own|blackhole"
_NUMBER = "[0-9]{1,10}"


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.:/+-]{0,99}", text) is not None and not _ONLY_DIGITS.fullmatch(text)


def _is_expression(text: str) -> bool:
    """Return whether an expression means the same here as to FRR, and can be asked of any path in a bounded time."""
    if _EXPRESSION.fullmatch(text) is None or _NEVER.search(text) is not None:
        return False
    if len(_UNBOUNDED.findall(text)) > _MOST_UNBOUNDED:
        return False
    try:
        re.compile(python_expression(text))
    except (re.error, OverflowError):
        return False
    return True


def python_expression(text: str) -> str:
    """Return an expression of FRR, whose `_` is the edge of a number, in Python's words (FRR, bgpd/bgp_regex.c)."""
    return text.replace("_", "(?:^|[,{}() ]|$)")


POLICY_NAME = Text(
    "a policy's name of letters, digits, '-', '_', '.', ':', '/' and '+', not of digits alone", _is_name, 100
)
EXPRESSION = Text(
    "an expression of digits and ()[]|_.,^$*+?:{}-, that repeats no group and at most three things without a bound",
    _is_expression,
    _MOST_LETTERS,
)
COMMUNITY = Text(
    "a community such as 65001:100 or no-export, or an extended one such as rt 65001:100",
    re.compile(rf"(?:{_WELL_KNOWN}|(?:(?:rt|soo) )?{_NUMBER}:{_NUMBER})").fullmatch,
    100,
)
PEER_ADDRESS, UNCHANGED = "peer-address", "unchanged"
PEER = Text(
    "a neighbour's address, or the name of the interface that leads to it",
    lambda text: names.INTERFACE_NAME.is_in(text) or names.IPV6.is_in(text),
    100,
)
NEXT_HOP = Text(
    f"an IPv4 address, {PEER_ADDRESS} or {UNCHANGED}",
    lambda text: text in (PEER_ADDRESS, UNCHANGED) or names.IPV4.is_in(text),
    len("255.255.255.255"),
)


@dataclass(frozen=True, kw_only=True)
class PrefixRule(Record):
    """An entry of a list of prefixes."""

    sequence: Annotated[int, ranges.SEQUENCE]
    permits: bool
    prefix: Annotated[str, names.DESTINATION]
    least: Annotated[int, ranges.PREFIX_LENGTH] | None = None
    """`ge`: the shortest prefix within it that matches; None: see `most`."""
    most: Annotated[int, ranges.PREFIX_LENGTH] | None = None
    """`le`: the longest; with neither only the prefix itself matches."""


@dataclass(frozen=True, kw_only=True)
class PrefixList(Record):
    """`ip prefix-list` or `ipv6 prefix-list`; without an entry it permits all."""

    name: Annotated[str, POLICY_NAME]
    rules: tuple[PrefixRule, ...]


@dataclass(frozen=True, kw_only=True)
class AsPathList(Record):
    """`bgp as-path access-list`: it permits the paths that one of these expressions finds."""

    name: Annotated[str, POLICY_NAME]
    expressions: tuple[Annotated[str, EXPRESSION], ...]


@dataclass(frozen=True, kw_only=True)
class CommunityList(Record):
    """`bgp community-list` or `bgp extcommunity-list`: a route matches that has all communities of one entry, or whose
    communities one expression finds."""

    kind: CommunityKind
    name: Annotated[str, POLICY_NAME]
    entries: tuple[tuple[Annotated[str, COMMUNITY], ...], ...] = ()
    expressions: tuple[Annotated[str, EXPRESSION], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Matches(Record):
    """What a route must be for an entry of a map; all that is said must hold."""

    prefixes: Annotated[str, POLICY_NAME] | None = None
    paths: Annotated[str, POLICY_NAME] | None = None
    communities: Annotated[str, POLICY_NAME] | None = None
    extended: Annotated[str, POLICY_NAME] | None = None
    local_preference: Annotated[int, ranges.METRIC] | None = None
    metric: Annotated[int, ranges.METRIC] | None = None
    origin: Origin | None = None
    peer: Annotated[str, PEER] | None = None
    """The neighbour that it is from, or that it goes to: its address (dots and digits are a name here), or the
    interface that leads to it."""
    next_hops: Annotated[str, POLICY_NAME] | None = None
    """A list of prefixes that has the next hop; that of the switch's own networks is 0.0.0.0."""
    interface: names.InterfaceName | None = None
    """The interface of a next hop that is a link-local address; no other next hop has one (FRR, bgpd/bgp_attr.c:
    bgp_mp_reach_parse)."""


@dataclass(frozen=True, kw_only=True)
class Changes(Record):
    """What an entry of a map makes of a route that it permits."""

    local_preference: Annotated[int, ranges.METRIC] | None = None
    metric: Annotated[int, ranges.METRIC] | None = None
    metric_sign: Sign = ""
    """Whether `metric` is the value, or is added or taken off."""
    origin: Origin | None = None
    prepend: tuple[Annotated[int, ranges.ASN], ...] = ()
    """AS numbers that come before the path."""
    communities: tuple[Annotated[str, COMMUNITY], ...] = ()
    adds_communities: bool = False
    """Whether they come to those that the route has."""
    removes_communities: bool = False
    extended: tuple[Annotated[str, COMMUNITY], ...] = ()
    next_hop: Annotated[str, NEXT_HOP] | None = None
    """An address; `peer-address`, the address of the session's end that tells the route; `unchanged`, the one that the
    route has, where its neighbour would get the switch's own."""
    global_hop: Annotated[str, names.IPV6] | None = None
    """The next hop of a route of IPv6 that is not a link-local address."""
    prefers_global: bool = False
    """Whether packets go to that one, where a route has a link-local one too."""


@dataclass(frozen=True, kw_only=True)
class MapEntry(Record):
    """An entry of a map."""

    sequence: Annotated[int, ranges.SEQUENCE]
    permits: bool
    matches: Matches = field(default_factory=Matches)
    changes: Changes = field(default_factory=Changes)
    calls: Annotated[str, POLICY_NAME] | None = None
    """Another map, which decides on what this entry permits."""


@dataclass(frozen=True, kw_only=True)
class RouteMap(Record):
    """`route-map`."""

    name: Annotated[str, POLICY_NAME]
    entries: tuple[MapEntry, ...]


@dataclass(frozen=True, kw_only=True)
class Policies(Record):
    """The lists and maps of a switch."""

    prefix_lists: tuple[PrefixList, ...] = ()
    as_path_lists: tuple[AsPathList, ...] = ()
    community_lists: tuple[CommunityList, ...] = ()
    route_maps: tuple[RouteMap, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NeighbourPolicy(Record):
    """What a session does with the routes that come and go over it."""

    map_in: Annotated[str, POLICY_NAME] | None = None
    map_out: Annotated[str, POLICY_NAME] | None = None
    prefixes_in: Annotated[str, POLICY_NAME] | None = None
    prefixes_out: Annotated[str, POLICY_NAME] | None = None
    paths_in: Annotated[str, POLICY_NAME] | None = None
    paths_out: Annotated[str, POLICY_NAME] | None = None
    weight: Annotated[int, ranges.ROUTE_WEIGHT] = 0
    own_as_in: Annotated[int, ranges.OWN_AS] = 0
    """How often the switch's own AS number may be in a path that comes."""
    hides_communities: bool = False
    """Whether the neighbour is told no communities."""
    hides_extended: bool = False
    """Whether it is told no extended ones."""


@dataclass(frozen=True, kw_only=True)
class Announcement(Record):
    """A network that the switch announces through a map."""

    prefix: Annotated[str, names.DESTINATION]
    map: Annotated[str, POLICY_NAME]
