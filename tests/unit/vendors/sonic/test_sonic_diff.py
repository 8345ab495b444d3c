"""`fabriclab sonic diff OLD NEW` of fabrics: what differs, the routes, the files for pipelines, and the exit status."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from repository import ROOT
from sonic_traps import patched
from typer.testing import CliRunner, Result

from fabriclab.cli.app import app

LAB = ROOT / "labs" / "sonic-leaf-spine"
DENY = {
    "PREFIX_SET": {"H3": {"mode": "IPv4"}},
    "PREFIX": {"H3|10|10.64.1.0/31|exact": {"action": "permit"}},
    "ROUTE_MAP": {
        "NO|10": {"route_operation": "deny", "match_prefix_set": "H3"},
        "NO|20": {"route_operation": "permit"},
    },
    "BGP_NEIGHBOR_AF": {f"default|10.0.0.{last}|ipv4_unicast": {"route_map_in": ["NO"]} for last in (0, 2)},
}
WRONG_AS = {"BGP_NEIGHBOR": {"default|10.0.0.0": {"asn": "64999"}}}
SLOWER = {"PORT": {"Ethernet0": {"mtu": "9000"}}}


def compared(directory: Path, changes: dict[str, Any], *options: str, without: str = "") -> Result:
    """Compare the lab's files with those that differ so in leaf1, and that lack a switch."""
    old, new = directory / "old", directory / "new"
    for one in (old, new):
        one.mkdir()
        for file in LAB.glob("*.json"):
            shutil.copy(file, one)
    leaf = new / "leaf1.json"
    leaf.write_text(json.dumps(patched(json.loads(leaf.read_text()), changes), indent=2))
    if without:
        (new / f"{without}.json").unlink()
    return CliRunner().invoke(app, ["sonic", "diff", str(old), str(new), *options])


def test_two_versions_alike_have_no_difference(tmp_path: Path) -> None:
    done = compared(tmp_path, {}, "--fail-on", "change")
    assert done.exit_code == 0, done.output
    assert done.stdout == "6 switches in both versions, 0 of them differ\n\nroutes: 0 changes\n"


def test_a_policy_and_the_route_that_it_takes_are_told(tmp_path: Path) -> None:
    done = compared(tmp_path, DENY, "--format", "json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["routes"] == [
        {"switch": "leaf1", "prefix": "10.64.1.0/31", "old": ["Ethernet12", "Ethernet8"], "new": []}
    ]
    whats = {one["what"]: one["new"] for one in document["switches"]["leaf1"]["changes"]}
    assert whats["entry 10 of route-map NO"] == "prefixes H3"
    assert whats["policy of the session to default|10.0.0.0"] == "map_in NO"
    assert all(not one["changes"] for name, one in document["switches"].items() if name != "leaf1")


STATUS = [
    (DENY, "error", 0),
    (DENY, "lost-route", 1),
    (DENY, "change", 1),
    (SLOWER, "lost-route", 0),
    (SLOWER, "never", 0),
    (WRONG_AS, "error", 1),
    (WRONG_AS, "never", 0),
]


@pytest.mark.parametrize(("changes", "policy", "status"), STATUS, ids=[f"{policy}-{one}" for _, policy, one in STATUS])
def test_the_exit_status_follows_the_policy(tmp_path: Path, changes: dict[str, Any], policy: str, status: int) -> None:
    assert compared(tmp_path, changes, "--fail-on", policy).exit_code == status


def test_new_findings_are_in_the_files_of_pipelines(tmp_path: Path) -> None:
    sarif, junit = tmp_path / "s.sarif", tmp_path / "j.xml"
    done = compared(tmp_path, WRONG_AS, "--sarif", str(sarif), "--junit", str(junit))
    assert done.exit_code == 1 and "routes were not compared: AS 64999, but spine1 has AS 64512" in done.stdout
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    assert {(one["ruleId"], one["level"]) for one in results} == {("session-as", "error")}
    failures = [case for case in ElementTree.parse(junit).iter("testcase") if case.find("failure") is not None]
    assert ["session-as" in (case.get("name") or "") for case in failures] == [True]


def test_a_switch_that_is_gone_is_told(tmp_path: Path) -> None:
    done = compared(tmp_path, {}, "--fail-on", "change", without="leaf4")
    assert done.exit_code == 1 and "removed: leaf4" in done.stdout


def test_two_files_of_one_hostname_are_refused(tmp_path: Path) -> None:
    shutil.copy(LAB / "leaf1.json", tmp_path / "a.json")
    shutil.copy(LAB / "leaf1.json", tmp_path / "b.json")
    done = CliRunner().invoke(app, ["sonic", "diff", str(tmp_path), str(tmp_path)])
    assert done.exit_code == 2 and "its hostname leaf1 is also that of" in done.output
