"""What each field of ROUTE_MAP in SONiC's YANG model does, and what becomes of it here.

`docs/sonic-tables.md` is made of it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

FieldEffect = Literal["acts", "judged", "told", "none"]
"""As of tables; a field that acts is a line of FRR, and part of the calculation of routes."""


class MapEffect(NamedTuple):
    """What a field does."""

    effect: FieldEffect
    what: str


_WITH_VRFS = ". A lab whose switches have VRFs has it: there FRR alone decides"
MAP_FIELDS = {
    "name": MapEffect("acts", "the map's name"),
    "stmt_name": MapEffect("acts", "the entry's number"),
    "route_operation": MapEffect("acts", "`permit` or `deny`; frrcfgd makes no entry without it"),
    "match_interface": MapEffect(
        "acts",
        "`match interface`: of routes over link-local addresses, and of redistributed connected networks; told in "
        "a map of redistributed static routes, and in `route_map_out` of a switch that redistributes, because a lab "
        f"announces these by `network`, which knows no interface{_WITH_VRFS}",
    ),
    "match_prefix_set": MapEffect(
        "acts",
        "`match ip address prefix-list`, of a set of IPv6 `match ipv6 address prefix-list`; no route of the other "
        "family fits",
    ),
    "match_ipv6_prefix_set": MapEffect(
        "judged", "frrcfgd hands it to no daemon, so that BGP's entry stands without it (`policy-unseen`)"
    ),
    "match_protocol": MapEffect(
        "judged", "frrcfgd hands it to zebra alone, so that BGP's entry stands without it (`policy-unseen`)"
    ),
    "match_next_hop_set": MapEffect(
        "acts",
        "`match ip next-hop prefix-list`, which no route of IPv6 fits; told in a map of redistributed static routes, "
        "and in `route_map_out` of a switch that redistributes them, because a lab announces these by `network`, which "
        f"knows no next hop{_WITH_VRFS}",
    ),
    "match_src_vrf": MapEffect(
        "acts",
        "no route of the default VRF fits, so the entry is skipped; `match source-vrf` in a lab with VRFs",
    ),
    "match_neighbor": MapEffect("acts", "`match peer`"),
    "match_tag": MapEffect(
        "acts",
        "no route fits, so the entry is skipped; told if STATIC_ROUTE has tags, because a lab announces static routes "
        f"by `network`, which has none, and if FRR refuses the number{_WITH_VRFS}",
    ),
    "match_med": MapEffect("acts", "`match metric`"),
    "match_origin": MapEffect("acts", "`match origin`"),
    "match_local_pref": MapEffect("acts", "`match local-preference`"),
    "match_community": MapEffect("acts", "`match community`"),
    "match_ext_community": MapEffect("acts", "`match extcommunity`"),
    "match_as_path": MapEffect("acts", "`match as-path`"),
    "call_route_map": MapEffect("acts", "`call`"),
    "set_origin": MapEffect("acts", "`set origin`"),
    "set_local_pref": MapEffect("acts", "`set local-preference`"),
    "set_med": MapEffect("acts", "`set metric`"),
    "set_metric_action": MapEffect(
        "acts",
        "`set metric`, `set metric +`, `set metric -`; told: the three by round-trip time, which bgpd measures on the "
        f"session, so that nobody can calculate the metric{_WITH_VRFS}",
    ),
    "set_metric": MapEffect("acts", "the number of `set_metric_action`"),
    "set_next_hop": MapEffect(
        "acts", "`set ip next-hop`: an address, `peer-address` or `unchanged`; nothing to routes of IPv6"
    ),
    "set_ipv6_next_hop_global": MapEffect(
        "acts", "`set ipv6 next-hop global`: packets go there if the map prefers it to the link-local address"
    ),
    "set_ipv6_next_hop_prefer_global": MapEffect("acts", "`set ipv6 next-hop prefer-global`, of routes that come"),
    "set_repeat_asn": MapEffect("acts", "how often `set_asn` stands"),
    "set_asn": MapEffect("acts", "`set as-path prepend`"),
    "set_asn_list": MapEffect("acts", "`set as-path prepend`"),
    "set_community_inline": MapEffect("acts", "`set community`"),
    "set_community_ref": MapEffect("acts", "`set community`"),
    "set_ext_community_inline": MapEffect("acts", "`set extcommunity`"),
    "set_ext_community_ref": MapEffect("acts", "`set extcommunity`"),
    "set_tag": MapEffect("judged", "frrcfgd hands it to no daemon (`policy-unseen`)"),
}
"""The fields of sonic-route-map.yang, in its order."""
