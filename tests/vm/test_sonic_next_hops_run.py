"""Next hops that maps ask for and set, in the virtual machine: FRR comes to the routes that were calculated."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sonic_next_hops import CASES, FAR, lab_files
from sonic_vs_labs import write_lab
from vm import Vm, called

pytestmark = pytest.mark.vm


def learnt(vm: Vm, lab: Path, switch: str) -> dict[str, list[tuple[str, str]]]:
    """Validate who reaches whom; return the routes of BGP that a switch's kernel has, with their next hops."""
    called(vm.directory, "validate", str(lab), "--only", "reach", "--junit", "v.xml", "--out", "v")
    cases = list(ElementTree.parse(vm.directory / "v.xml").iter("testcase"))
    paths = [case for case in cases if case.attrib["classname"].endswith(".paths")]
    assert paths and not any([*case] for case in paths), "routes are others than those that were calculated"
    routes = json.loads((vm.directory / "v" / "reach" / "collect" / f"kernel-routes@{switch}").read_text())
    return {
        route["dst"]: [(hop.get("gateway") or hop["via"]["host"], hop["dev"]) for hop in route.get("nexthops", [route])]
        for route in routes
        if route.get("protocol") == "bgp"
    }


@pytest.mark.parametrize("name", ["host", "third", "asked own", "local interface", "local out"])
def test_frr_comes_to_the_next_hops_that_were_calculated(vm: Vm, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    found = learnt(vm, write_lab(tmp_path / "lab", lab_files(tmp_path, case)), case.at)
    assert found and found.get(FAR, []) == case.expected


def test_redistribution_of_one_interface_announces_its_network_alone(vm: Vm, tmp_path: Path) -> None:
    files = lab_files(tmp_path, CASES["peer in"])
    own = files["leaf2"]
    own.pop("BGP_GLOBALS_AF_NETWORK")
    own["ROUTE_REDISTRIBUTE"] = {"default|connected|bgp|ipv4": {"route_map": ["C"]}}
    own["ROUTE_MAP"] = {"C|10": {"route_operation": "permit", "match_interface": "Ethernet0"}}
    found = learnt(vm, write_lab(tmp_path / "lab", files), "leaf1")
    assert FAR in found and len(found) == 2, "the spine's loopback and the network of leaf2's host"
