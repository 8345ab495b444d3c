"""Policies of routes of a config_db.json: FRR's lines, the routes that they leave, and why others do not act."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sonic_vs_labs import configs_of, plan_of, write_lab

from fabriclab.compile import compile_node
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.lab import parse_lab
from fabriclab.vendors.sonic.export import export_switch
from fabriclab.vendors.sonic.read.read import parse_config_db

Tables = dict[str, Any]
PERMIT = {"route_operation": "permit"}
FAR = "10.64.1.0/31"
"""The network of leaf2's host."""


@cache
def stock() -> str:
    with TemporaryDirectory() as scratch:
        return json.dumps(configs_of(Path(scratch) / "stock", "bgp-unnumbered"))


def lab_of(directory: Path, af: Tables, tables: Tables, switch: str = "leaf1") -> Plan:
    """Return the plan of two leaves and a spine, of which one has these tables, and `af` for its sessions."""
    directory.mkdir(exist_ok=True)
    configs = json.loads(stock())
    own = configs[switch]
    for key in own["BGP_NEIGHBOR_AF"]:
        own["BGP_NEIGHBOR_AF"][key] |= af
    for table, entries in tables.items():
        own.setdefault(table, {}).update(entries)
    return plan_of(write_lab(directory / "lab", configs))


def lines(plan: Plan, switch: str = "leaf1") -> list[str]:
    return compile_node(plan.node(switch), plan).root["etc/frr/bgpd.conf"].splitlines()


def routes(plan: Plan, switch: str = "leaf1") -> dict[str, int]:
    return {route.destination: len(route.next_hops) for route in plan.node(switch).routes}


DENY_FAR = {
    "PREFIX_SET": {"FAR": {"mode": "IPv4"}},
    "PREFIX": {f"FAR|10|{FAR}|exact": {"action": "permit"}},
    "ROUTE_MAP": {"M|10": {"route_operation": "deny", "match_prefix_set": "FAR"}, "M|20": PERMIT},
}


def test_a_map_that_denies_a_prefix_takes_it_from_the_routes_and_is_named(tmp_path: Path) -> None:
    bare, plan = lab_of(tmp_path / "a", {}, {}), lab_of(tmp_path / "b", {"route_map_in": ["M"]}, DENY_FAR)
    assert set(routes(bare)) - set(routes(plan)) == {FAR}
    assert routes(plan, "spine1") == routes(bare, "spine1")
    text = lines(plan)
    assert text[text.index(f"ip prefix-list FAR seq 10 permit {FAR}") :][:6] == [
        f"ip prefix-list FAR seq 10 permit {FAR}",
        "route-map M deny 10",
        " match ip address prefix-list FAR",
        "exit",
        "route-map M permit 20",
        "exit",
    ]
    assert "  neighbor Ethernet4 route-map M in" in text
    told = f"leaf1: route-map M, entry 10 (in) keeps {FAR} out: leaf1 has no route to it"
    assert told in plan.warnings and not any("not emulated" in one for one in plan.warnings)


def test_a_plan_with_policies_is_read_again(tmp_path: Path) -> None:
    plan = lab_of(tmp_path, {"route_map_in": ["M"]}, DENY_FAR)
    assert parse_plan_json(plan_json(plan)) == plan


def test_a_plan_without_policies_has_no_word_of_them(tmp_path: Path) -> None:
    assert not {"policies", "announcements", "policy"} & set(plan_json(lab_of(tmp_path, {}, {})).split('"'))


