"""The files of the lab sonic-leaf-spine: what they are made of, and that an export of the lab gives them again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from repository import ROOT

from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.export import export_switch
from fabriclab.vendors.sonic.judge import judge_config_db

LAB = ROOT / "labs" / "sonic-leaf-spine"
SPINES, LEAVES = ("spine1", "spine2"), ("leaf1", "leaf2", "leaf3", "leaf4")
SWITCH_TABLES = (
    "BUFFER_POOL",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "QUEUE",
    "PFC_WD",
    "CABLE_LENGTH",
    "INTERFACE",
    "LOOPBACK_INTERFACE",
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return resolve_plan(parse_lab(LAB), {})


def tables(switch: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((LAB / f"{switch}.json").read_text())
    return read


@pytest.mark.parametrize("switch", [*SPINES, *LEAVES])
def test_the_check_finds_nothing(switch: str) -> None:
    assert [one.rule for one in judge_config_db((LAB / f"{switch}.json").read_bytes(), f"{switch}.json").findings] == []


def test_the_spines_are_bgpcfgds_and_the_leaves_frrcfgds() -> None:
    for switch in SPINES:
        assert tables(switch)["DEVICE_METADATA"]["localhost"]["bgp_asn"] == "64512" and "BGP_GLOBALS" not in tables(
            switch
        )
    for switch in LEAVES:
        assert tables(switch)["DEVICE_METADATA"]["localhost"][
            "frr_mgmt_framework_config"
        ] == "true" and "BGP_GLOBALS" in tables(switch)


@pytest.mark.parametrize("switch", [*SPINES, *LEAVES])
def test_an_export_of_the_lab_is_the_file(switch: str, plan: Plan) -> None:
    exported = json.loads(export_switch(plan.node(switch), plan).text)
    written = tables(switch)
    for table in (*SWITCH_TABLES, *(name for name in written if name.startswith("BGP"))):
        assert exported[table] == written[table], table
