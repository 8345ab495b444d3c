"""ACLs of a config_db.json in the machine: they drop what they say and nothing else, and validate names the rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from sonic_vs_labs import configs_of, write_lab
from vm import Vm, called

pytestmark = pytest.mark.vm


def failures(vm: Vm, scratch: Path, stage: str, ports: list[str], rule: dict[str, Any]) -> dict[str, list[str]]:
    """Validate that hosts reach one another where leaf1 has a rule; return the failures by their check."""
    configs = configs_of(scratch / "stock")
    configs["leaf1"] |= {
        "ACL_TABLE": {"A": {"type": "L3", "stage": stage, "ports": ports}},
        "ACL_RULE": {"A|R": {"PRIORITY": "9", "PACKET_ACTION": "DROP", **rule}},
    }
    lab, junit = write_lab(scratch / "lab", configs), vm.directory / "findings.xml"
    called(
        vm.directory, "validate", str(lab), "--only", "reach", "--junit", str(junit), "--out", "validation", "--force"
    )
    found: dict[str, list[str]] = {}
    for case in ElementTree.parse(junit).iter("testcase"):
        for failure in case.iter("failure"):
            found.setdefault(case.attrib["classname"].rpartition(".")[2], []).append(failure.attrib["message"])
    return found


@pytest.mark.parametrize(
    ("stage", "ports", "rule"),
    [
        ("ingress", ["Ethernet0"], {"DST_IP": "10.64.1.0/31", "IP_PROTOCOL": "6"}),
        ("egress", ["Ethernet4"], {}),
        ("egress", ["Ethernet4"], {"DSCP": "0", "SRC_IP": "10.64.0.0/31"}),
    ],
)
def test_hosts_that_a_rule_keeps_apart_fail_and_it_is_named(
    vm: Vm, tmp_path: Path, stage: str, ports: list[str], rule: dict[str, Any]
) -> None:
    found = failures(vm, tmp_path, stage, ports, rule)
    # What leaf1 sends itself passes: its sessions are up, its routes as they should be.
    assert set(found) == {"reach", "mtu"} and len(found["reach"]) == 2
    assert all(f"leaf1: ACL_TABLE A ({stage}), rule R dropped" in one for one in found["reach"])


@pytest.mark.parametrize("rule", [{"IP_PROTOCOL": "17"}, {"DSCP": "63"}, {"SRC_IP": "192.0.2.0/24"}])
def test_what_no_packet_matches_changes_nothing(vm: Vm, tmp_path: Path, rule: dict[str, Any]) -> None:
    assert failures(vm, tmp_path, "ingress", ["Ethernet0"], rule) == {}
