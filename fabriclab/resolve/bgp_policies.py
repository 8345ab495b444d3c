"""What a switch's lists and maps make of one route, as FRR does it (lib/routemap.c, lib/plist.c, bgpd/bgp_route.c).

The order is FRR's: the list of prefixes, the list of paths, then the map. Lists and maps that are named and are not
there deny.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from ipaddress import ip_network

from fabriclab.formats.family import AnyNetwork, is_within
from fabriclab.formats.plan.policies import (
    PEER_ADDRESS,
    UNCHANGED,
    Changes,
    CommunityList,
    MapEntry,
    Matches,
    NeighbourPolicy,
    Origin,
    Policies,
    PrefixList,
    PrefixRule,
    RouteMap,
    python_expression,
)

_DEFAULT_PREFERENCE = 100
_MOST_METRIC = 2**32 - 1
OWN_NEXT_HOP = "0.0.0.0"
"""The next hop of a switch's own networks, and of what came over link-local addresses."""
_MOST_CALLS = 10
"""Maps that call one another: FRR ends at this depth (lib/routemap.c: RMAP_RECURSION_LIMIT) and denies."""


@dataclass(frozen=True)
class Attributes:
    """A route's attributes of BGP."""

    as_path: tuple[int, ...] = ()
    origin: Origin = "igp"
    metric: int = 0
    tells_metric: bool = True
    """False: it is not told to the neighbour, although maps still match it (bgpd/bgp_route.c: subgroup_announce_check
    takes its flag away, and route_match_metric does not look at that)."""
    local_preference: int = _DEFAULT_PREFERENCE
    weight: int = 0
    communities: frozenset[str] = frozenset()
    extended: frozenset[str] = frozenset()
    next_hop: str = OWN_NEXT_HOP
    interface: str = ""
    """Where the next hop is, if it is a link-local address."""
    given_hop: str | None = None
    """What a map set as next hop since the route came or goes: an address, `peer-address` or `unchanged`."""
    global_hop: str | None = None
    """Of a route of IPv6: what a map set as next hop beside the link-local address; None: the neighbour's own."""
    prefers_global: bool = False
    """Whether packets go there, and not to the link-local address."""


@dataclass(frozen=True)
class Denied:
    """What keeps a route out."""

    by: str
    """In words: `route-map NO-H2, entry 10`."""


@dataclass(frozen=True)
class PolicyBook:
    """A switch's lists and maps by name."""

    policies: Policies

    @cached_property
    def _prefixes(self) -> Mapping[str, PrefixList]:
        return {one.name: one for one in self.policies.prefix_lists}

    @cached_property
    def _paths(self) -> Mapping[str, tuple[re.Pattern[str], ...]]:
        return {one.name: tuple(map(_compiled, one.expressions)) for one in self.policies.as_path_lists}

    @cached_property
    def _communities(self) -> Mapping[tuple[str, str], CommunityList]:
        return {(one.kind, one.name): one for one in self.policies.community_lists}

    @cached_property
    def _maps(self) -> Mapping[str, RouteMap]:
        return {one.name: one for one in self.policies.route_maps}

    def prefix_verdicts(self, prefix: str) -> tuple[bool, ...]:
        """Return which of the lists of prefixes permit a prefix: routes with the same ones have the same fate."""
        return tuple(_permits(one, prefix) for one in self.policies.prefix_lists)

    def incoming(self, policy: NeighbourPolicy, prefix: str, route: Attributes, peer: str) -> Attributes | Denied:
        """Return a route as it is taken from a neighbour."""
        given = replace(route, weight=policy.weight)
        return self._filtered(policy.prefixes_in, policy.paths_in, policy.map_in, prefix, given, peer)

    def outgoing(self, policy: NeighbourPolicy, prefix: str, route: Attributes, peer: str) -> Attributes | Denied:
        """Return a route as it is announced to a neighbour, without the switch's own AS number."""
        return self._filtered(policy.prefixes_out, policy.paths_out, policy.map_out, prefix, route, peer)

    def _filtered(
        self, prefixes: str | None, paths: str | None, name: str | None, prefix: str, route: Attributes, peer: str
    ) -> Attributes | Denied:
        if prefixes is not None and not self._has_prefix(prefixes, prefix):
            return Denied(f"prefix-list {prefixes}")
        if paths is not None and not self._has_path(paths, route):
            return Denied(f"as-path access-list {paths}")
        return route if name is None else self.mapped(name, prefix, route, peer)

    def mapped(self, name: str, prefix: str, route: Attributes, peer: str = "", depth: int = 0) -> Attributes | Denied:
        """Return what a map makes of a route."""
        route_map = self._maps.get(name)
        if route_map is None:
            return Denied(f"route-map {name}, which is not there")
        if depth > _MOST_CALLS:
            return Denied(f"route-map {name}, which is called too deeply")
        for entry in route_map.entries:
            if self._fits(entry.matches, prefix, route, peer):
                return self._decided(name, entry, prefix, route, peer, depth)
        return Denied(f"route-map {name}, no entry of which matches")

    def _decided(
        self, name: str, entry: MapEntry, prefix: str, route: Attributes, peer: str, depth: int
    ) -> Attributes | Denied:
        if not entry.permits:
            return Denied(f"route-map {name}, entry {entry.sequence}")
        changed = _changed(route, entry.changes)
        if entry.calls is None or entry.calls not in self._maps:
            return changed
        return self.mapped(entry.calls, prefix, changed, peer, depth + 1)

    def _fits(self, matches: Matches, prefix: str, route: Attributes, peer: str) -> bool:
        wanted = (
            (matches.local_preference, route.local_preference),
            (matches.metric, route.metric),
            (matches.origin, route.origin),
            (matches.peer, peer),
            (matches.interface, route.interface),
        )
        return (
            all(value is None or value == found for value, found in wanted)
            and (
                matches.prefixes is None
                or (matches.prefixes in self._prefixes and self._has_prefix(matches.prefixes, prefix))
            )
            and (matches.next_hops is None or self._has_prefix(matches.next_hops, f"{route.next_hop}/32"))
            and (matches.paths is None or self._has_path(matches.paths, route))
            and (
                matches.communities is None
                or self._has_communities("community", matches.communities, route.communities)
            )
            and (matches.extended is None or self._has_communities("extcommunity", matches.extended, route.extended))
        )

    def _has_prefix(self, name: str, prefix: str) -> bool:
        prefixes = self._prefixes.get(name)
        return prefixes is not None and _permits(prefixes, prefix)

    def _has_path(self, name: str, route: Attributes) -> bool:
        text = " ".join(map(str, route.as_path))
        return any(expression.search(text) for expression in self._paths.get(name, ()))

    def _has_communities(self, kind: str, name: str, found: frozenset[str]) -> bool:
        wanted = self._communities.get((kind, name))
        if wanted is None:
            return False
        text = " ".join(sorted(found))
        return any(found.issuperset(entry) for entry in wanted.entries) or any(
            _compiled(expression).search(text) for expression in wanted.expressions
        )


