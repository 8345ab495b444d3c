"""`fabriclab sonic reach`: who reaches what by the configurations alone, and what somebody wants of it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT
from sonic_fabrics import plan_of
from sonic_scale import Tables, leaf_spine, write_fabric
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.vendors.sonic.fabric.routing import FabricRouting
from fabriclab.vendors.sonic.fabric.view import read_view
from fabriclab.vendors.sonic.lab import import_fabric

RUNNER = CliRunner()
LAB = ROOT / "labs" / "sonic-leaf-spine"
Fabric = dict[str, Tables]
Change = Callable[[Fabric], Any]
TO_LEAF2 = "10.100.1.0/24"


def asked(directory: Path, *arguments: str, change: Change | None = None) -> tuple[int, str]:
    fabric = leaf_spine(2, 3)
    if change is not None:
        change(fabric)
    write_fabric(fabric, directory / "files")
    result = RUNNER.invoke(app, ["sonic", "reach", str(directory / "files"), *arguments])
    return result.exit_code, re.sub(r"\s+", " ", result.output)


def static(name: str, prefix: str, **fields: str) -> Change:
    return lambda fabric: fabric[name].setdefault("STATIC_ROUTE", {}).update({prefix: fields})


def no_session(fabric: Fabric) -> None:
    del fabric["spine1"]["BGP_NEIGHBOR"]["10.0.0.1"], fabric["leaf1"]["BGP_NEIGHBOR"]["10.0.0.0"]


def loop(fabric: Fabric) -> None:
    static("leaf1", "10.100.1.128/25", nexthop="10.0.0.0")(fabric)
    static("spine1", "10.100.1.128/25", nexthop="10.0.0.1")(fabric)


def denied(fabric: Fabric) -> None:
    """leaf2 tells nobody of its hosts, by a map of frrcfgd."""
    leaf = fabric["leaf2"]
    leaf["DEVICE_METADATA"]["localhost"] |= {"frr_mgmt_framework_config": "true"}
    asn = leaf["DEVICE_METADATA"]["localhost"].pop("bgp_asn")
    leaf["BGP_GLOBALS"] = {"default": {"local_asn": asn, "router_id": "10.255.0.102"}}
    leaf["BGP_GLOBALS_AF_NETWORK"] = {f"default|ipv4_unicast|{TO_LEAF2}": {}}
    sessions = {key: {"asn": "65000"} for key in leaf["BGP_NEIGHBOR"]}
    leaf["BGP_NEIGHBOR"] = {f"default|{key}": fields for key, fields in sessions.items()}
    mapped = {"admin_status": "up", "route_map_out": ["NONE"]}
    leaf["BGP_NEIGHBOR_AF"] = {f"default|{key}|ipv4_unicast": mapped for key in sessions}
    leaf["ROUTE_MAP_SET"], leaf["ROUTE_MAP"] = {"NONE": {}}, {"NONE|10": {"route_operation": "deny"}}


def wrong_as(fabric: Fabric) -> None:
    fabric["leaf1"]["BGP_NEIGHBOR"]["10.0.0.0"]["asn"] = "65099"


def unannounced(fabric: Fabric) -> None:
    leaf = fabric["leaf2"]
    leaf["INTERFACE"] |= {"Ethernet0": {}, "Ethernet0|10.101.0.0/24": {}}
    del leaf["VLAN"], leaf["VLAN_MEMBER"], leaf["VLAN_INTERFACE"]


CASES: dict[str, tuple[Change | None, int, str]] = {
    "sound": (None, 0, "pass reach each switch with hosts to all networks of hosts: 6 of 6 pairs"),
    "one session less": (no_session, 0, "4 1 next hop, 1 path of 2 links"),
    "an AS number": (wrong_as, 0, "4 1 next hop, 1 path of 2 links"),
    "a map": (denied, 1, "(leaf2:Vlan1000): packets end there: no route; leaf2: route-map NONE"),
    "not announced": (unannounced, 1, "leaf2 does not announce 10.101.0.0/24"),
    "a blackhole": (
        static("spine1", "10.100.1.0/25", blackhole="true"),
        1,
        "leaf1, leaf3 to 10.100.1.0/24 (leaf2:Vlan1000): of its paths 1 arrive, but others end at spine1",
    ),
    "a loop": (loop, 1, "packets end there (its part 10.100.1.128/25): packets come back: a loop"),
    "a tunnel": (
        lambda fabric: fabric["leaf1"].update({"VXLAN_TUNNEL_MAP": {"vtep|map_1": {"vni": "1", "vlan": "Vlan1000"}}}),
        1,
        "not judged reach",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_who_reaches_what(name: str, tmp_path: Path) -> None:
    change, status, said = CASES[name]
    assert asked(tmp_path, change=change)[0] == status
    assert said in asked(tmp_path, change=change)[1]


def test_what_is_not_judged_may_be_accepted(tmp_path: Path) -> None:
    status, output = asked(tmp_path, "--accept-not-judged", change=CASES["a tunnel"][0])
    assert status == 0 and "VXLAN_TUNNEL_MAP|vtep|map_1" in output


def test_the_routes_are_those_of_the_plan(tmp_path: Path) -> None:
    """The plan's follow from the topology, and these from what the files say; of a sound fabric they are equal."""
    files = sorted(LAB.glob("*.json"))
    tables = FabricRouting(read_view(files, ())).tables
    for node in plan_of(import_fabric(files, "fabric"), tmp_path).nodes:
        if node.role == "switch":
            own = {str(prefix): {hop.interface for hop in hops} for prefix, hops in tables[node.name].items()}
            assert own == {one.destination: {interface for _, interface in one.next_hops} for one in node.routes}


