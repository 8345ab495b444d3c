"""FRR's lists and maps of a switch's policies, and what its sessions and announcements name of them."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.family import FAMILIES, Family, family_of
from fabriclab.formats.plan.node import BgpNeighbour, OwnBgp
from fabriclab.formats.plan.policies import (
    Changes,
    CommunityList,
    Matches,
    PrefixList,
    RouteMap,
)

_IP: dict[Family, str] = {4: "ip", 6: "ipv6"}


def policy_lines(own: OwnBgp | None) -> Iterator[str]:
    """Yield the lists, then the maps, which stand before the router in bgpd's file."""
    lists: dict[str, None] = {}
    maps: list[str] = []
    for family in FAMILIES if own is not None else ():
        policies = None if own is None else own.policies_of(family)
        if own is None or policies is None:
            continue
        for prefixes in policies.prefix_lists:
            lists |= dict.fromkeys(_prefix_list(prefixes, family))
        for paths in policies.as_path_lists:
            lists |= dict.fromkeys(f"bgp as-path access-list {paths.name} permit {each}" for each in paths.expressions)
        for communities in policies.community_lists:
            lists |= dict.fromkeys(_community_list(communities))
        for route_map in policies.route_maps:
            maps += _route_map(route_map, own, family)
    yield from lists
    yield from maps


def _map_name(own: OwnBgp, name: str, family: Family) -> str:
    """Return what FRR calls a map for routes of a family: both families share its names of maps, so that one of IPv6
    has another name where IPv4 has one of its name."""
    of_ipv4 = () if own.policies is None else own.policies.route_maps
    is_taken = family == 6 and any(one.name == name for one in of_ipv4)
    return f"{name}/ipv6" if is_taken else name


def neighbour_lines(name: str, own: OwnBgp, neighbour: BgpNeighbour, family: Family) -> Iterator[str]:
    """Yield what the address family of a session says of its routes."""
    policy = neighbour.policy_of(family)
    if policy is None:
        return
    head = f"  neighbor {name}"
    if policy.weight:
        yield f"{head} weight {policy.weight}"
    if policy.own_as_in:
        yield f"{head} allowas-in {policy.own_as_in}"
    if policy.hides_communities:
        yield f"  no neighbor {name} send-community"
    if policy.hides_extended:
        yield f"  no neighbor {name} send-community extended"
    maps = (None if one is None else _map_name(own, one, family) for one in (policy.map_in, policy.map_out))
    words = {
        "prefix-list": (policy.prefixes_in, policy.prefixes_out),
        "filter-list": (policy.paths_in, policy.paths_out),
        "route-map": tuple(maps),
    }
    for word, names in words.items():
        for direction, one in zip(("in", "out"), names, strict=True):
            if one is not None:
                yield f"{head} {word} {one} {direction}"


def network_lines(own: OwnBgp, family: Family = 4) -> Iterator[str]:
    """Yield what the switch announces of a family."""
    maps = {one.prefix: f" route-map {_map_name(own, one.map, family)}" for one in own.announcements}
    yield from (f"  network {prefix}{maps.get(prefix, '')}" for prefix in own.networks if family_of(prefix) == family)


def _prefix_list(prefixes: PrefixList, family: Family) -> Iterator[str]:
    for rule in prefixes.rules:
        bounds = (("ge", rule.least), ("le", rule.most))
        within = "".join(f" {word} {length}" for word, length in bounds if length is not None)
        head = f"{_IP[family]} prefix-list {prefixes.name}"
        yield f"{head} seq {rule.sequence} {_action(rule.permits)} {rule.prefix}{within}"


def _community_list(communities: CommunityList) -> Iterator[str]:
    head = f"bgp {'community-list' if communities.kind == 'community' else 'extcommunity-list'}"
    yield from (f"{head} standard {communities.name} permit {' '.join(entry)}" for entry in communities.entries)
    yield from (f"{head} expanded {communities.name} permit {each}" for each in communities.expressions)


def _route_map(route_map: RouteMap, own: OwnBgp, family: Family) -> Iterator[str]:
    for entry in route_map.entries:
        yield f"route-map {_map_name(own, route_map.name, family)} {_action(entry.permits)} {entry.sequence}"
        yield from _matches(entry.matches, family)
        if entry.calls is not None:
            yield f" call {_map_name(own, entry.calls, family)}"
        yield from _changes(entry.changes)
        yield "exit"


def _matches(matches: Matches, family: Family) -> Iterator[str]:
    words = {
        f"{_IP[family]} address prefix-list": matches.prefixes,
        "as-path": matches.paths,
        "community": matches.communities,
        "extcommunity": matches.extended,
        "local-preference": matches.local_preference,
        "metric": matches.metric,
        "origin": matches.origin,
        "peer": matches.peer,
        "ip next-hop prefix-list": matches.next_hops,
        "interface": matches.interface,
    }
    yield from (f" match {word} {value}" for word, value in words.items() if value is not None)


def _changes(changes: Changes) -> Iterator[str]:
    if changes.local_preference is not None:
        yield f" set local-preference {changes.local_preference}"
    if changes.metric is not None:
        yield f" set metric {changes.metric_sign}{changes.metric}"
    if changes.origin is not None:
        yield f" set origin {changes.origin}"
    if changes.prepend:
        yield f" set as-path prepend {' '.join(map(str, changes.prepend))}"
    yield from _next_hops(changes)
    yield from _communities(changes)


def _next_hops(changes: Changes) -> Iterator[str]:
    if changes.next_hop is not None:
        yield f" set ip next-hop {changes.next_hop}"
    if changes.global_hop is not None:
        yield f" set ipv6 next-hop global {changes.global_hop}"
    if changes.prefers_global:
        yield " set ipv6 next-hop prefer-global"


def _communities(changes: Changes) -> Iterator[str]:
    if changes.removes_communities:
        yield " set community none"
    elif changes.communities:
        yield f" set community {' '.join(changes.communities)}{' additive' if changes.adds_communities else ''}"
    for kind in ("rt", "soo"):
        found = [one.removeprefix(f"{kind} ") for one in changes.extended if one.startswith(f"{kind} ")]
        if found:
            yield f" set extcommunity {kind} {' '.join(found)}"


def _action(permits: bool) -> str:
    return "permit" if permits else "deny"
