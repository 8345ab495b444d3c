"""Mistakes as operators make them, in a T0 that is sound: a digit, a unit, a name, an entry that is forgotten.

`tests/golden/sonic-check/mistakes.json` has each as a JSON merge patch (RFC 7386). Nearly all are found; those that no
file shows by itself are named here, with the reason.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from repository import ROOT
from sonic_traps import DIRECTORY, patched

from fabriclab.vendors.sonic.judge import judge_config_db

MISTAKES: dict[str, dict[str, Any]] = json.loads((DIRECTORY / "mistakes.json").read_text(encoding="utf-8"))
T0 = json.loads((ROOT / "tests" / "golden" / "sonic" / "t0.json").read_text(encoding="utf-8"))
SILENT = {
    "wred probability of 100": "a step is written so, and DCTCP asks for one",
    "static pool with dynamic profiles": "SONiC ships it so (Arista 7060X6)",
    "watchdog only alerts": "a choice that is offered",
    "all strict": "sessions and storage may be meant to go first",
    "AS numbers of the uplinks differ": "a T1 has an AS number of its own in many fabrics",
    "hostname missing": "SONiC writes sonic",
    "mac missing": "the switch has one of its own",
}


def findings(tables: dict[str, Any]) -> set[tuple[str, str, str]]:
    judgement = judge_config_db(json.dumps(tables, indent=2).encode(), "config_db.json")
    return {(one.severity, one.rule, one.where) for one in judgement.findings}


SOUND = findings(T0)


def test_the_t0_is_sound() -> None:
    assert {severity for severity, *_ in SOUND} <= {"note"}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told(name: str) -> None:
    found = findings(patched(T0, MISTAKES[name])) - SOUND
    told = {severity for severity, *_ in found} - {"note"}
    assert (not told) == (name in SILENT), found


def test_a_mistake_is_told_where_it_is() -> None:
    found = findings(patched(T0, MISTAKES["duplicate lanes"])) - SOUND
    assert found == {("error", "port-lanes", "PORT|Ethernet8|lanes")}