COMMUNITIES = {
    "COMMUNITY_SET": {"C": {"set_type": "STANDARD", "match_action": "ALL", "community_member": ["65001:1", "65001:2"]}}
}
AS_PATHS = {"AS_PATH_SET": {"P": {"as_path_set_member": ["_4200000000_"]}}}
EVERY = {
    **COMMUNITIES,
    "PREFIX_SET": {"L": {"mode": "IPv4"}},
    "PREFIX": {"L|10|10.0.0.0/8|exact": {"action": "permit"}},
    **AS_PATHS,
    "EXTENDED_COMMUNITY_SET": {
        "E": {
            "set_type": "STANDARD",
            "match_action": "ANY",
            "community_member": ["route-target:1:2", "route-origin:3:4"],
        }
    },
}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"match_community": "C"}, ["bgp community-list standard C permit 65001:1 65001:2", " match community C"]),
        (
            {"match_ext_community": "E"},
            ["bgp extcommunity-list standard E permit rt 1:2", "bgp extcommunity-list standard E permit soo 3:4"],
        ),
        ({"match_as_path": "P"}, ["bgp as-path access-list P permit _4200000000_", " match as-path P"]),
        ({"match_med": "7", "match_local_pref": "9"}, [" match local-preference 9", " match metric 7"]),
        ({"match_origin": "IGP", "match_neighbor": ["Ethernet4"]}, [" match origin igp", " match peer Ethernet4"]),
        ({"set_local_pref": "200", "set_med": "5"}, [" set local-preference 200", " set metric 5"]),
        ({"set_metric_action": "METRIC_ADD_VALUE", "set_metric": "3", "set_med": "5"}, [" set metric +3"]),
        ({"set_asn": "65009", "set_repeat_asn": "2"}, [" set as-path prepend 65009 65009"]),
        ({"set_asn_list": "65009,65010"}, [" set as-path prepend 65009 65010"]),
        ({"set_community_inline": ["65001:7", "additive"]}, [" set community 65001:7 additive"]),
        ({"set_community_ref": "C"}, [" set community 65001:1 65001:2"]),
        ({"set_ext_community_ref": "E"}, [" set extcommunity rt 1:2", " set extcommunity soo 3:4"]),
        (
            {"match_next_hop_set": "L"},
            ["ip prefix-list L seq 10 permit 10.0.0.0/8", " match ip next-hop prefix-list L"],
        ),
        ({"match_interface": "Vlan100", "set_next_hop": "10.0.0.9"}, [" match interface Vlan100"]),
        ({"set_next_hop": "peer-address", "match_protocol": "bgp"}, [" set ip next-hop peer-address"]),
        ({"set_origin": "INCOMPLETE", "call_route_map": "N"}, [" call N", " set origin incomplete"]),
    ],
)
def test_what_a_map_says_is_frrs(tmp_path: Path, entry: Tables, expected: list[str]) -> None:
    maps = {"ROUTE_MAP": {"M|10": {**PERMIT, **entry}, "M|20": PERMIT, "N|5": PERMIT}}
    plan = lab_of(tmp_path, {"route_map_out": ["M"]}, {**EVERY, **maps})
    assert set(expected) <= set(lines(plan)) and "  neighbor Ethernet4 route-map M out" in lines(plan)
    assert not any("not emulated" in one for one in plan.warnings)


def test_what_several_members_may_be_are_entries_of_their_own(tmp_path: Path) -> None:
    sets = {"C": {"set_type": "EXPANDED", "match_action": "ANY", "community_member": ["^65001:.*", "_1:1_"]}}
    maps = {"ROUTE_MAP": {"M|10": {**PERMIT, "match_community": "C"}}}
    text = lines(lab_of(tmp_path, {"route_map_in": ["M"]}, {"COMMUNITY_SET": sets, **maps}))
    assert [line for line in text if "community-list" in line] == [
        "bgp community-list expanded C permit ^65001:.*",
        "bgp community-list expanded C permit _1:1_",
    ]


@pytest.mark.parametrize(
    ("key", "fields", "expected"),
    [
        ("L|10.0.0.0/8|exact", {}, "seq 5 permit 10.0.0.0/8"),
        ("L|30|10.0.0.0/8|8..32", {"action": "deny"}, "seq 30 deny 10.0.0.0/8 le 32"),
        ("L|10.0.0.0/8|24..28", {"sequence_number": "7"}, "seq 7 permit 10.0.0.0/8 ge 24 le 28"),
        ("L|10.0.0.1/8|8..8", {}, "seq 5 permit 10.0.0.0/8"),
    ],
)
def test_prefixes_have_their_lengths_and_numbers(tmp_path: Path, key: str, fields: Tables, expected: str) -> None:
    tables = {"PREFIX_SET": {"L": {"mode": "IPv4"}}, "PREFIX": {key: fields}}
    text = lines(lab_of(tmp_path, {"prefix_list_out": "L"}, tables))
    assert f"ip prefix-list L {expected}" in text and "  neighbor Ethernet4 prefix-list L out" in text


def test_a_list_or_a_map_that_is_not_there_denies_all(tmp_path: Path) -> None:
    """FRR, bgpd/bgp_route.c: bgp_input_filter, bgp_input_modifier."""
    cases: list[Tables] = [{"route_map_in": ["NO"]}, {"prefix_list_in": "NO"}, {"filter_list_in": "NO"}]
    for number, af in enumerate(cases):
        plan = lab_of(tmp_path / str(number), af, {})
        assert routes(plan) == {} and routes(plan, "spine1")
        assert any("NO" in one and "leaf1 has no route" in one for one in plan.warnings)


