"""`fabriclab sonic diff OLD NEW` of fabrics: what differs, the routes, the files for pipelines, and the exit status."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from repository import ROOT
from sonic_scale import leaf_spine, write_fabric
from sonic_traps import patched
from typer.testing import CliRunner, Result

from fabriclab.cli.app import app
from fabriclab.vendors.sonic.commands.emulated import Measured

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
Change = Callable[[dict[str, Any]], Any]
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
    assert done.exit_code == 1, done.output
    document = json.loads(done.stdout)
    assert document["routes"] == [
        {"switch": "leaf1", "prefix": "10.64.1.0/31", "old": ["Ethernet12", "Ethernet8"], "new": []}
    ]
    whats = {one["what"]: one["new"] for one in document["switches"]["leaf1"]["changes"]}
    assert whats["entry 10 of route-map NO"] == "prefixes H3"
    assert whats["policy of the session to default|10.0.0.0"] == "map_in NO"
    assert all(not one["changes"] for name, one in document["switches"].items() if name != "leaf1")


STATUS = [
    (DENY, "error", 1),
    (DENY, "never", 0),
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
    assert done.exit_code == 1 and "leaf1 to 10.64.1.0/31: Ethernet12, Ethernet8 -> Ethernet12" in done.stdout
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


def scaled(directory: Path, change: Change, *options: str) -> Result:
    """Compare a fabric of two spines and three leaves with what a change makes of it."""
    fabric = leaf_spine(2, 3)
    write_fabric(fabric, directory / "old")
    change(fabric)
    write_fabric(fabric, directory / "new")
    return CliRunner().invoke(app, ["sonic", "diff", str(directory / "old"), str(directory / "new"), *options])


def without_sessions(fabric: dict[str, Any]) -> None:
    """leaf1 and spine1 have no session any more, at neither end."""
    del fabric["leaf1"]["BGP_NEIGHBOR"]["10.0.0.0"], fabric["spine1"]["BGP_NEIGHBOR"]["10.0.0.1"]


def test_a_session_that_both_ends_lose_takes_routes(tmp_path: Path) -> None:
    done = scaled(tmp_path, without_sessions)
    assert "leaf1 to 10.100.1.0/24: Ethernet12, Ethernet8 -> Ethernet12" in done.stdout


def faster(fabric: dict[str, Any]) -> None:
    """Both ends of the links of spine1 get another MTU."""
    for name, tables in fabric.items():
        ports = tables["PORT"] if name == "spine1" else {"Ethernet8": tables["PORT"].get("Ethernet8", {})}
        for fields in ports.values() if name != "spine2" else ():
            fields["mtu"] = "9000"


def moved(fabric: dict[str, Any]) -> None:
    """The hosts' routes of leaf2 go from spine2's static routes to BGP: spine2 first has to forget what drops."""
    fabric["spine2"].pop("STATIC_ROUTE")
    fabric["leaf1"]["BGP_NEIGHBOR"].pop("10.0.0.0")
    fabric["spine1"]["BGP_NEIGHBOR"].pop("10.0.0.1")


def test_each_state_of_a_rollout_is_judged(tmp_path: Path) -> None:
    done = scaled(tmp_path, faster, "--rollout", "--format", "json", "--junit", str(tmp_path / "j.xml"))
    steps = json.loads(done.stdout)["rollout"]
    assert done.exit_code == 1 and {one["switch"] for one in steps} == {"spine1", "leaf1", "leaf2", "leaf3"}
    assert [one["sound"] for one in steps] == [False, False, False, True]
    assert "link-mtu" in steps[0]["errors"][0] and steps[0]["lost"] == []
    cases = [
        case for case in ElementTree.parse(tmp_path / "j.xml").iter("testcase") if case.get("classname") == "rollout"
    ]
    assert [case.find("failure") is not None for case in cases] == [True, True, True, False]
    assert scaled(tmp_path, faster, "--rollout", "--fail-on", "lost-route").exit_code == 0


def test_an_order_without_loss_is_found(tmp_path: Path) -> None:
    """leaf1 may leave spine1 only after spine2 no longer drops its packets to leaf2."""

    def compare(*options: str) -> Result:
        fabric = leaf_spine(2, 3)
        fabric["spine2"]["STATIC_ROUTE"] = {"10.100.1.0/25": {"blackhole": "true", "distance": "1"}}
        write_fabric(fabric, tmp_path / "old")
        moved(fabric)
        write_fabric(fabric, tmp_path / "new")
        command = ["sonic", "diff", str(tmp_path / "old"), str(tmp_path / "new"), "--format", "json"]
        return CliRunner().invoke(app, [*command, *options])

    found = json.loads(compare("--rollout").stdout)["rollout"]
    assert all(not one["lost"] for one in found) and found[0]["switch"] == "spine2"
    told = json.loads(compare("--order", "leaf1").stdout)["rollout"]
    assert told[0]["switch"] == "leaf1" and len(told) == 3


def test_what_others_lose_while_a_switch_reloads(tmp_path: Path) -> None:
    """leaf1 has only spine2 left, whose reload cuts it off."""

    def change(fabric: dict[str, Any]) -> None:
        fabric["spine2"]["PORT"]["Ethernet8"]["description"] = "new"

    fabric = leaf_spine(2, 3)
    without_sessions(fabric)
    write_fabric(fabric, tmp_path / "old")
    change(fabric)
    write_fabric(fabric, tmp_path / "new")
    command = ["sonic", "diff", str(tmp_path / "old"), str(tmp_path / "new"), "--rollout"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0 and "lost while spine2 is down: leaf1 to 10.100.1.0/24 (leaf2)" in done.stdout
    assert CliRunner().invoke(app, [*command, "--fail-on", "lost-route"]).exit_code == 1


def test_the_page_is_markdown_that_no_file_can_break(tmp_path: Path) -> None:
    def change(fabric: dict[str, Any]) -> None:
        without_sessions(fabric)
        fabric["leaf3"]["WRED_PROFILE"]["WRED"]["green_min_threshold"] = "20000"
        fabric["leaf2"]["BGP_NEIGHBOR"]["10.0.0.2"]["asn"] = "65099"

    done = scaled(tmp_path, change, "--rollout", "--page", str(tmp_path / "page.md"))
    page = (tmp_path / "page.md").read_text()
    assert done.exit_code == 1 and "**Verdict: fails, 1 new finding; the state after " in page
    assert "| leaf1 | 10.100.1.0/24 | Ethernet12, Ethernet8 | Ethernet12 |" in page
    assert "## Order of the rollout" in page and "## Emulation" not in page
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert all(row.replace("\\|", "").count("|") in (5, 6) for row in rows)


def test_the_page_in_html_has_the_fabric_and_frames_what_changes(tmp_path: Path) -> None:
    def change(fabric: dict[str, Any]) -> None:
        without_sessions(fabric)
        fabric["leaf3"]["WRED_PROFILE"] = {"<b>": fabric["leaf3"]["WRED_PROFILE"]["WRED"]}
        for fields in fabric["leaf3"]["QUEUE"].values():
            fields.update({"wred_profile": "<b>"} if "wred_profile" in fields else {})
        fabric["leaf3"]["WRED_PROFILE"]["<b>"]["green_min_threshold"] = "800000"

    done = scaled(tmp_path, change, "--rollout", "--page", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    assert done.exit_code == 1 and '<p class="finding fails">Verdict: fails, the state after leaf1 is not sound' in page
    assert "<title>leaf1\nchanged</title>" in page and "<title>leaf2</title>" in page and "changed (3)" in page
    assert (
        "Order of the rollout" in page
        and "<b>" not in page
        and "http" not in page.replace("http://www.w3.org", "").replace("http-equiv", "")
    )


def measured(old: dict[int, float], new: dict[int, float]) -> Measured:
    return Measured("fct_p99_ns", old, new)


def test_a_change_that_may_be_chance_is_undecided() -> None:
    noise = measured({1: 50e3, 2: 60e3, 3: 40e3}, {1: 55e3, 2: 52e3, 3: 49e3})
    assert noise.verdict == "undecided" and noise.interval.startswith("-") and " to +" in noise.interval
    few = measured({1: 50e3, 2: 50e3}, {1: 60e3, 2: 60e3})
    assert (few.verdict, few.interval) == ("undecided", "fewer than 3 seeds")
    assert measured({1: 50e3, 2: 51e3, 3: 52e3}, {1: 60e3, 2: 61e3, 3: 62.5e3}).verdict == "worse"
    assert measured({1: 60e3, 2: 61e3, 3: 62.5e3}, {1: 50e3, 2: 51e3, 3: 52e3}).verdict == "better"
    same = measured({1: 50e3, 2: 51e3, 3: 52e3}, {1: 50e3, 2: 51e3, 3: 52e3})
    assert (same.verdict, same.interval) == ("", "")


def test_one_seed_says_which_number_is_worse() -> None:
    assert measured({1: 50e3}, {1: 60e3}).verdict == "worse" and measured({1: 60e3}, {1: 50e3}).verdict == "differs"
    lost = measured({1: 50e3}, {})
    assert (lost.verdict, lost.new, lost.text(lost.new)) == ("worse", None, "not measured")


def test_a_version_that_cannot_be_emulated_is_told_beside_the_difference(tmp_path: Path) -> None:
    """Before: the command ended with the mistake alone, and nothing of the difference."""
    page = tmp_path / "change.md"
    done = compared(tmp_path, WRONG_AS, "--run", "--page", str(page))
    assert done.exit_code == 1, done.output
    assert "1 of them differ" in done.stdout
    _, _, why = done.stdout.partition("emulation: not done\n")
    assert "leaf1.json" in why and "64999" in why
    assert "the versions were not emulated" in page.read_text() and "A version cannot be a lab" in page.read_text()


def test_an_order_names_switches_that_change(tmp_path: Path) -> None:
    done = scaled(tmp_path, without_sessions, "--order", "leaf1,leaf9")
    assert done.exit_code == 2 and "--order 'leaf9': no switch that changes; did you mean 'leaf1'?" in done.output


def test_an_experiment_that_is_not_there(tmp_path: Path) -> None:
    done = scaled(tmp_path, without_sessions, "--experiment", str(tmp_path / "none.yml"))
    assert done.exit_code == 2 and "no such file" in done.output
