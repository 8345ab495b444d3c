"""Mistakes of two switches or more, in a sound fabric with MCLAG, EVPN, VRF, dual ToR, relays and storm control.

`tests/golden/sonic-fabric/mutants.json` has each as JSON merge patches (RFC 7386) by switch, with the rule, the switch
and the place that have to tell it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT
from sonic_overlay import overlay
from sonic_scale import Tables, leaf_spine, write_fabric
from sonic_traps import patched

from fabriclab.vendors.sonic.fabric import judge_files
from fabriclab.vendors.sonic.judge import judge_config_db

MUTANTS: dict[str, Any] = json.loads((ROOT / "tests" / "golden" / "sonic-fabric" / "mutants.json").read_text())


def findings(fabric: dict[str, Tables], directory: Path) -> set[tuple[str, str, str, str]]:
    """Return severity, rule, switch and place of all that is found in the files and between them."""
    files = write_fabric(fabric, directory)
    judged = judge_files(files, ())
    assert judged.was_judged
    alone = {file.stem: judge_config_db(file.read_bytes(), str(file)).findings for file in files}
    between = {Path(file).stem: found for file, found in judged.findings.items()}
    return {
        (one.severity, one.rule, name, one.where)
        for every in (alone, between)
        for name, found in every.items()
        for one in found
    }


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str, str, str]]:
    return findings(overlay(), tmp_path_factory.mktemp("sound"))


def test_the_fabric_is_sound(usual: set[tuple[str, str, str, str]]) -> None:
    assert {severity for severity, *_ in usual} <= {"note"}, usual


@pytest.mark.parametrize(("spines", "leaves"), [(2, 2), (4, 12), (8, 56)])
def test_sound_fabrics_have_no_error(spines: int, leaves: int, tmp_path: Path) -> None:
    assert not {one for one in findings(leaf_spine(spines, leaves), tmp_path) if one[0] == "error"}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_told_where_it_is(name: str, usual: set[tuple[str, str, str, str]], tmp_path: Path) -> None:
    fabric = overlay()
    for switch, change in MUTANTS[name]["changes"].items():
        fabric[switch] = patched(fabric[switch], change)
    found = {one for one in findings(fabric, tmp_path) - usual if one[0] != "note"}
    tells = MUTANTS[name]["tells"]
    assert tuple(tells) in {tuple(one[1:]) for one in found}, found


NO_PLAN = {
    "a name that no plan takes": {"BGP_NEIGHBOR": {"Interface name with blanks": {"asn": "65000"}}},
    "a source of IPv6": {"VXLAN_TUNNEL": {"vtep": {"src_ip": "2001:db8::1"}}},
    "a source that is no address": {"VXLAN_TUNNEL": {"vtep": {"src_ip": "leaf1"}}},
    "a hold time of a year": {"BGP_NEIGHBOR": {"default|10.0.0.0": {"holdtime": "31536000"}}},
}


@pytest.mark.parametrize("name", NO_PLAN)
def test_what_no_plan_takes_does_not_end_the_check(name: str, tmp_path: Path) -> None:
    fabric = overlay()
    fabric["leaf1"] = patched(fabric["leaf1"], NO_PLAN[name])
    assert judge_files(write_fabric(fabric, tmp_path), ()).was_judged
