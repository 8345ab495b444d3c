"""Policies of routes of a config_db.json in the machine: FRR comes to the routes that were calculated, and validate
names the policy that keeps hosts from each other."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sonic_vs_labs import configs_of, write_lab
from vm import Vm, called

pytestmark = pytest.mark.vm

FAR = "10.64.1.0/31"
POLICIES = {
    "PREFIX_SET": {"FAR": {"mode": "IPv4"}},
    "PREFIX": {f"FAR|10|{FAR}|exact": {"action": "permit"}},
    "ROUTE_MAP": {
        "NO-FAR|10": {"route_operation": "deny", "match_prefix_set": "FAR"},
        "NO-FAR|20": {"route_operation": "permit"},
    },
}
MARKS = {
    "COMMUNITY_SET": {"C": {"set_type": "STANDARD", "match_action": "ANY", "community_member": ["65001:1"]}},
    "AS_PATH_SET": {"OWN": {"as_path_set_member": ["^$"]}},
    "ROUTE_MAP": {
        "MARK|10": {"route_operation": "permit", "match_as_path": "OWN", "set_community_inline": ["65001:1"]},
        "MARK|20": {"route_operation": "permit"},
        "TAKE|10": {"route_operation": "permit", "match_community": "C", "set_asn_list": "65009", "set_med": "7"},
    },
}


def validated(vm: Vm, lab: Path) -> dict[str, list[ElementTree.Element]]:
    """Validate that hosts reach one another; return the findings by their check."""
    junit = vm.directory / "findings.xml"
    called(vm.directory, "validate", str(lab), "--only", "reach", "--junit", str(junit), "--out", "validation")
    found: dict[str, list[ElementTree.Element]] = {}
    for case in ElementTree.parse(junit).iter("testcase"):
        found.setdefault(case.attrib["classname"].rpartition(".")[2], []).append(case)
    return found


def test_a_map_that_denies_the_far_host_is_named_as_the_cause(vm: Vm, tmp_path: Path) -> None:
    every = configs_of(tmp_path / "stock")
    every["leaf1"] |= POLICIES
    for fields in every["leaf1"]["BGP_NEIGHBOR_AF"].values():
        fields["route_map_in"] = ["NO-FAR"]
    found = validated(vm, write_lab(tmp_path / "lab", every))
    assert all(not [*case] for case in (*found["sessions"], *found["paths"]))
    messages = [failure.attrib["message"] for case in found["reach"] for failure in case.iter("failure")]
    assert len(messages) == 2
    assert all(f"leaf1: route-map NO-FAR, entry 10 (in, from spine1) keeps {FAR} out" in one for one in messages)


def test_a_network_that_nobody_announces_is_the_cause_and_nobody_waits_for_it(vm: Vm, tmp_path: Path) -> None:
    every = configs_of(tmp_path / "stock")
    del every["leaf2"]["BGP_GLOBALS_AF_NETWORK"][f"default|ipv4_unicast|{FAR}"]
    found = validated(vm, write_lab(tmp_path / "lab", every))
    assert all(not [*case] for case in (*found["sessions"], *found["paths"]))
    messages = [failure.attrib["message"] for case in found["reach"] for failure in case.iter("failure")]
    assert len(messages) == 2 and all(f"leaf2 does not announce {FAR}" in one for one in messages)


def test_what_a_leaf_marks_is_found_at_the_other(vm: Vm, tmp_path: Path) -> None:
    """leaf1 takes only what leaf2 has marked: not the spine's loopback. FRR and the calculation agree, or the run would
    wait in vain."""
    every = configs_of(tmp_path / "stock")
    for name, field, value in (("leaf2", "route_map_out", "MARK"), ("leaf1", "route_map_in", "TAKE")):
        every[name] |= MARKS
        for fields in every[name]["BGP_NEIGHBOR_AF"].values():
            fields[field] = [value]
    found = validated(vm, write_lab(tmp_path / "lab", every))
    assert all(not [*case] for cases in found.values() for case in cases)
    routes = json.loads((vm.directory / "validation" / "reach" / "collect" / "kernel-routes@leaf1").read_text())
    learnt = {route["dst"] for route in routes if route.get("protocol") == "bgp"}
    assert FAR in learnt and len(learnt) == 2
