"""A fabric imported from its config_db.json, in the machine: sessions come up, every host reaches every other."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from sonic_ipv6 import Style, dual_fabric, ipv6_fabric
from sonic_pods import t0_pair
from sonic_scale import write_fabric
from vm import Vm, called

from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

pytestmark = pytest.mark.vm

FILES = sorted((Path(__file__).parents[2] / "labs" / "sonic-leaf-spine").glob("*.json"))
LEAVES = [file for file in FILES if file.name.startswith("leaf")]
ROUNDS = 10


def imported(files: list[Path], directory: Path) -> Path:
    result = called(directory, "sonic", "import", *map(str, files), "-o", "lab")
    assert result.returncode == 0, result.stderr
    return directory / "lab"


def findings(vm: Vm, lab: Path) -> dict[str, list[str]]:
    """Validate that hosts reach one another; return the names of the findings by their check. All must pass."""
    junit = vm.directory / "findings.xml"
    result = called(vm.directory, "validate", str(lab), "--only", "reach", "--junit", str(junit), "--out", "validation")
    assert result.returncode == 0, result.stdout + result.stderr
    found: dict[str, list[str]] = {}
    for case in ElementTree.parse(junit).iter("testcase"):
        assert not [*case], ElementTree.tostring(case)
        found.setdefault(case.attrib["classname"].rpartition(".")[2], []).append(case.attrib["name"])
    return found


def test_the_imported_lab_runs_at_once(vm: Vm, tmp_path: Path) -> None:
    lab = imported(FILES, tmp_path)
    assert vm.run(resolve_plan(parse_lab(lab), {})).status == "complete"
    flows = vm.flows()
    assert len(flows) == 7 * ROUNDS and {flow["dst"] for flow in flows} == {"h1"}
    assert vm.summary()["flows_incomplete"] == 0


def test_the_imported_lab_is_valid(vm: Vm, tmp_path: Path) -> None:
    found = findings(vm, imported(FILES, tmp_path))
    assert {"sessions", "paths", "balance", "reach", "mtu"} <= found.keys()
    assert "56 ordered pairs of hosts" in found["reach"][0]


def test_a_fabric_of_ipv6_alone_is_valid_over_ipv6(vm: Vm, tmp_path: Path) -> None:
    lab = imported(write_fabric(ipv6_fabric(2, 2, "frrcfgd"), tmp_path / "files"), tmp_path)
    found = findings(vm, lab)
    assert {"sessions", "paths", "balance", "reach", "mtu"} <= found.keys()
    assert "12 ordered pairs of hosts" in found["reach"][0]
    assert vm.run(resolve_plan(parse_lab(lab), {})).status == "complete"
    assert {flow["ip"] for flow in vm.flows()} == {6}


@pytest.mark.parametrize("style", ["bgpcfgd", "frrcfgd"])
def test_a_fabric_of_both_families_is_valid_over_both(vm: Vm, tmp_path: Path, style: Style) -> None:
    """And `sonic reach` says the same of the same files: all pairs, two next hops."""
    files = write_fabric(dual_fabric(2, 2, style), tmp_path / "files")
    found = findings(vm, imported(files, tmp_path))
    assert len([name for name in found["reach"] if "12 ordered pairs of hosts" in name]) == 2
    assert len([name for name in found["sessions"] if name.startswith("leaf1")]) == 2
    reached = called(tmp_path, "sonic", "reach", str(tmp_path / "files"))
    assert reached.returncode == 0 and "IPv6: 2 of 2 pairs" in reached.stdout


def test_spines_without_files_are_made_up(vm: Vm, tmp_path: Path) -> None:
    """Four files of leaves: the two spines, which share an AS number, are FRR switches."""
    found = findings(vm, imported(LEAVES, tmp_path))
    assert "56 ordered pairs of hosts" in found["reach"][0]


def test_vlans_and_port_channels(vm: Vm, tmp_path: Path) -> None:
    """Two T0s with a VLAN each, and port channels to two T1s whose files an export writes: four SONiC switches."""
    lab = imported(t0_pair(tmp_path), tmp_path)
    result = called(tmp_path, "sonic", "export", str(lab), "-o", "files")
    assert result.returncode == 0, result.stderr
    (tmp_path / "again").mkdir()
    found = findings(vm, imported(sorted((tmp_path / "files").glob("*/config_db.json")), tmp_path / "again"))
    assert "56 ordered pairs of hosts" in found["reach"][0] and len(found["sessions"]) == 4
