"""Maps that ask for the next hop or its interface, or set another one: what bgpd makes of them, and how the result of a
lab and that of `sonic reach` agree (the runs are in tests/vm/test_sonic_next_hops_run.py)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sonic_next_hops import CASES, FAR, IN, SWITCHES, NextHopCase, lab_files
from sonic_vs_labs import plan_of, write_lab
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.formats.plan import Plan
from fabriclab.vendors.sonic.read.read import parse_config_db

RUNNER = CliRunner()
PERMIT = {"route_operation": "permit"}


def lab_of(directory: Path, case: NextHopCase) -> Plan:
    return plan_of(write_lab(directory / "lab", lab_files(directory, case)))


def hops(plan: Plan, switch: str, prefix: str = FAR) -> list[tuple[str, str]]:
    return [hop for route in plan.node(switch).routes if route.destination == prefix for hop in route.next_hops]


@pytest.mark.parametrize("name", CASES)
def test_the_calculation_of_a_lab_is_what_the_case_says(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    plan = lab_of(tmp_path, case)
    assert hops(plan, case.at) == case.expected
    assert not any("not emulated" in one for one in plan.warnings)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.arrives])
def test_sonic_reach_names_the_policy_or_the_next_hop(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    files = lab_files(tmp_path, case)
    paths = []
    for switch in SWITCHES:
        paths.append(str(tmp_path / f"{switch}.json"))
        Path(paths[-1]).write_text(json.dumps(files[switch], indent=1))
    cables = tmp_path / "cables.csv"
    cables.write_text(
        "device_a,port_a,device_b,port_b\nleaf1,Ethernet4,spine1,Ethernet0\nleaf2,Ethernet4,spine1,Ethernet4\n"
    )
    result = RUNNER.invoke(app, ["sonic", "reach", *paths, "--cables", str(cables)])
    output = re.sub(r"\s+", " ", result.output)
    assert result.exit_code == 1, output
    assert FAR in output and case.told in output


def switch_with(maps: dict[str, Any], **more: Any) -> bytes:
    tables = {
        "DEVICE_METADATA": {"localhost": {"hostname": "a", "frr_mgmt_framework_config": "true"}},
        "PORT": {f"Ethernet{4 * number}": {"speed": "1000", "lanes": str(number + 1)} for number in range(3)},
        "VLAN": {"Vlan100": {"vlanid": "100"}},
        "VLAN_INTERFACE": {"Vlan100": {}, "Vlan100|10.1.0.1/24": {}},
        "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}},
        "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.255.0.1/32": {}},
        "BGP_GLOBALS": {"default": {"local_asn": "65001"}},
        "BGP_NEIGHBOR": {"default|10.0.0.1": {"asn": "65002"}},
        "BGP_NEIGHBOR_AF": {"default|10.0.0.1|ipv4_unicast": {"admin_status": "true"}},
        "ROUTE_MAP": maps,
        **more,
    }
    return json.dumps(tables).encode()


CONNECTED = {"ROUTE_REDISTRIBUTE": {"default|connected|bgp|ipv4": {"route_map": ["C"]}}}
STATIC = {"ROUTE_REDISTRIBUTE": {"default|static|bgp|ipv4": {"route_map": ["C"]}}}


def test_redistribution_by_interface_has_a_map_for_each() -> None:
    """`network` does not tell FRR an interface; redistribution does (FRR, bgpd/bgp_route.c: bgp_redistribute_add)."""
    maps = {"C|10": {**PERMIT, "match_interface": "Loopback0"}, "C|20": {**PERMIT, "match_interface": "Vlan100"}}
    config = parse_config_db(switch_with({**maps, "C|30": {"route_operation": "deny"}}, **CONNECTED), "a.json")
    every = config.redistribution_maps
    assert every == {"connected": "C", "connected Loopback0": "C/Loopback0", "connected Vlan100": "C/Vlan100"}
    assert config.policies is not None and not config.not_emulated
    asked = {one.name: [entry.matches.interface for entry in one.entries] for one in config.policies.route_maps}
    assert asked["C"] == ["Loopback0", "Vlan100", None]
    assert asked["C/Vlan100"] == ["Loopback0", None, None]


def test_a_called_map_is_asked_about_the_interface_too() -> None:
    maps = {"C|10": {**PERMIT, "call_route_map": "N"}, "N|10": {**PERMIT, "match_interface": "Vlan100"}}
    config = parse_config_db(switch_with(maps, **CONNECTED), "a.json")
    assert config.policies is not None
    (own,) = (one for one in config.policies.route_maps if one.name == "C/Vlan100")
    assert [entry.calls for entry in own.entries] == ["N/Vlan100"]


@pytest.mark.parametrize(
    ("matched", "more", "bound", "why"),
    [
        ({"match_interface": "Ethernet0"}, STATIC, "route_map", "the interface of a redistributed route"),
        ({"match_next_hop_set": "L"}, STATIC, "route_map", "the next hop of a redistributed static route"),
        ({"match_interface": "Ethernet0"}, CONNECTED, "route_map_out", "the interface of a redistributed route"),
        ({"match_next_hop_set": "L"}, STATIC, "route_map_out", "the next hop of a redistributed static route"),
        (
            {"match_tag": ["7"]},
            {"STATIC_ROUTE": {"default|10.9.0.0/24": {"nexthop": "10.0.0.1", "tag": "7"}}},
            "route_map_out",
            "a lab's maps do not look at tags",
        ),
    ],
)
def test_what_redistribution_would_tell_frr_is_told_with_its_place(
    matched: dict[str, Any], more: dict[str, Any], bound: str, why: str
) -> None:
    lists = {"PREFIX_SET": {"L": {"mode": "IPv4"}}, "PREFIX": {"L|10|10.0.0.0/8|8..32": {}}}
    maps = {"M|10": {**PERMIT, **matched}, "C|10": {**PERMIT, **(matched if bound == "route_map" else {})}}
    af = {"default|10.0.0.1|ipv4_unicast": {"admin_status": "true", "route_map_out": ["M"]}}
    tables = {**lists, **more, **({"BGP_NEIGHBOR_AF": af} if bound == "route_map_out" else {})}
    config = parse_config_db(switch_with(maps, **tables), "a.json")
    (told,) = (one for one in config.not_emulated if one.path[-1] == bound)
    assert why in told.why and f"ROUTE_MAP|{'C' if bound == 'route_map' else 'M'}|10" in told.why


def test_what_redistribution_does_not_tell_is_judged_without_it(tmp_path: Path) -> None:
    """A map of what comes in is asked of routes of neighbours alone."""
    af = {"default|10.0.0.1|ipv4_unicast": {"admin_status": "true", "route_map_in": ["M"]}}
    maps = {"M|10": {**PERMIT, "match_interface": "Ethernet0"}, "C|10": PERMIT}
    config = parse_config_db(switch_with(maps, **CONNECTED, BGP_NEIGHBOR_AF=af), "a.json")
    assert not config.not_emulated


@pytest.mark.parametrize("field", ["match_prefix_set", "match_next_hop_set"])
def test_a_set_of_ipv6_fits_no_route(field: str) -> None:
    """frrcfgd: match_prefix_set|ipv6; `match ip next-hop prefix-list` of a list of IPv6 finds none."""
    lists = {"PREFIX_SET": {"SIX": {"mode": "IPv6"}}, "PREFIX": {"SIX|10|2001:db8::/32|32..128": {}}}
    af = {"default|10.0.0.1|ipv4_unicast": {"admin_status": "true", IN: ["M"]}}
    maps = {"M|10": {"route_operation": "deny", field: "SIX"}, "M|20": PERMIT}
    config = parse_config_db(switch_with(maps, **lists, BGP_NEIGHBOR_AF=af), "a.json")
    assert config.policies is not None and not config.not_emulated
    assert [entry.sequence for entry in config.policies.route_maps[0].entries] == [20]
