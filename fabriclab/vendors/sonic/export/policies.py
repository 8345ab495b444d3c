"""Policies of routes as frrcfgd's tables have them."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.plan.node import OwnBgp
from fabriclab.formats.plan.policies import (
    Changes,
    CommunityList,
    MapEntry,
    Matches,
    NeighbourPolicy,
    Policies,
    PrefixList,
)
from fabriclab.vendors.sonic.export.tables import FieldValue, Tables

_SETS = {"community": "COMMUNITY_SET", "extcommunity": "EXTENDED_COMMUNITY_SET"}
_KINDS = {"rt ": "route-target:", "soo ": "route-origin:"}
_ACTIONS = {"+": "METRIC_ADD_VALUE", "-": "METRIC_SUBTRACT_VALUE"}


def write_policies(bgp: OwnBgp, tables: Tables) -> None:
    """Write the lists and maps of a switch."""
    policies = bgp.policies or Policies()
    for prefixes in policies.prefix_lists:
        _write_prefixes(prefixes, tables)
    for paths in policies.as_path_lists:
        tables.put("AS_PATH_SET", paths.name, {"as_path_set_member": list(paths.expressions)})
    for communities in policies.community_lists:
        _write_communities(communities, tables)
    for route_map in policies.route_maps:
        tables.put("ROUTE_MAP_SET", route_map.name)
        for entry in route_map.entries:
            tables.put("ROUTE_MAP", f"{route_map.name}|{entry.sequence}", _entry(entry))


def network_fields(bgp: OwnBgp, prefix: str) -> dict[str, FieldValue]:
    """Return what is said of an announced network."""
    maps = {one.prefix: one.map for one in bgp.announcements}
    return {"policy": maps[prefix]} if prefix in maps else {}


def neighbour_fields(policy: NeighbourPolicy | None) -> dict[str, FieldValue]:
    """Return what a session's address family says of its routes."""
    if policy is None:
        return {}
    told = {(False, True): "standard", (True, False): "extended", (True, True): "none"}
    said: dict[str, FieldValue | None] = {
        "route_map_in": None if policy.map_in is None else [policy.map_in],
        "route_map_out": None if policy.map_out is None else [policy.map_out],
        "prefix_list_in": policy.prefixes_in,
        "prefix_list_out": policy.prefixes_out,
        "filter_list_in": policy.paths_in,
        "filter_list_out": policy.paths_out,
        "weight": str(policy.weight) if policy.weight else None,
        "allow_as_in": "true" if policy.own_as_in else None,
        "allow_as_count": str(policy.own_as_in) if policy.own_as_in else None,
        "send_community": told.get((policy.hides_communities, policy.hides_extended)),
    }
    return _present(said)


def _write_prefixes(prefixes: PrefixList, tables: Tables) -> None:
    tables.put("PREFIX_SET", prefixes.name, {"mode": "IPv4"})
    for rule in prefixes.rules:
        own = int(rule.prefix.partition("/")[2])
        is_exact = rule.least is None and rule.most is None
        bounds = (own if rule.least is None else rule.least, 32 if rule.most is None else rule.most)
        lengths = "exact" if is_exact else "..".join(map(str, bounds))
        fields: dict[str, FieldValue] = {"action": "permit" if rule.permits else "deny"}
        tables.put("PREFIX", f"{prefixes.name}|{rule.sequence}|{rule.prefix}|{lengths}", fields)


def _write_communities(communities: CommunityList, tables: Tables) -> None:
    """Write a set: all of one row, or any of several."""
    rows = communities.entries or tuple((each,) for each in communities.expressions)
    members = [_community(each) for row in rows for each in row]
    fields: dict[str, FieldValue] = {
        "set_type": "STANDARD" if communities.entries else "EXPANDED",
        "match_action": "ALL" if len(rows) == 1 and len(members) > 1 else "ANY",
        "community_member": members,
    }
    tables.put(_SETS[communities.kind], communities.name, fields)


def _community(text: str) -> str:
    return next((to + text.removeprefix(of) for of, to in _KINDS.items() if text.startswith(of)), text)


def _entry(entry: MapEntry) -> dict[str, FieldValue]:
    said: dict[str, FieldValue | None] = {
        "route_operation": "permit" if entry.permits else "deny",
        **_matches(entry.matches),
        "call_route_map": entry.calls,
        **_changes(entry.changes),
    }
    return _present(said)


def _matches(matches: Matches) -> dict[str, FieldValue | None]:
    return {
        "match_prefix_set": matches.prefixes,
        "match_as_path": matches.paths,
        "match_community": matches.communities,
        "match_ext_community": matches.extended,
        "match_local_pref": _number(matches.local_preference),
        "match_med": _number(matches.metric),
        "match_origin": None if matches.origin is None else matches.origin.upper(),
        "match_neighbor": None if matches.peer is None else [matches.peer],
        "match_next_hop_set": matches.next_hops,
        "match_interface": matches.interface,
    }


def _changes(changes: Changes) -> dict[str, FieldValue | None]:
    communities = ["none"] if changes.removes_communities else [*changes.communities]
    communities += ["additive"] if changes.adds_communities else []
    action = _ACTIONS.get(changes.metric_sign)
    return {
        "set_local_pref": _number(changes.local_preference),
        "set_metric_action": action,
        "set_metric" if action else "set_med": _number(changes.metric),
        "set_origin": None if changes.origin is None else changes.origin.upper(),
        "set_asn_list": ",".join(map(str, changes.prepend)) or None,
        "set_next_hop": changes.next_hop,
        "set_community_inline": communities or None,
        "set_ext_community_inline": [_community(each) for each in changes.extended] or None,
    }


def _number(value: int | None) -> str | None:
    return None if value is None else str(value)


def _present(said: Mapping[str, FieldValue | None]) -> dict[str, FieldValue]:
    return {name: value for name, value in said.items() if value is not None}
