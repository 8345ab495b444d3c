"""Rules of several switches together: each with a fabric that breaks it, and the same fabric where it is right.

The fabric is the lab sonic-leaf-spine: four leaves, two spines, eight links. `sonic check` finds the links in files;
a lab has them in its topology.
"""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from repository import ROOT
from sonic_traps import patched
from typer.testing import CliRunner, Result

from fabriclab.api.look import CheckedLab
from fabriclab.api.look import check as check_lab
from fabriclab.cli.app import app
from fabriclab.lab import LabError
from fabriclab.vendors.sonic.judge.rules import FABRIC_RULES

LABS = ROOT / "labs"
LAB = LABS / "sonic-leaf-spine"
MUTANTS = ROOT / "tests" / "golden" / "sonic-fabric" / "mutants.json"
Changes = dict[str, dict[str, Any]]


def of_port(port: str, **fields: str) -> dict[str, Any]:
    return {"PORT": {port: fields}}


def of_map(**classes: str) -> dict[str, Any]:
    return {"DSCP_TO_TC_MAP": {"AZURE": {name.removeprefix("dscp"): tc for name, tc in classes.items()}}}


def dropping(prefix: str) -> dict[str, Any]:
    return {"STATIC_ROUTE": {f"default|{prefix}": {"blackhole": "true"}}}


