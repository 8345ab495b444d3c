"""Policies of routes of IPv6: FRR's lines, the routes that they leave, and that `sonic reach` says the same (the runs
are in tests/vm/test_sonic_policies6_run.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sonic_fabrics import plan_of
from sonic_policies6 import CASES, DENY, IN, PERMIT, RACK4, RACK6, PolicyCase, policy_fabric
from sonic_scale import Tables, write_fabric
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.compile import compile_node
from fabriclab.formats.plan import Plan, PlanError, parse_plan_json, plan_json
from fabriclab.formats.plan.runnable import check_plan
from fabriclab.vendors.sonic.lab import import_fabric

RUNNER = CliRunner()


def plan_for(directory: Path, fabric: dict[str, Tables]) -> Plan:
    return plan_of(import_fabric(write_fabric(fabric, directory / "files"), "fabric"), directory / "lab")


def lines(plan: Plan, switch: str) -> list[str]:
    return compile_node(plan.node(switch), plan).root["etc/frr/bgpd.conf"].splitlines()


@pytest.mark.parametrize("name", CASES)
def test_the_calculation_of_a_lab_is_what_the_case_says(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    plan = plan_for(tmp_path, policy_fabric(case))
    routes = {route.destination: route.next_hops for route in plan.node("leaf1").routes}
    assert tuple(interface for _, interface in routes.get(RACK6, ())) == case.interfaces
    assert len(routes[RACK4]) == 1 and not any("not emulated" in one for one in plan.warnings)
    assert parse_plan_json(plan_json(plan)) == plan


@pytest.mark.parametrize("name", CASES)
def test_sonic_reach_says_the_same_and_names_the_policy(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    write_fabric(policy_fabric(case), tmp_path / "files")
    result = RUNNER.invoke(app, ["sonic", "reach", str(tmp_path / "files")])
    output = re.sub(r"\s+", " ", result.output)
    assert (result.exit_code == 0) is bool(case.interfaces) and case.told in output, output
    assert "pass reach each switch with hosts to all networks of hosts, IPv4: 2 of 2 pairs" in output
    assert ("not judged" in output) is False


def test_frr_has_the_words_of_ipv6(tmp_path: Path) -> None:
    text = lines(plan_for(tmp_path, policy_fabric(CASES["denied"])), "leaf1")
    assert f"ipv6 prefix-list SIX seq 10 permit {RACK6}" in text
    start = text.index("route-map M deny 10")
    assert text[start + 1] == " match ipv6 address prefix-list SIX"
    family = text[text.index(" address-family ipv6 unicast") :]
    assert "  neighbor 2001:db8:a00:: route-map M in" in family
    assert not any("route-map" in line for line in text[: -len(family)] if line.startswith("  "))
    text = lines(plan_for(tmp_path / "b", policy_fabric(CASES["nowhere"])), "leaf1")
    assert " set ipv6 next-hop global 2001:db8:99::1" in text and " set ipv6 next-hop prefer-global" in text


BOTH = PolicyCase("leaf1", {IN: ["M"]}, {"M|10": {**DENY, "match_prefix_set": ["SIX"]}, "M|20": PERMIT}, ())


def test_a_map_of_both_families_has_the_entries_of_each(tmp_path: Path) -> None:
    """FRR has one space of names: the map of IPv6 is called otherwise where IPv4 has one of its name."""
    fabric = policy_fabric(BOTH)
    for fields in fabric["leaf1"]["BGP_NEIGHBOR_AF"].values():
        fields[IN] = ["M"]
    plan = plan_for(tmp_path, fabric)
    text = lines(plan, "leaf1")
    assert [line for line in text if line.startswith("route-map")] == [
        *("route-map M permit 20", "route-map M/ipv6 deny 10", "route-map M/ipv6 permit 20"),
    ]
    assert "  neighbor 10.0.0.0 route-map M in" in text
    assert "  neighbor 2001:db8:a00:: route-map M/ipv6 in" in text
    known = {route.destination for route in plan.node("leaf1").routes}
    assert RACK4 in known and RACK6 not in known
    assert any(
        f"route-map M, entry 10 (in) keeps {RACK6} out: leaf1 has no route to it" in one for one in plan.warnings
    )


def test_redistributed_and_announced_networks_go_through_their_maps(tmp_path: Path) -> None:
    fabric = policy_fabric(PolicyCase("leaf2", {}, {"C|10": {**PERMIT, "match_interface": "Loopback0"}}, ()))
    fabric["leaf2"]["ROUTE_REDISTRIBUTE"]["default|connected|bgp|ipv6"] = {"route_map": ["C"]}
    known = {route.destination for route in plan_for(tmp_path, fabric).node("leaf1").routes}
    assert RACK6 not in known and "2001:db8:aff::66/128" in known and RACK4 in known
    del fabric["leaf2"]["ROUTE_REDISTRIBUTE"]["default|connected|bgp|ipv6"]
    fabric["leaf2"]["ROUTE_MAP"] = {"N|10": {**PERMIT, "set_med": "7"}}
    fabric["leaf2"]["BGP_GLOBALS_AF_NETWORK"] = {f"default|ipv6_unicast|{RACK6}": {"policy": "N"}}
    plan = plan_for(tmp_path / "b", fabric)
    assert f"  network {RACK6} route-map N" in lines(plan, "leaf2")
    assert RACK6 in {route.destination for route in plan.node("leaf1").routes}


REFUSED = {
    "a link-local next hop": ({**PERMIT, "set_ipv6_next_hop_global": "fe80::1"}, "'fe80::1' is not an IPv6 address"),
    "a next hop of IPv4": ({**PERMIT, "set_ipv6_next_hop_global": "10.0.0.1"}, "'10.0.0.1' is not an IPv6 address"),
    "a peer": ({**PERMIT, "match_neighbor": ["no peer"]}, "2 values, and FRR takes one"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_act_is_told_with_its_reason(tmp_path: Path, name: str) -> None:
    entry, why = REFUSED[name]
    write_fabric(policy_fabric(PolicyCase("leaf1", {IN: ["M"]}, {"M|10": entry}, ())), tmp_path / "files")
    result = RUNNER.invoke(app, ["sonic", "reach", str(tmp_path / "files")])
    output = re.sub(r"\s+", " ", result.output)
    assert result.exit_code == 1 and why in output and "not judged" in output
    assert "BGP_NEIGHBOR_AF|default|2001:db8:a00::|ipv6_unicast|route_map_in" in output


def test_a_plan_has_no_rule_of_the_other_family(tmp_path: Path) -> None:
    text = plan_json(plan_for(tmp_path, policy_fabric(CASES["a list"])))
    check_plan(text)
    rule = f'"prefix": "{RACK6}"'
    assert text.count(rule) == 1
    with pytest.raises(PlanError, match="is no rule for prefixes of IPv6"):
        check_plan(text.replace(rule, f'"prefix": "{RACK4}"'))


def test_check_tells_a_field_that_no_daemon_gets(tmp_path: Path) -> None:
    fabric = policy_fabric(PolicyCase("leaf1", {IN: ["M"]}, {"M|10": {**DENY, "match_ipv6_prefix_set": "SIX"}}, ()))
    write_fabric(fabric, tmp_path / "files")
    output = re.sub(r"\s+", " ", RUNNER.invoke(app, ["sonic", "check", str(tmp_path / "files")]).output)
    assert "policy-unseen ROUTE_MAP|M|10|match_ipv6_prefix_set" in output
    assert "write match_prefix_set with a PREFIX_SET of mode IPv6" in output
