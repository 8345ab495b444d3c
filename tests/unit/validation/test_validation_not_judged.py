"""A verdict that hangs on what acts in the switch and not in the run is none: neither a pass, nor a failure."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from repository import ROOT
from sonic_traps import patched
from typer.testing import CliRunner

import fabriclab.api.validation as validating
import fabriclab.cli.commands.validate as showing
from fabriclab.cli.app import app
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.validation import Bench, ValidationFinding, all_pass, first_stage, why_undecided, with_reasons
from fabriclab.validation.document import document
from fabriclab.validation.finding import judged
from fabriclab.validation.not_judged import of_configuration

LAB = ROOT / "labs" / "sonic-leaf-spine"
POLICY = {
    "ROUTE_MAP": {"DENY|10": {"route_operation": "deny", "match_tag": ["0"]}},
    "BGP_NEIGHBOR_AF": {"default|10.0.0.0|ipv4_unicast": {"route_map_in": ["DENY"]}},
}


def acl(port: str) -> dict[str, Any]:
    return {
        "ACL_TABLE": {"A": {"type": "L3", "ports": [port]}},
        "ACL_RULE": {"A|R1": {"PRIORITY": "1", "PACKET_ACTION": "DROP", "VLAN_ID": "7"}},
    }


def bench(directory: Path, change: dict[str, Any], engine: Any = "vm") -> Bench:
    for path in [*LAB.glob("*.json"), LAB / "topology.clab.yml", LAB / "experiment.yml"]:
        shutil.copy(path, directory)
    leaf = directory / "leaf1.json"
    leaf.write_text(json.dumps(patched(json.loads(leaf.read_text()), change), indent=2))
    lab = parse_lab(directory)
    plan = resolve_plan(lab, {})
    return Bench(plan, plan, lab.experiment.validation, *validating._of_files(lab.topology, engine))


def passed(check: str, where: str = "56 ordered pairs of hosts") -> ValidationFinding:
    return judged(check, where, "8 of 8 flows", "8 of 8 flows", holds=True)


def verdicts(found: Bench, *findings: ValidationFinding) -> list[str]:
    return [finding.verdict for finding in with_reasons(found, findings)]


def test_a_policy_of_routes_leaves_no_path_judged_and_a_failure_a_failure(tmp_path: Path) -> None:
    found = bench(tmp_path, POLICY)
    checks = [passed(check) for check in ("reach", "paths", "balance", "mtu", "failure", "class", "marks")]
    assert verdicts(found, *checks) == [*["not judged"] * 5, "pass", "pass"]
    assert verdicts(found, judged("reach", "h1 to h3", "1", "0", holds=False)) == ["fail"]
    (one,) = with_reasons(found, [passed("reach")])
    assert one.told.startswith("8 of 8 flows; but leaf1: BGP_NEIGHBOR_AF|default|10.0.0.0|ipv4_unicast")
    assert "leaf1.json:" in one.told and str(tmp_path) not in one.told


def test_sessions_hang_on_it_at_the_switch_and_at_its_neighbours(tmp_path: Path) -> None:
    sessions = [passed("sessions", name) for name in ("leaf1", "leaf2", "spine1", "spine2")]
    assert verdicts(bench(tmp_path, acl("Ethernet8")), *sessions) == ["not judged", "pass", "not judged", "pass"]


def test_an_acl_of_a_port_without_a_link_touches_nothing(tmp_path: Path) -> None:
    change = {**acl("Ethernet16"), "PORT": {"Ethernet16": {"speed": "100000", "lanes": "61,62,63,64"}}}
    found = bench(tmp_path, change)
    assert verdicts(found, passed("reach"), passed("sessions", "leaf1")) == ["pass", "pass"]
    assert of_configuration(found) == []


def test_each_thing_is_a_line_of_its_own(tmp_path: Path) -> None:
    (line,) = of_configuration(bench(tmp_path, POLICY))
    assert (line.check, line.verdict) == ("configuration", "not judged")
    assert line.where == "leaf1 BGP_NEIGHBOR_AF|default|10.0.0.0|ipv4_unicast|route_map_in DENY"


def test_the_runs_of_the_stages_say_it_so_that_reports_do(tmp_path: Path) -> None:
    found = bench(tmp_path, POLICY)
    assert [warning.partition(" (")[0] for warning in first_stage(found).plan.warnings] == [
        "leaf1: BGP_NEIGHBOR_AF|default|10.0.0.0|ipv4_unicast|route_map_in DENY"
    ]


def test_containers_have_the_switches_own_routing(tmp_path: Path) -> None:
    assert bench(tmp_path, POLICY, "containerlab").not_emulated == {}
    assert list(bench(tmp_path, acl("Ethernet8"), "containerlab").not_emulated) == ["leaf1"]


def test_a_lab_without_it_is_judged_as_before(tmp_path: Path) -> None:
    found = bench(tmp_path, {})
    assert found.not_emulated == {} and first_stage(found).plan.warnings == ()
    findings = [passed("reach"), passed("sessions", "leaf1")]
    assert with_reasons(found, findings) == findings


@pytest.mark.parametrize(
    ("verdicts", "passes", "is_undecided"),
    [
        (["pass", "not judged"], None, True),
        (["pass", "not judged", "fail"], False, False),
        (["pass", "does not apply"], True, False),
    ],
)
def test_what_is_not_judged_is_no_verdict(verdicts: list[str], passes: bool | None, is_undecided: bool) -> None:
    findings = [ValidationFinding("reach", "x", "1", "1", cast(Any, verdict)) for verdict in verdicts]
    assert all_pass(findings) is (passes is True)
    assert (why_undecided(findings) is not None) is is_undecided
    said = document("lab", None, findings, why_undecided(findings))
    assert said["passed"] is passes and said["counts"]["not judged"] == verdicts.count("not judged")


def test_contradictions_of_two_files_fail_whatever_is_asked(tmp_path: Path) -> None:
    wrong = bench(tmp_path, {"BGP_NEIGHBOR": {"default|10.0.0.0": {"asn": "64999"}}})
    (line,) = of_configuration(wrong)
    assert (line.check, line.where, line.verdict) == ("configuration", "leaf1", "fail")
    assert "AS 64999, but spine1 has AS 64512 (spine1.json:" in line.measured
    assert first_stage(wrong).plan.warnings == (f"leaf1: {line.measured}",)


@pytest.mark.parametrize(
    ("verdict", "options", "status", "passes"),
    [
        ("not judged", [], 1, None),
        ("not judged", ["--accept-not-judged"], 0, None),
        ("fail", ["--accept-not-judged"], 1, False),
        ("pass", [], 0, True),
    ],
)
def test_exit_status_and_files_of_the_command(
    verdict: Any, options: list[str], status: int, passes: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = (passed("class"), ValidationFinding("reach", "hosts", "8", "8; but leaf1: a policy", verdict))
    found = validating.Validation("lab", tmp_path, findings, interrupted=False)
    monkeypatch.setattr(showing, "validate_lab", lambda *_, **__: found)
    files = ["--json", str(tmp_path / "v.json"), "--junit", str(tmp_path / "v.xml")]
    done = CliRunner().invoke(app, ["validate", str(LAB), *files, *options])
    assert done.exit_code == status
    written = json.loads((tmp_path / "v.json").read_text())
    assert written["passed"] is passes
    assert (written["no_verdict"] is not None) is (verdict == "not judged") is ("no verdict: 1 of 2" in done.output)
    skipped = [one.attrib["message"] for one in ElementTree.parse(tmp_path / "v.xml").iter("skipped")]
    assert skipped == (["8; but leaf1: a policy"] if verdict == "not judged" else [])