PFC = {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3", "pfcwd_sw_enable": "3"}}}
AT_LEAF, AT_SPINE = "Ethernet8", "Ethernet0"
"""The two ends of the link between leaf1 and spine1."""
BOTH_40 = {"leaf1": of_port(AT_LEAF, speed="40000"), "spine1": of_port(AT_SPINE, speed="40000")}
OTHER_AS = {"BGP_NEIGHBOR": {"default|10.0.0.0": {"asn": "64999"}}}
OTHER_ADDRESS = {"BGP_NEIGHBOR": {"default|10.0.0.0": None, "default|10.0.0.1": {"asn": "64512", "name": "spine1"}}}
"""leaf1's own address in place of the neighbour's."""
NO_SESSION = {
    "BGP_NEIGHBOR": {"default|10.0.0.0": None},
    "BGP_NEIGHBOR_AF": {"default|10.0.0.0|ipv4_unicast": None},
}
BAD: dict[str, tuple[Changes, str, str, str]] = {
    # rule: what is changed, the switch that is told, the place, words of the sentence
    "link-speed": (
        {"leaf1": of_port(AT_LEAF, speed="40000")},
        "leaf1",
        "PORT|Ethernet8|speed",
        "100 Gbps at the other",
    ),
    "link-fec": (
        {"leaf1": of_port(AT_LEAF, fec="rs"), "spine1": of_port(AT_SPINE, fec="none")},
        "leaf1",
        "PORT|Ethernet8|fec",
        "fec rs is not what the other end, spine1:Ethernet0, has: none",
    ),
    "link-autoneg": ({"spine1": of_port(AT_SPINE, autoneg="on")}, "spine1", "PORT|Ethernet0|autoneg", "has: nothing"),
    "link-lanes": ({"leaf1": of_port(AT_LEAF, lanes="33,34")}, "leaf1", "PORT|Ethernet8|lanes", "has: 4 lanes"),
    "link-mtu": ({"leaf1": of_port(AT_LEAF, mtu="1500")}, "leaf1", "PORT|Ethernet8|mtu", "9100 at the other end"),
    "link-pfc": ({"spine1": PFC}, "leaf1", "PORT_QOS_MAP|Ethernet8|pfc_enable", "priority 4 are sent by one end"),
    "session-as": ({"leaf1": OTHER_AS}, "leaf1", "BGP_NEIGHBOR|default|10.0.0.0|asn", "but spine1 has AS 64512"),
    "session-one-sided": ({"leaf1": NO_SESSION}, "spine1", "BGP_NEIGHBOR|10.0.0.1", "without a session of leaf1"),
    "router-id-twice": (
        {"leaf2": {"BGP_GLOBALS": {"default": {"router_id": "10.255.0.3"}}}},
        "leaf2",
        "BGP_GLOBALS|default|router_id",
        "also the router id of leaf1",
    ),
    "bfd-one-sided": (
        {"leaf1": {"BGP_NEIGHBOR": {"default|10.0.0.0": {"bfd": "true"}}}},
        "leaf1",
        "BGP_NEIGHBOR|default|10.0.0.0",
        "with BFD, but spine1:Ethernet0 does not ask for it",
    ),
    "class-differs": (
        {"spine1": of_map(dscp3="1"), "spine2": of_map(dscp3="1")},
        "spine2",
        "DSCP_TO_TC_MAP|AZURE|3",
        "lossy, in queue 1 here, but lossless, in queue 3 at 4 of 6 switches (leaf1, leaf2 and 2 more)",
    ),
    "ecmp-rates": (BOTH_40, "leaf1", "PORT|Ethernet8|speed", "slower than Ethernet12 (100 Gbps)"),
    "blackhole-hides-hosts": (
        {"leaf1": dropping("10.64.1.0/31")},
        "leaf1",
        "STATIC_ROUTE|default|10.64.1.0/31",
        "the network of leaf2:Ethernet0",
    ),
    "link-address": (
        {"leaf1": {"INTERFACE": {"Ethernet8|10.0.0.1/31": None, "Ethernet8|10.9.0.1/31": {}}}},
        "leaf1",
        "Ethernet8|10.9.0.1/31",
        "in different networks",
    ),
    "link-found": (
        {"leaf1": {"DEVICE_NEIGHBOR": {"Ethernet8": {"name": "spine2", "port": "Ethernet0"}}}},
        "leaf1",
        "DEVICE_NEIGHBOR|Ethernet8",
        "leads to",
    ),
    "session-address": (
        {"leaf1": OTHER_ADDRESS},
        "leaf1",
        "BGP_NEIGHBOR|default|10.0.0.1",
        "but spine1:Ethernet0 has 10.0.0.0",
    ),
    "link-channel": (
        {
            "leaf1": {
                "PORTCHANNEL": {"PortChannel1": {"admin_status": "up"}},
                "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet8": {}},
                "INTERFACE": {"Ethernet8": None, "Ethernet8|10.0.0.1/31": None},
                "PORTCHANNEL_INTERFACE": {"PortChannel1": {}, "PortChannel1|10.0.0.1/31": {}},
            }
        },
        "leaf1",
        "PORTCHANNEL_MEMBER|PortChannel1|Ethernet8",
        "which is not a member of a port channel",
    ),
}
WARNINGS = {"router-id-twice", "bfd-one-sided", "link-lanes", "ecmp-rates"}
RIGHT: dict[str, Changes] = {
    "fec at both": {"leaf1": of_port(AT_LEAF, fec="rs"), "spine1": of_port(AT_SPINE, fec="rs")},
    "fec is negotiated": {
        "leaf1": of_port(AT_LEAF, fec="rs", autoneg="on"),
        "spine1": of_port(AT_SPINE, fec="none", autoneg="on"),
    },
    "fec auto": {"leaf1": of_port(AT_LEAF, fec="rs"), "spine1": of_port(AT_SPINE, fec="auto")},
    "autoneg at both": {"leaf1": of_port(AT_LEAF, autoneg="on"), "spine1": of_port(AT_SPINE, autoneg="on")},
    "a summary is dropped": {"leaf1": dropping("10.64.0.0/10")},
    "another network is dropped": {"leaf1": dropping("192.0.2.0/24")},
    "all links are slower": {
        **{f"leaf{n}": {"PORT": {p: {"speed": "40000"} for p in ("Ethernet8", "Ethernet12")}} for n in range(1, 5)},
        **{f"spine{n}": {"PORT": {f"Ethernet{4 * p}": {"speed": "40000"} for p in range(4)}} for n in (1, 2)},
    },
    "a class moved everywhere": {name: of_map(dscp26="3") for name in ("leaf1", "leaf2", "leaf3", "leaf4", "spine1")}
    | {"spine2": of_map(dscp26="3")},
    "the other end takes whoever calls": {
        "leaf1": {**NO_SESSION, "BGP_GLOBALS_LISTEN_PREFIX": {"default|10.0.0.0/24": {"peer_group": "x"}}}
    },
}


def fabric(directory: Path, changes: Changes) -> list[Path]:
    """Write the lab with changes, and return its configurations."""
    for path in (*LAB.glob("*.json"), LAB / "topology.clab.yml", LAB / "experiment.yml"):
        shutil.copy(path, directory)
    for name, change in changes.items():
        file = directory / f"{name}.json"
        file.write_text(json.dumps(patched(json.loads(file.read_text()), copy.deepcopy(change)), indent=2))
    return sorted(directory.glob("*.json"))


def check(files: list[Path], *options: str) -> Result:
    return CliRunner().invoke(app, ["sonic", "check", *map(str, files), *options])


def found(files: list[Path]) -> dict[str, list[dict[str, Any]]]:
    """Return the findings between files by their rule."""
    document = json.loads(check(files, "--format", "json").stdout)
    by_rule: dict[str, list[dict[str, Any]]] = {}
    for file in document["files"]:
        for one in file["findings"]:
            if one["rule"] in FABRIC_RULES:
                by_rule.setdefault(one["rule"], []).append({**one, "switch": Path(file["file"]).stem})
    return by_rule


