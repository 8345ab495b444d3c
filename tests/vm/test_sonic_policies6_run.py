"""Policies of routes of IPv6 in the virtual machine: FRR comes to the routes that were calculated, and `sonic reach`
says what the hosts find."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sonic_policies6 import CASES, RACK6, policy_fabric
from sonic_scale import write_fabric
from vm import Vm, called

pytestmark = pytest.mark.vm
RUN = ("denied", "next hops", "an interface", "IPv4's next hop", "not preferred", "preferred", "nowhere")


@pytest.mark.parametrize("name", RUN)
def test_frr_comes_to_the_routes_that_were_calculated(vm: Vm, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    write_fabric(policy_fabric(case), tmp_path / "files")
    imported = called(tmp_path, "sonic", "import", str(tmp_path / "files"), "-o", "lab")
    assert imported.returncode == 0, imported.stderr
    called(vm.directory, "validate", str(tmp_path / "lab"), "--only", "reach", "--junit", "v.xml", "--out", "v")
    failed: dict[str, int] = {}
    for one in ElementTree.parse(vm.directory / "v.xml").iter("testcase"):
        check = one.attrib["classname"].rpartition(".")[2]
        failed[check] = failed.get(check, 0) + len([*one])
    assert failed["sessions"] == failed["paths"] == 0, "routes are others than those that were calculated"
    routes = json.loads((vm.directory / "v" / "reach" / "collect" / "kernel-routes6@leaf1").read_text())
    found = [hop["dev"] for route in routes if route["dst"] == RACK6 for hop in route.get("nexthops", [route])]
    assert tuple(found) == case.interfaces
    reached = called(tmp_path, "sonic", "reach", str(tmp_path / "files"))
    assert (reached.returncode == 0) is (failed["reach"] == 0) is bool(case.interfaces)