def test_an_entry_for_prefixes_of_ipv6_matches_no_route_of_ipv4(tmp_path: Path) -> None:
    """FRR, lib/plist.c: prefix_list_entry_match compares the families first."""
    of_ipv6 = {"route_operation": "deny", "match_prefix_set": "SIX"}
    six = {"PREFIX_SET": {"SIX": {"mode": "IPv6"}}}
    plan = lab_of(tmp_path / "a", {"route_map_in": ["M"]}, {"ROUTE_MAP": {"M|10": of_ipv6, "M|20": PERMIT}, **six})
    assert routes(plan) == routes(lab_of(tmp_path / "b", {}, {}))
    assert not any("not emulated" in one for one in plan.warnings) and "route-map M deny 10" not in lines(plan)
    alone = lab_of(tmp_path / "c", {"route_map_in": ["M"]}, {"ROUTE_MAP": {"M|10": {**of_ipv6, **PERMIT}}, **six})
    assert routes(alone) == {}


def test_frrcfgd_does_not_know_match_ipv6_prefix_set(tmp_path: Path) -> None:
    """It is in the YANG model only: BGP's entry stands without it (frrcfgd.py: route_map_key_map)."""
    unseen = {"route_operation": "deny", "match_ipv6_prefix_set": "SIX"}
    plan = lab_of(tmp_path / "a", {"route_map_in": ["M"]}, {"ROUTE_MAP": {"M|10": unseen, "M|20": PERMIT}})
    assert routes(plan) == {} and "route-map M deny 10" in lines(plan)


def test_an_entry_for_a_tag_matches_no_route_as_long_as_no_map_sets_one(tmp_path: Path) -> None:
    """FRR, bgpd/bgp_routemap.c: route_match_tag; sessions do not carry tags."""
    of_tag = {"route_operation": "deny", "match_tag": ["7"]}
    plan = lab_of(tmp_path / "a", {"route_map_in": ["M"]}, {"ROUTE_MAP": {"M|10": of_tag, "M|20": PERMIT}})
    assert routes(plan) == routes(lab_of(tmp_path / "b", {}, {}))
    assert not any("not emulated" in one for one in plan.warnings) and "route-map M deny 10" not in lines(plan)
    alone = lab_of(tmp_path / "c", {"route_map_in": ["M"]}, {"ROUTE_MAP": {"M|10": {**of_tag, **PERMIT}}})
    assert routes(alone) == {}


def test_a_peer_group_has_policies_and_a_neighbour_its_own_over_them(tmp_path: Path) -> None:
    groups = {
        "BGP_PEER_GROUP": {"default|G": {}},
        "BGP_NEIGHBOR": {"default|Ethernet4": {"peer_group_name": "G", "peer_type": "external"}},
        "BGP_PEER_GROUP_AF": {"default|G|ipv4_unicast": {"route_map_in": ["M"], "route_map_out": ["M"], "weight": "7"}},
        "ROUTE_MAP": {"M|10": PERMIT, "N|10": PERMIT},
    }
    text = lines(lab_of(tmp_path, {"route_map_in": ["N"]}, groups))
    assert [line.strip() for line in text if line.startswith("  neighbor Ethernet4 ")] == [
        "neighbor Ethernet4 activate",
        "neighbor Ethernet4 weight 7",
        "neighbor Ethernet4 route-map N in",
        "neighbor Ethernet4 route-map M out",
    ]


def test_announced_networks_go_through_their_maps(tmp_path: Path) -> None:
    """The map of a network, and that of redistribution for what no entry names."""
    near = "10.64.0.0/31"
    tables = {
        **DENY_FAR,
        "PREFIX": {f"FAR|10|{near}|exact": {}},
        "BGP_GLOBALS_AF_NETWORK": {f"default|ipv4_unicast|{near}": {"policy": "M"}},
    }
    plan = lab_of(tmp_path / "network", {}, tables)
    assert f"  network {near} route-map M" in lines(plan)
    assert near not in routes(plan, "leaf2") and near not in routes(plan, "spine1")
    assert f"leaf1: route-map M, entry 10 (out) keeps {near} out: leaf2 has no route to it" in plan.warnings
    configs = json.loads(stock())
    own = configs["leaf1"]
    own.pop("BGP_GLOBALS_AF_NETWORK")
    own |= tables | {"ROUTE_REDISTRIBUTE": {"default|connected|bgp|ipv4": {"route_map": ["M"]}}}
    own.pop("BGP_GLOBALS_AF_NETWORK")
    plan = plan_of(write_lab(tmp_path / "redistributed", configs))
    assert f"  network {near} route-map M" in lines(plan)
    assert near not in routes(plan, "leaf2") and f"{plan.node('leaf1').loopback}/32" in routes(plan, "leaf2")