def test_every_rule_has_a_fabric_that_breaks_it() -> None:
    # Two tiers that hash alike need a third one (test_sonic_hash.py); pairs and overlays are in a fabric of their own.
    mutants = {one["tells"][0] for one in json.loads(MUTANTS.read_text(encoding="utf-8")).values() if one["tells"]}
    of_operators = json.loads(MUTANTS.with_name("operators.json").read_text(encoding="utf-8"))["mistakes"].values()
    mutants |= {one["tells"][0] for one in of_operators}
    assert {*BAD, "hash-seeds"} | mutants >= FABRIC_RULES


@pytest.mark.parametrize("rule", BAD)
def test_a_contradiction_is_found_at_its_place(rule: str, tmp_path: Path) -> None:
    changes, switch, place, words = BAD[rule]
    one = next(one for one in found(fabric(tmp_path, changes))[rule] if one["switch"] == switch)
    assert one["severity"] == ("warning" if rule in WARNINGS else "error")
    where = "|".join(filter(None, (one["table"], one["key"], one["field"])))
    assert where == place
    assert words in f"{one['value']} is {one['bound']}; {one['consequence']}" and one["consequence"]
    assert one["remedy"] or rule in ("link-channel", "link-found")
    assert one["line"] and one["line"] > 1


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_left_alone(name: str, tmp_path: Path) -> None:
    assert found(fabric(tmp_path, RIGHT[name])) == {}


@pytest.mark.parametrize("lab", ["sonic-leaf-spine", "ai-sonic"])
def test_the_labs_are_right(lab: str) -> None:
    done = check(sorted((LABS / lab).glob("*.json")))
    assert done.exit_code == 0
    assert "error" not in done.stdout and "warning" not in done.stdout
    assert done.stdout.endswith("\njudged together: 6 switches, 8 links between them\n")
    assert check_lab(LABS / lab).warnings == ()


def test_the_exit_status_is_that_of_what_is_found_between_files(tmp_path: Path) -> None:
    assert check(fabric(tmp_path, {"leaf1": OTHER_AS})).exit_code == 1
    assert check(fabric(tmp_path, {"leaf1": OTHER_AS}), "--ignore", "session-as").exit_code == 0
    assert check([tmp_path / "leaf1.json"]).exit_code == 0


def test_of_two_halves_the_switches_with_hosts_are_the_measure(tmp_path: Path) -> None:
    files = fabric(tmp_path, {"spine1": of_map(dscp26="3"), "spine2": of_map(dscp26="3")})
    some = [path for path in files if path.stem in ("leaf1", "leaf2", "spine1", "spine2")]
    assert {one["switch"] for one in found(some)["class-differs"]} == {"spine1", "spine2"}


def test_a_class_towards_another_tier_only_is_not_a_contradiction(tmp_path: Path) -> None:
    """leaf1 and spine1 have DSCP 26 lossless on their link, as dual ToRs have classes of their own up to the T1."""
    maps = json.loads((LAB / "leaf1.json").read_text())["DSCP_TO_TC_MAP"]["AZURE"]
    own = {"DSCP_TO_TC_MAP": {"UP": {**maps, "26": "3"}}}
    at = {
        name: {**own, "PORT_QOS_MAP": {port: {"dscp_to_tc_map": "UP"}}}
        for name, port in (("leaf1", AT_LEAF), ("spine1", AT_SPINE))
    }
    assert found(fabric(tmp_path, at)) == {}
    for name in at:
        (one,) = found(fabric(tmp_path, {name: at[name]}))["class-differs"]
        assert (one["switch"], one["key"], one["field"]) == (name, "UP", "26")
        assert "lossless, in queue 3 here, but lossy" in one["bound"]


def test_a_tier_without_pfc_is_only_warned_of(tmp_path: Path) -> None:
    spines = {name: json.loads((LAB / f"{name}.json").read_text())["PORT_QOS_MAP"] for name in ("spine1", "spine2")}
    off = {
        name: {"PORT_QOS_MAP": {port: {"pfc_enable": None, "pfcwd_sw_enable": None} for port in ports}}
        for name, ports in spines.items()
    }
    by_rule = found(fabric(tmp_path, off))
    assert by_rule.keys() == {"link-pfc", "class-differs"}
    assert {one["severity"] for every in by_rule.values() for one in every} == {"warning"}


