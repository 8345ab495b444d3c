"""FRR's lists and maps of a switch's policies, and what its sessions and announcements name of them."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.family import Family, family_of
from fabriclab.formats.plan.node import OwnBgp
from fabriclab.formats.plan.policies import (
    Changes,
    CommunityList,
    MapEntry,
    Matches,
    NeighbourPolicy,
    Policies,
    PrefixList,
    RouteMap,
)


def policy_lines(policies: Policies | None) -> Iterator[str]:
    """Yield the lists, then the maps, which stand before the router in bgpd's file."""
    if policies is None:
        return
    for prefixes in policies.prefix_lists:
        yield from _prefix_list(prefixes)
    for paths in policies.as_path_lists:
        yield from (f"bgp as-path access-list {paths.name} permit {each}" for each in paths.expressions)
    for communities in policies.community_lists:
        yield from _community_list(communities)
    for route_map in policies.route_maps:
        yield from _route_map(route_map)


def neighbour_lines(name: str, policy: NeighbourPolicy | None) -> Iterator[str]:
    """Yield what the address family of a session says of its routes."""
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
    words = {
        "prefix-list": (policy.prefixes_in, policy.prefixes_out),
        "filter-list": (policy.paths_in, policy.paths_out),
        "route-map": (policy.map_in, policy.map_out),
    }
    for word, names in words.items():
        for direction, one in zip(("in", "out"), names, strict=True):
            if one is not None:
                yield f"{head} {word} {one} {direction}"


def network_lines(own: OwnBgp, family: Family = 4) -> Iterator[str]:
    """Yield what the switch announces of a family."""
    maps = {one.prefix: f" route-map {one.map}" for one in own.announcements}
    yield from (f"  network {prefix}{maps.get(prefix, '')}" for prefix in own.networks if family_of(prefix) == family)


def _prefix_list(prefixes: PrefixList) -> Iterator[str]:
    for rule in prefixes.rules:
        bounds = (("ge", rule.least), ("le", rule.most))
        within = "".join(f" {word} {length}" for word, length in bounds if length is not None)
        yield f"ip prefix-list {prefixes.name} seq {rule.sequence} {_action(rule.permits)} {rule.prefix}{within}"


def _community_list(communities: CommunityList) -> Iterator[str]:
    head = f"bgp {'community-list' if communities.kind == 'community' else 'extcommunity-list'}"
    yield from (f"{head} standard {communities.name} permit {' '.join(entry)}" for entry in communities.entries)
    yield from (f"{head} expanded {communities.name} permit {each}" for each in communities.expressions)


def _route_map(route_map: RouteMap) -> Iterator[str]:
    for entry in route_map.entries:
        yield f"route-map {route_map.name} {_action(entry.permits)} {entry.sequence}"
        yield from _matches(entry.matches)
        yield from _calls(entry)
        yield from _changes(entry.changes)
        yield "exit"


def _matches(matches: Matches) -> Iterator[str]:
    words = {
        "ip address prefix-list": matches.prefixes,
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


def _calls(entry: MapEntry) -> Iterator[str]:
    if entry.calls is not None:
        yield f" call {entry.calls}"


def _changes(changes: Changes) -> Iterator[str]:
    if changes.local_preference is not None:
        yield f" set local-preference {changes.local_preference}"
    if changes.metric is not None:
        yield f" set metric {changes.metric_sign}{changes.metric}"
    if changes.origin is not None:
        yield f" set origin {changes.origin}"
    if changes.prepend:
        yield f" set as-path prepend {' '.join(map(str, changes.prepend))}"
    if changes.next_hop is not None:
        yield f" set ip next-hop {changes.next_hop}"
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
