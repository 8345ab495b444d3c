"""Lists and maps of policies for FRR, as frrcfgd hands them to it (sonic-buildimage, src/sonic-frr-mgmt-framework,
frrcfgd.py: route_map_key_map)."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.plan.policies import CommunityList, PrefixList
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.entries import Tables
from fabriclab.vendors.sonic.read.policy_sets import COMMUNITIES, PATHS, NotExpressibleError, SetReader
from fabriclab.vendors.sonic.vrf.words import Row, rows

_METRICS = {"METRIC_SET_VALUE": "", "METRIC_ADD_VALUE": "+", "METRIC_SUBTRACT_VALUE": "-"}
_ROUND_TRIPS = {"METRIC_SET_RTT": "rtt", "METRIC_ADD_RTT": "+rtt", "METRIC_SUBTRACT_RTT": "-rtt"}
_MATCHES = {
    "match_interface": "interface",
    "match_next_hop_set": "ip next-hop prefix-list",
    "match_neighbor": "peer",
    "match_tag": "tag",
    "match_med": "metric",
    "match_origin": "origin",
    "match_local_pref": "local-preference",
    "match_community": "community",
    "match_ext_community": "extcommunity",
    "match_as_path": "as-path",
    "match_src_vrf": "source-vrf",
}
_CHANGES = {
    "set_origin": "origin",
    "set_local_pref": "local-preference",
    "set_next_hop": "ip next-hop",
    "set_ipv6_next_hop_global": "ipv6 next-hop global",
}
_LOWER = ("match_origin", "set_origin")


def policy_lines(config: ConfigDb) -> Iterator[str]:
    """Yield all lists and maps of a file. A list that FRR could not take is left out, as frrcfgd's command fails."""
    if config.json is None or not config.frrcfgd:
        return
    sets = SetReader(Tables(config.json, Problems())), SetReader(Tables(config.json, Problems()), 6)
    yield from _lists(config, *sets)
    entries: dict[tuple[str, int], Row] = {}
    for row in rows(config, "ROUTE_MAP"):
        number = row.words[-1]
        if len(row.words) == 2 and number.isdigit() and row.text("route_operation") in ("permit", "deny"):
            entries[row.words[0], int(number)] = row
    for (name, sequence), row in sorted(entries.items()):
        yield f"route-map {name} {row.text('route_operation')} {sequence}"
        yield from _matches(row, sets[0])
        if row.text("route_operation") == "permit":
            yield from _changes(row, sets[0])
        yield "exit"


def _lists(config: ConfigDb, sets: SetReader, sets6: SetReader) -> Iterator[str]:
    for row in rows(config, "PREFIX_SET"):
        yield from _prefix_list(sets6 if sets.is_of_ipv6(row.key) else sets, row.key, sets.is_of_ipv6(row.key))
    for row in rows(config, PATHS):
        try:
            paths = sets.paths(row.key)
        except NotExpressibleError:
            continue
        for each in () if paths is None else paths.expressions:
            yield f"bgp as-path access-list {row.key} permit {each}"
    for kind, table in COMMUNITIES.items():
        for row in rows(config, table):
            try:
                yield from _communities(sets.communities(kind, row.key))
            except NotExpressibleError:
                continue


def _prefix_list(sets: SetReader, name: str, is_of_ipv6: bool) -> Iterator[str]:
    try:
        found: PrefixList | None = sets.prefixes(name)
    except NotExpressibleError:
        return
    for rule in () if found is None else found.rules:
        bounds = (("ge", rule.least), ("le", rule.most))
        within = "".join(f" {word} {length}" for word, length in bounds if length is not None)
        action = "permit" if rule.permits else "deny"
        yield f"{'ipv6' if is_of_ipv6 else 'ip'} prefix-list {name} seq {rule.sequence} {action} {rule.prefix}{within}"


def _communities(found: CommunityList | None) -> Iterator[str]:
    if found is None:
        return
    head = f"bgp {'community-list' if found.kind == 'community' else 'extcommunity-list'}"
    yield from (f"{head} standard {found.name} permit {' '.join(entry)}" for entry in found.entries)
    yield from (f"{head} expanded {found.name} permit {each}" for each in found.expressions)


def _matches(row: Row, sets: SetReader) -> Iterator[str]:
    prefixes = row.word("match_prefix_set")
    if prefixes:
        yield f" match {'ipv6' if sets.is_of_ipv6(prefixes) else 'ip'} address prefix-list {prefixes}"
    for name, words in _MATCHES.items():
        value = row.word(name)
        if value:
            yield f" match {words} {value.lower() if name in _LOWER else value}"
    if row.word("call_route_map"):
        yield f" call {row.word('call_route_map')}"


def _changes(row: Row, sets: SetReader) -> Iterator[str]:
    for name, words in _CHANGES.items():
        value = row.word(name)
        if value:
            yield f" set {words} {value.lower() if name in _LOWER else value}"
    if row.says("set_ipv6_next_hop_prefer_global"):
        yield " set ipv6 next-hop prefer-global"
    if metric := _metric(row):
        yield f" set metric {metric}"
    if prepended := _prepended(row):
        yield f" set as-path prepend {prepended}"
    yield from _set_communities(row, sets)


def _metric(row: Row) -> str:
    action, value, med = (row.word(name) for name in ("set_metric_action", "set_metric", "set_med"))
    if action in _METRICS and value:
        return f"{_METRICS[action]}{value}"
    return _ROUND_TRIPS.get(action, med)


def _prepended(row: Row) -> str:
    own, times = row.word("set_asn"), row.word("set_repeat_asn")
    repeated = [own] * (max(1, min(int(times), 255)) if times.isdigit() else 1) if own else []
    return " ".join((*repeated, *filter(None, row.items("set_asn_list"))))


def _set_communities(row: Row, sets: SetReader) -> Iterator[str]:
    try:
        named = row.word("set_community_ref")
        plain = " ".join(sets.members("community", named) if named else filter(None, row.items("set_community_inline")))
        named = row.word("set_ext_community_ref")
        every = sets.members("extcommunity", named) if named else row.items("set_ext_community_inline")
    except NotExpressibleError:
        return
    if plain:
        yield f" set community {plain}"
    kinds = {"rt": ("rt ", "route-target:"), "soo": ("soo ", "route-origin:")}
    for kind, heads in kinds.items():
        found = [one.removeprefix(head) for one in every for head in heads if one.startswith(head)]
        if found:
            yield f" set extcommunity {kind} {' '.join(found)}"