def test_files_of_one_switch_are_not_judged_together_and_it_is_said(tmp_path: Path) -> None:
    files = fabric(tmp_path, {})[:2]
    shutil.copy(files[0], tmp_path / "old.json")
    done = check([files[0], tmp_path / "old.json"], "--junit", str(tmp_path / "j.xml"))
    assert "were not judged together" in done.stdout and "old.json" in done.stdout
    cases = list(ElementTree.parse(tmp_path / "j.xml").getroot().iter("testcase"))
    skipped = {case.get("name") for case in cases if case.find("skipped") is not None}
    assert skipped == FABRIC_RULES


def test_files_without_a_link_are_not_judged_together_and_it_is_said(tmp_path: Path) -> None:
    files = [path for path in fabric(tmp_path, {}) if path.stem in ("leaf1", "leaf2")]
    done = check(files, "--format", "json")
    assert json.loads(done.stdout)["fabric"]["judged"] is False
    assert "no link between these files was found" in done.stdout


def test_a_malformed_file_does_not_keep_the_others_from_being_compared(tmp_path: Path) -> None:
    changes = {"leaf1": OTHER_AS, "leaf2": {"BUFFER_PROFILE": {"egress_lossy_profile": {"dynamic_th": "x"}}}}
    assert list(found(fabric(tmp_path, changes))) == ["session-as"]


@pytest.mark.parametrize("rule", ["link-speed", "link-fec", "link-autoneg"])
def test_a_lab_whose_link_would_stay_down_is_refused(rule: str, tmp_path: Path) -> None:
    fabric(tmp_path, BAD[rule][0])
    with pytest.raises(LabError) as caught:
        check_lab(tmp_path)
    (mistake,) = caught.value.mistakes
    assert Path(mistake.file).stem == BAD[rule][1] and mistake.line and mistake.key == BAD[rule][2]


@pytest.mark.parametrize("rule", ["session-as", "class-differs", "blackhole-hides-hosts"])
def test_a_lab_that_contradicts_itself_runs_and_its_check_fails(rule: str, tmp_path: Path) -> None:
    fabric(tmp_path, BAD[rule][0])
    checked = check_lab(tmp_path)
    assert isinstance(checked, CheckedLab)
    assert any(fault.startswith(f"{BAD[rule][1]}: {BAD[rule][1]}.json:") for fault in checked.faults)
    assert set(checked.faults) <= set(checked.warnings) and str(tmp_path) not in "".join(checked.warnings)
    done = CliRunner().invoke(app, ["check", str(tmp_path)])
    assert done.exit_code == 1
    assert f"error: {checked.faults[0]}\n" in done.stdout


def test_a_doubtful_fabric_is_warned_of(tmp_path: Path) -> None:
    fabric(tmp_path, BOTH_40)
    done = CliRunner().invoke(app, ["check", str(tmp_path)])
    assert done.exit_code == 0
    assert "warning: leaf1: leaf1.json:" in done.stdout


def test_a_directory_stands_for_the_switches_in_it(tmp_path: Path) -> None:
    flat, deep = tmp_path / "flat", tmp_path / "deep"
    flat.mkdir()
    for file in fabric(flat, {}):
        (deep / file.stem).mkdir(parents=True)
        shutil.copy(file, deep / file.stem / "config_db.json")
    for directory in (flat, deep):
        assert check([directory]).stdout.endswith("judged together: 6 switches, 8 links between them\n")
        done = CliRunner().invoke(
            app, ["sonic", "import", str(directory), "-o", str(tmp_path / f"{directory.name}-lab")]
        )
        assert done.exit_code == 0 and "6 switches, 8 links between them" in done.output
    assert check([deep / "leaf1"]).stdout.startswith(f"{deep / 'leaf1' / 'config_db.json'}: nothing found")


def test_a_directory_without_a_configuration_is_refused(tmp_path: Path) -> None:
    for command in ("check", "import"):
        done = CliRunner().invoke(app, ["sonic", command, str(tmp_path)])
        assert done.exit_code == 2 and "a directory without config_db.json" in done.output


def test_what_stands_in_a_file_does_not_break_a_line(tmp_path: Path) -> None:
    acl = {
        "ACL_TABLE": {"X\nY": {"type": "L3", "ports": ["Ethernet8"]}},
        "ACL_RULE": {"X\nY|R\n": {"PACKET_ACTION": "DROP"}},
    }
    fabric(tmp_path, {"leaf2": {"BGP_GLOBALS": {"default": {"router_id": "10.255.0.3"}}, **acl}})
    warnings = check_lab(tmp_path).warnings
    assert len(warnings) == 2
    assert all(warning.isprintable() for warning in warnings)
