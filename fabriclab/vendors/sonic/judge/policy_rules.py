"""Rules of policies: fields of ROUTE_MAP that BGP never gets to see."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries

_UNSEEN = {
    "match_protocol": (
        "a condition that frrcfgd hands to zebra, and not to bgpd",
        "BGP's entry takes the routes of every protocol",
        "match a prefix list, or give the redistribution of that protocol its own map",
    ),
    "match_ipv6_prefix_set": (
        "a condition that frrcfgd hands to no daemon",
        "BGP's entry takes routes of every prefix that its other conditions take",
        "write match_prefix_set with a PREFIX_SET of mode IPv6",
    ),
    "set_tag": (
        "a change that frrcfgd hands to no daemon",
        "routes have no tag, and match_tag finds none",
        "mark routes by a community",
    ),
}
"""What becomes of a field (sonic-buildimage, frrcfgd.py: route_map_key_map), what follows, and what would be right."""


def unseen_fields(bindings: Bindings) -> Iterator[SonicFinding]:
    """Each field of an entry that a session or a network goes through gets to bgpd."""
    both = (bindings.config.policies, bindings.config.policies6)
    named = {one.name for policies in both if policies is not None for one in policies.route_maps}
    for key, fields in entries(bindings.config, "ROUTE_MAP").items():
        for name, (bound, fate, remedy) in _UNSEEN.items():
            if name in fields and key.rpartition("|")[0] in named:
                path = ("ROUTE_MAP", key, name)
                yield finding("policy-unseen", path, str(fields[name]), bound, fate, remedy)