WHY_NOT = [
    ({"match_tag": ["0"]}, "ROUTE_MAP|M|10|match_tag: a lab's maps do not look at tags"),
    ({"match_interface": "a b"}, "ROUTE_MAP|M|10|match_interface: 2 values, and FRR takes one"),
    ({"set_next_hop": "here"}, "ROUTE_MAP|M|10|set_next_hop: 'here' is not an IPv4 address, peer-address or unchanged"),
    ({"set_metric_action": "METRIC_SET_RTT"}, "METRIC_SET_RTT: bgpd measures round-trip times on the session"),
    ({"set_local_pref": "-1"}, "ROUTE_MAP|M|10|set_local_pref: '-1' is not a whole number from 0 to 4294967295"),
    ({"match_as_path": "BAD"}, "AS_PATH_SET BAD: '(1+)+$' is not an expression of digits"),
    ({"call_route_map": "N"}, "ROUTE_MAP|N|10|match_med: '-1' is not a whole number from 0 to 4294967295"),
    ({"match_prefix_set": "a b"}, "match_prefix_set: 2 values, and FRR takes one"),
    ({"match_prefix_set": "17"}, "'17' is not a policy's name"),
    ({"match_prefix_set": "LONG"}, "no prefix within 10.0.0.0/24 has a length of 8..16"),
]


@pytest.mark.parametrize(("entry", "why"), WHY_NOT, ids=[why for _, why in WHY_NOT])
def test_what_cannot_act_is_told_with_its_reason_and_changes_nothing(tmp_path: Path, entry: Tables, why: str) -> None:
    tables: Tables = {
        "ROUTE_MAP": {"M|10": {"route_operation": "deny", **entry}, "N|10": {**PERMIT, "match_med": "-1"}},
        "AS_PATH_SET": {"BAD": {"as_path_set_member": ["(1+)+$"]}},
        "PREFIX_SET": {"LONG": {"mode": "IPv4"}},
        "PREFIX": {"LONG|10.0.0.0/24|8..16": {}},
    }
    if any(name.startswith(("set_", "call_")) for name in entry):
        tables["ROUTE_MAP"]["M|10"]["route_operation"] = "permit"
    plan = lab_of(tmp_path, {"route_map_in": ["M"]}, tables)
    (told,) = (one for one in plan.warnings if "route_map_in M" in one)
    assert why in told and "acts in the switch and is not emulated" in told
    assert routes(plan) == routes(lab_of(tmp_path / "bare", {}, {}))
    assert not any("route-map" in line for line in lines(plan))


def test_bgpcfgd_reads_no_such_table(tmp_path: Path) -> None:
    configs = json.loads(stock())
    own = configs["leaf1"]
    own["DEVICE_METADATA"]["localhost"]["frr_mgmt_framework_config"] = "false"
    own |= DENY_FAR
    config = parse_config_db(json.dumps(own).encode(), "leaf1.json")
    assert config.policies is None and {one.what for one in config.left_out} >= {"ROUTE_MAP", "PREFIX", "PREFIX_SET"}


def test_an_export_has_the_policies(tmp_path: Path) -> None:
    tables = {
        **EVERY,
        **DENY_FAR,
        "ROUTE_MAP": {
            "M|10": {"route_operation": "deny", "match_prefix_set": "FAR", "match_med": "3"},
            "M|15": {**PERMIT, "match_next_hop_set": "FAR", "match_interface": "Ethernet4", "set_next_hop": "10.9.9.9"},
            "M|20": {**PERMIT, "match_community": "C", "match_ext_community": "E", "match_as_path": "P"},
            "M|30": {**PERMIT, "set_community_inline": ["65001:7", "additive"], "set_asn_list": "65009,65010"},
            "M|40": {**PERMIT, "set_metric_action": "METRIC_SUBTRACT_VALUE", "set_metric": "3", "call_route_map": "N"},
            "N|10": {**PERMIT, "set_ext_community_ref": "E", "set_origin": "EGP", "set_local_pref": "300"},
        },
        "BGP_GLOBALS_AF_NETWORK": {"default|ipv4_unicast|10.64.0.0/31": {"policy": "N"}},
    }
    af = {"route_map_in": ["M"], "prefix_list_out": "FAR", "weight": "3", "allow_as_in": "true"}
    plan = lab_of(tmp_path, {**af, "allow_as_count": "2", "send_community": "standard"}, tables)
    configs = json.loads(stock())
    configs["leaf1"] = json.loads(export_switch(plan.node("leaf1"), plan).text)
    again = plan_of(write_lab(tmp_path / "again", configs))
    assert again.node("leaf1").bgp == plan.node("leaf1").bgp
    assert parse_lab(tmp_path / "again")