def only_ipv6(fabric: Fabric) -> None:
    for name, number in (("leaf1", 1), ("leaf2", 2), ("leaf3", 3)):
        fabric[name]["VLAN_INTERFACE"] = {"Vlan1000": {}, f"Vlan1000|fd00:{number}::1/64": {}}


def test_networks_of_ipv6_alone_are_asked_for(tmp_path: Path) -> None:
    """No session carries their routes: nobody reaches them."""
    status, output = asked(tmp_path, change=only_ipv6)
    assert status == 1 and "fail reach each switch with hosts to all networks of hosts: 0 of 6 pairs" in output
    assert "leaf1, leaf2 to fd00:3::/64 (leaf3:Vlan1000): packets end there: no route" in output


def both(fabric: Fabric) -> None:
    for name, number in (("leaf1", 1), ("leaf2", 2), ("leaf3", 3)):
        fabric[name]["VLAN_INTERFACE"][f"Vlan1000|fd00:{number}::1/64"] = {}


def test_networks_of_ipv6_that_nobody_routes_are_told(tmp_path: Path) -> None:
    status, output = asked(tmp_path, change=both)
    assert status == 0 and "3 networks of hosts with IPv6 not asked for: no session carries routes of IPv6" in output
    checked = RUNNER.invoke(app, ["sonic", "check", str(tmp_path / "files")])
    said = "routes of IPv6 were not judged (3 networks of hosts, no session carries them)"
    assert said in checked.output and checked.exit_code == 0


def test_a_plan_has_no_routes_over_a_link_without_a_session(tmp_path: Path) -> None:
    """A run waits for the plan's routes, and FRR has none of these."""
    fabric = leaf_spine(2, 3)
    no_session(fabric)
    files = write_fabric(fabric, tmp_path / "files")
    tables = FabricRouting(read_view(files, ())).tables
    nodes = {node.name: node for node in plan_of(import_fabric(files, "fabric"), tmp_path / "lab").nodes}
    for name in ("leaf1", "leaf2", "spine1"):
        own = {str(prefix): {hop.interface for hop in hops} for prefix, hops in tables[name].items()}
        assert own == {one.destination: {interface for _, interface in one.next_hops} for one in nodes[name].routes}
    assert {interface for one in nodes["leaf1"].routes for _, interface in one.next_hops} == {"Ethernet12"}


