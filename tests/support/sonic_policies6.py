"""Fabrics of both families, two leaves and a spine of frrcfgd, whose sessions over IPv6 have a map or a list."""

from __future__ import annotations

from typing import Any, NamedTuple

from sonic_ipv6 import dual_fabric
from sonic_scale import Tables

RACK4, RACK6 = "10.100.1.0/24", "2001:db8:a64:1::/64"
"""Of leaf2's VLAN."""
LEAF = "2001:db8:a00::1"
"""leaf1's end of its link."""
IN, OUT = "route_map_in", "route_map_out"
PERMIT: dict[str, Any] = {"route_operation": "permit"}
DENY: dict[str, Any] = {"route_operation": "deny"}


class PolicyCase(NamedTuple):
    """Who has what, and what follows."""

    switch: str
    af: dict[str, Any]
    """Of BGP_NEIGHBOR_AF, of each session over IPv6."""
    entries: dict[str, dict[str, Any]]
    """Of ROUTE_MAP."""
    interfaces: tuple[str, ...]
    """The interfaces of the next hops that leaf1 has to RACK6."""
    told: str = ""
    """What `sonic reach` says of it."""


_SIX, _FOUR = {"match_prefix_set": ["SIX"]}, {"match_prefix_set": ["FOUR"]}
_ANY, _OVER = {"M|20": PERMIT}, ("Ethernet8",)
_NO_ENTRY = "leaf1: route-map M, no entry of which matches (in) keeps it"
CASES = {
    "denied": PolicyCase("leaf1", {IN: ["M"]}, {"M|10": {**DENY, **_SIX}, **_ANY}, (), "leaf1: route-map M, entry 10"),
    "denied out": PolicyCase(
        "leaf2", {OUT: ["M"]}, {"M|10": {**DENY, **_SIX}, **_ANY}, (), "leaf2: route-map M, entry"
    ),
    "of IPv4": PolicyCase("leaf1", {IN: ["M"]}, {"M|10": {**DENY, **_FOUR}, **_ANY}, _OVER),
    "of IPv4 alone": PolicyCase("leaf1", {IN: ["M"]}, {"M|10": {**PERMIT, **_FOUR}}, (), "route-map M, which is not"),
    "next hops": PolicyCase("leaf1", {IN: ["M"]}, {"M|10": {**DENY, "match_next_hop_set": "SIX"}, **_ANY}, _OVER),
    "a peer": PolicyCase("leaf1", {IN: ["M"]}, {"M|10": {**PERMIT, "match_neighbor": ["2001:DB8:A00::0"]}}, _OVER),
    "another peer": PolicyCase("leaf1", {IN: ["M"]}, {"M|10": {**PERMIT, "match_neighbor": [LEAF]}}, (), _NO_ENTRY),
    "an interface": PolicyCase(
        "leaf1", {IN: ["M"]}, {"M|10": {**PERMIT, "match_interface": "Ethernet8"}}, (), _NO_ENTRY
    ),
    "IPv4's next hop": PolicyCase("leaf1", {IN: ["M"]}, {"M|10": {**PERMIT, "set_next_hop": "10.99.0.1"}}, _OVER),
    "not preferred": PolicyCase(
        "leaf1", {IN: ["M"]}, {"M|10": {**PERMIT, "set_ipv6_next_hop_global": "2001:db8:99::1"}}, _OVER
    ),
    "preferred": PolicyCase(
        "leaf1", {IN: ["M"]}, {"M|10": {**PERMIT, "set_ipv6_next_hop_prefer_global": "true"}}, _OVER
    ),
    "nowhere": PolicyCase(
        "leaf1",
        {IN: ["M"]},
        {"M|10": {**PERMIT, "set_ipv6_next_hop_prefer_global": "true", "set_ipv6_next_hop_global": "2001:db8:99::1"}},
        (),
        "next hop 2001:db8:99::1, which is in no network of the switch, (in) keeps it out",
    ),
    "own": PolicyCase(
        "leaf1",
        {IN: ["M"]},
        {"M|10": {**PERMIT, "set_ipv6_next_hop_prefer_global": "true", "set_ipv6_next_hop_global": LEAF}},
        (),
        f"next hop {LEAF}, the switch's own address,",
    ),
    "a list": PolicyCase("leaf1", {"prefix_list_in": "SIX"}, {}, _OVER),
    "a list of IPv4": PolicyCase("leaf1", {"prefix_list_in": "FOUR"}, {}, (), "leaf1: prefix-list FOUR (in) keeps it"),
    "a path": PolicyCase("leaf1", {IN: ["M"]}, {"M|10": {**PERMIT, "match_as_path": "OWN"}}, (), _NO_ENTRY),
}


def policy_fabric(case: PolicyCase) -> dict[str, Tables]:
    """Return the tables of each switch."""
    fabric = dual_fabric(1, 2, "frrcfgd")
    own = fabric[case.switch]
    for key, fields in own["BGP_NEIGHBOR_AF"].items():
        if key.endswith("|ipv6_unicast"):
            fields |= case.af
    own["PREFIX_SET"] = {"SIX": {"mode": "IPv6"}, "FOUR": {"mode": "IPv4"}}
    own["PREFIX"] = {f"SIX|10|{RACK6}|exact": {"action": "permit"}, f"FOUR|10|{RACK4}|exact": {"action": "permit"}}
    own["AS_PATH_SET"] = {"OWN": {"as_path_set_member": ["^$"]}}
    own["ROUTE_MAP"] = case.entries
    return fabric
