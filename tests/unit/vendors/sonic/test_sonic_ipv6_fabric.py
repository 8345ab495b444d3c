"""Fabrics whose files have no IPv4 at interfaces: the lab has IPv6 alone, in either style of configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sonic_fabrics import plan_of
from sonic_ipv6 import Style, ipv6_fabric
from sonic_scale import Tables, write_fabric

from fabriclab.compile import compile_node
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.lab import import_fabric
from fabriclab.vendors.sonic.read.read import parse_config_db

RACK = "2001:db8:a64:1::/64"
"""Of leaf2's VLAN."""


def imported(directory: Path, fabric: dict[str, Tables]) -> tuple[Plan, tuple[str, ...]]:
    found = import_fabric(write_fabric(fabric, directory / "files"), "fabric")
    return plan_of(found, directory / "lab"), found.notes


@pytest.mark.parametrize("style", ["bgpcfgd", "frrcfgd"])
def test_a_fabric_of_ipv6_alone_is_a_lab_of_ipv6(tmp_path: Path, style: Style) -> None:
    plan, notes = imported(tmp_path, ipv6_fabric(2, 2, style))
    assert plan.families == (6,) and plan.warnings == ()
    leaf = plan.node("leaf2")
    assert [(vlan.address, vlan.ipv6) for vlan in leaf.vlans] == [(None, "2001:db8:a64:1::1/64")]
    assert leaf.loopback6 == "2001:db8:aff::66"
    assert {port.ipv6 for port in plan.node("spine1").ports} == {"2001:db8:a00::/127", "2001:db8:a00::2/127"}
    hops = {route.destination: len(route.next_hops) for route in plan.node("leaf1").routes}
    assert hops[RACK] == 2 and all(":" in one for one in hops)
    assert not any("routes of IPv4" in note for note in notes)


def test_frr_announces_the_networks_of_the_file_over_link_local_sessions(tmp_path: Path) -> None:
    plan, _ = imported(tmp_path, ipv6_fabric(1, 2, "frrcfgd"))
    text = compile_node(plan.node("leaf2"), plan).root["etc/frr/bgpd.conf"].splitlines()
    family = text[text.index(" address-family ipv6 unicast") : text.index(" exit-address-family")]
    assert {f"  network {RACK}", "  network 2001:db8:a00::2/127", "  neighbor Ethernet8 activate"} <= set(family)
    assert " neighbor Ethernet8 interface v6only remote-as 65000" in text
    assert not any("ipv4 unicast" in line for line in text if "default" not in line)
    assert parse_plan_json(plan_json(plan)) == plan


def test_a_network_that_is_not_announced_is_in_no_route(tmp_path: Path) -> None:
    fabric = ipv6_fabric(1, 2, "frrcfgd")
    del fabric["leaf2"]["ROUTE_REDISTRIBUTE"]
    fabric["leaf2"]["BGP_GLOBALS_AF_NETWORK"] = {"default|ipv6_unicast|2001:db8:aff::66/128": {}}
    plan, _ = imported(tmp_path, fabric)
    known = {route.destination for route in plan.node("leaf1").routes}
    assert RACK not in known and "2001:db8:aff::66/128" in known
    assert any("can't reach each other" in one for one in plan.warnings)


def test_one_address_of_ipv4_makes_it_a_lab_of_both(tmp_path: Path) -> None:
    """Sessions over IPv6 alone carry the routes of both, as an import has always had it."""
    fabric = ipv6_fabric(1, 2)
    fabric["leaf1"]["VLAN_INTERFACE"]["Vlan1000|10.9.0.1/24"] = {}
    plan, notes = imported(tmp_path, fabric)
    assert plan.families == (4, 6)
    assert not any("left out" in note for note in notes)
    assert any("link-local addresses in the lab, and carry the routes of IPv4, too" in note for note in notes)
    assert {"10.9.0.0/24", "2001:db8:a64::/64"} <= {route.destination for route in plan.node("leaf2").routes}
    (said,) = (one for one in plan.warnings if "without an address of IPv4" in one)
    assert "leaf2.json:" in said


def test_the_key_of_the_experiment_chooses_ipv4_still(tmp_path: Path) -> None:
    imported(tmp_path, ipv6_fabric(1, 2))
    experiment = tmp_path / "lab" / "experiment.yml"
    text = experiment.read_text(encoding="utf-8")
    experiment.write_text(text + "addresses: ipv4\n", encoding="utf-8")
    assert resolve_plan(parse_lab(tmp_path / "lab"), {}).families == (4,)


def test_a_static_route_of_ipv4_is_left_out_with_its_line(tmp_path: Path) -> None:
    fabric = ipv6_fabric(1, 2)
    fabric["leaf1"]["STATIC_ROUTE"] = {"default|10.9.0.0/24": {"nexthop": "10.0.0.1"}}
    plan, _ = imported(tmp_path, fabric)
    assert any("left out, because the lab has addresses of IPv6 alone" in one for one in plan.warnings)


def test_routes_of_ipv6_that_are_not_exchanged_are_told() -> None:
    tables: dict[str, Any] = ipv6_fabric(1, 2, "frrcfgd")["leaf1"]
    for fields in tables["BGP_NEIGHBOR_AF"].values():
        fields["admin_status"] = "false"
    told = parse_config_db(json.dumps(tables).encode(), "leaf1.json").not_emulated
    assert [one.path[-1] for one in told] == ["admin_status"]
    tables["VLAN_INTERFACE"]["Vlan1000|10.9.0.1/24"] = {}
    assert parse_config_db(json.dumps(tables).encode(), "leaf1.json").not_emulated == ()


def test_a_wrong_network_of_ipv6_is_an_error_with_its_line(tmp_path: Path) -> None:
    fabric = ipv6_fabric(1, 2, "frrcfgd")
    fabric["leaf2"]["BGP_GLOBALS_AF_NETWORK"] = {"default|ipv6_unicast|2001:db8::1/64": {}}
    with pytest.raises(LabError, match="is not a network; write one such as 2001:db8::/64"):
        imported(tmp_path, fabric)