WANTED = {
    "reach: [{from: leaf*, to: hosts}, {from: 'spine1', to: 10.100.0.0/16}]": (0, "to 10.100.0.0/16: 3 of 3"),
    "reach: [{from: leaf1, to: loopbacks}]": (0, "pass reach leaf1 to loopbacks: 4 of 4"),
    "reach: [{from: spine1, to: loopbacks}]": (1, "spine1 to 10.255.0.2/32 (spine2:Loopback0): packets end"),
    "unreachable: [{from: leaf1, to: 10.100.1.0/24}]": (1, "leaf1 to 10.100.1.0/24 (leaf2:Vlan1000): 2 paths arrive"),
    "unreachable: [{from: spine1, to: 10.255.0.2/32}]": (0, "pass unreachable spine1 not to 10.255.0.2/32: 1 of 1"),
    "waypoints: [{from: leaf*, to: hosts, through: spine*}]": (0, "6 of 6 pairs"),
    "waypoints: [{from: leaf*, to: hosts, through: spine1}]": (1, "leaf1 - spine2 - leaf2 passes none of spine1"),
    "widths: [{from: leaf*, to: hosts, next_hops: 2, paths: 2}]": (0, "over at least 2 next hops and 2 paths: 6 of 6"),
    "widths: [{from: leaf1, to: 10.100.1.7, next_hops: 3}]": (1, "10.100.1.7/32 (leaf2:Vlan1000): 2 next hops, not 3"),
    "reach: [{from: leaf1, to: 10.100.0.0/24}]": (1, "no pair is meant: nothing was judged"),
    "reach: [{from: leaf9, to: hosts}]": (2, "wanted.yml:1: reach[0].from: 'leaf9' is no switch; did you mean 'leaf"),
    "reach: [{from: leaf1, to: 10.9.0.0/16}]": (2, "'10.9.0.0/16' has no network of the fabric in it"),
    "reach: [{from: leaf1, to: anything}]": (2, "'anything' is not hosts, loopbacks or a prefix"),
    "waypoints: [{from: leaf1, to: hosts}]": (2, "waypoints[0].through: missing"),
    "widths: [{from: leaf1, to: hosts, paths: 0}]": (2, "must be a whole number from 1 to"),
    "widths: [{from: leaf1, to: hosts}]": (2, "widths[0].next_hops: missing; write next_hops: 4"),
    "reaches: []": (2, "unknown key; did you mean 'reach'?"),
    "reach: []": (2, "wants nothing; write one of reach"),
    "[": (2, "wanted.yml"),
}  # fmt: skip


@pytest.mark.parametrize("text", WANTED)
def test_demands(text: str, tmp_path: Path) -> None:
    status, said = WANTED[text]
    (tmp_path / "wanted.yml").write_text(text)
    assert asked(tmp_path, "--wanted", str(tmp_path / "wanted.yml"))[0] == status
    assert said in asked(tmp_path, "--wanted", str(tmp_path / "wanted.yml"))[1]


def test_ways_to_an_address_step_by_step(tmp_path: Path) -> None:
    status, output = asked(tmp_path, "--from", "leaf1", "--to", "10.100.1.7", "--without", "spine1:Ethernet4")
    assert status == 0
    assert output == (
        "to 10.100.1.7/32 (leaf2:Vlan1000) leaf1: 1 next hop, spine2 (Ethernet12) spine2: 1 next hop, leaf2 "
        "(Ethernet4) leaf2: arrives "
    )
    status, output = asked(tmp_path, "--to", "10.100.1.0/24", "--without", "spine1", "--without", "spine2")
    assert status == 1 and "leaf1: no route" in output


def test_without_a_switch_its_own_hosts_are_not_asked_for(tmp_path: Path) -> None:
    assert asked(tmp_path, "--without", "leaf2") == (0, asked(tmp_path, "--without", "leaf2")[1])
    assert "2 of 2 pairs" in asked(tmp_path, "--without", "leaf2")[1]
    assert asked(tmp_path, "--without", "spine1", "--without", "spine2")[0] == 1


def test_json_and_junit_have_all(tmp_path: Path) -> None:
    junit = tmp_path / "reach.xml"
    write_fabric(leaf_spine(2, 3), tmp_path / "files")
    command = ["sonic", "reach", str(tmp_path / "files"), "--format", "json", "--junit", str(junit)]
    document = json.loads(RUNNER.invoke(app, command).output)
    assert (document["sessions"], document["wanted"][0]["verdict"], document["not_judged"]) == (6, "pass", [])
    (way,) = (one for one in document["ways"] if (one["from"], one["to"]) == ("leaf1", TO_LEAF2))
    assert way == {
        **{"from": "leaf1", "to": TO_LEAF2, "owner": "leaf2"},
        **{"next_hops": 2, "paths": 2, "links": [2, 2], "lost": None},
    }
    (suite,) = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


MISTAKES = {
    ("--without", "spine9"): "--without 'spine9': no such switch; did you mean 'spine",
    (
        "--without",
        "spine1:Ethernet99",
    ): "no link of the fabric is there; spine1 has links at Ethernet0",
    ("--from", "leaf9"): "--from 'leaf9': no such switch",
    ("--to", "here"): "--to 'here': is not an address or prefix",
    ("--to", "9.9.9.9"): "no switch of the fabric has a network there",
    ("--wanted", "/nowhere.yml"): "/nowhere.yml: no such file",
}


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_bad_input(words: tuple[str, str], tmp_path: Path) -> None:
    status, output = asked(tmp_path, *words)
    assert status == 2 and MISTAKES[words] in output