def _permits(prefixes: PrefixList, prefix: str) -> bool:
    """Return what the first rule that fits says; a list without rules permits all."""
    network = ip_network(prefix)
    first = next((rule for rule in prefixes.rules if _covers(rule, network)), None)
    return not prefixes.rules if first is None else first.permits


def _covers(rule: PrefixRule, network: AnyNetwork) -> bool:
    own = _network(rule.prefix)
    if not is_within(network, own):
        return False
    if rule.least is None and rule.most is None:
        return network.prefixlen == own.prefixlen
    least = own.prefixlen if rule.least is None else rule.least
    return least <= network.prefixlen <= (network.max_prefixlen if rule.most is None else rule.most)


@lru_cache(1 << 12)
def _network(text: str) -> AnyNetwork:
    return ip_network("0.0.0.0/0" if text == "default" else text)


@lru_cache(1 << 10)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(python_expression(expression))


def _changed(route: Attributes, changes: Changes) -> Attributes:
    communities = frozenset(changes.communities)
    if changes.adds_communities:
        communities |= route.communities
    keeps = not changes.communities and not changes.removes_communities
    # An address takes effect within the map (bgpd/bgp_routemap.c: route_set_ip_nexthop); the other words become an
    # address with the session, which the map does not know.
    given = changes.next_hop
    return replace(
        route,
        local_preference=_or(changes.local_preference, route.local_preference),
        metric=_metric(route, changes),
        tells_metric=route.tells_metric or changes.metric is not None,
        origin=changes.origin or route.origin,
        as_path=changes.prepend + route.as_path,
        communities=route.communities if keeps else frozenset() if changes.removes_communities else communities,
        extended=_replaced(route.extended, changes.extended),
        given_hop=given or route.given_hop,
        next_hop=route.next_hop if given in (None, PEER_ADDRESS, UNCHANGED) else given,
        global_hop=changes.global_hop or route.global_hop,
        prefers_global=changes.prefers_global or route.prefers_global,
    )


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def _metric(route: Attributes, changes: Changes) -> int:
    if changes.metric is None:
        return route.metric
    old = route.metric if route.tells_metric else 0
    sums = {"": changes.metric, "+": old + changes.metric, "-": old - changes.metric}
    return min(max(0, sums[changes.metric_sign]), _MOST_METRIC)


def _replaced(old: frozenset[str], new: Iterable[str]) -> frozenset[str]:
    """Return extended communities with the new ones instead of those of their kinds."""
    found = frozenset(new)
    kinds = {one.partition(" ")[0] for one in found}
    return found | {one for one in old if one.partition(" ")[0] not in kinds}
