"""The words of findings: tables and fields that SONiC's YANG models have, and what a mistyped one was meant to be.

Advice is in CONFIG_DB's words, and nothing is said twice.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT
from sonic_traps import SOUND, patched, sound, trap
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.judge import judge_config_db
from fabriclab.vendors.sonic.read.known_tables import OF_MODELS
from fabriclab.vendors.sonic.read.left_out import READ

MODELS = ROOT / "tests" / "golden" / "sonic-yang-models"
LAB = ROOT / "labs" / "sonic-leaf-spine"
STATEMENT = re.compile(r"([A-Za-z0-9_:-]+(?:\s+[^\s{};]+)?)\s*\{|\}|;")
TABLE_DEPTH = 3
"""A module, its container, and a container for each table."""
KEYS = {"INTERFACE": "Ethernet0", "PORT": "Ethernet0", "PORT_QOS_MAP": "Ethernet0", "SWITCH_TRIMMING": "GLOBAL"}
"""An entry of each table whose key means something."""
OF_THE_KEY = frozenset(
    ("name", "port", "ifname", "ip-prefix", "ip_prefix", "prefix", "vrf_name", "afi_safi", "qindex", "pg_num")
)
"""Leaves that a model has for the words of a key."""
OF_A_CHASSIS = frozenset(("asic_name", "hostname"))


def statements(text: str) -> Iterator[list[list[str]]]:
    """Yield the statements that a leaf, or a container, is in, from the outside in."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"(?m)(^|\s)//.*$", "", text)
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    inside: list[list[str]] = []
    for match in STATEMENT.finditer(re.sub(r"'[^']*'", "''", text)):
        if match[0].endswith("{"):
            inside.append(match[1].split())
            yield inside
        elif match[0] == "}" and inside:
            inside.pop()


def models() -> dict[str, set[str]]:
    """Return the leaves of each table."""
    tables: dict[str, set[str]] = {}
    for model in MODELS.glob("*.yang"):
        for inside in statements(model.read_text(encoding="utf-8")):
            kinds = [words[0] for words in inside]
            if kinds[1:TABLE_DEPTH] == ["container", "container"]:
                leaves = tables.setdefault(inside[2][1], set())
                if kinds[-1] in ("leaf", "leaf-list"):
                    leaves.add(inside[-1][1])
    return {name: leaves for name, leaves in tables.items() if name[0].isupper()}


def rules(tables: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    findings = judge_config_db(json.dumps(tables).encode(), "c.json").findings
    return {one.where: (one.rule, one.severity, one.remedy) for one in findings}


def test_the_tables_are_those_of_the_models() -> None:
    assert models().keys() == OF_MODELS


@pytest.mark.parametrize("table", sorted(set(READ) & models().keys() - {"VLAN_MEMBER"}))
def test_a_field_of_a_model_gets_no_note(table: str) -> None:
    """A member of a VLAN needs a VLAN, and its only field is read with it."""
    key = KEYS.get(table) or next(iter(sound().get(table, {})), "x")
    leaves = models()[table] - OF_THE_KEY - OF_A_CHASSIS
    found = rules(patched(sound(), {table: {key: dict.fromkeys(leaves, "1")}}))
    assert not [where for where, (rule, *_) in found.items() if rule == "unknown-field"]


def test_a_field_that_no_model_has_gets_one() -> None:
    found = rules(patched(sound(), {"INTERFACE": {"Ethernet0": {"ipv6_use_link_local": "enable"}}}))
    assert found == {"INTERFACE|Ethernet0|ipv6_use_link_local": ("unknown-field", "note", "")}


@pytest.mark.parametrize(
    ("table", "severity", "remedy"),
    [
        ("BUFER_POOL", "warning", "did you mean 'BUFFER_POOL'?"),
        ("BGP_NEIGHBOUR", "error", "did you mean 'BGP_NEIGHBOR'?"),
        ("OUR_OWN", "note", ""),
    ],
)
def test_a_table_that_there_is_not(table: str, severity: str, remedy: str) -> None:
    """It is worse where the table that was meant is missing."""
    assert rules(patched(sound(), {table: {"a": {"b": "c"}}})) == {table: ("unknown-table", severity, remedy)}


@pytest.mark.parametrize("table", ["MGMT_PORT", "NTP_SERVER", "TELEMETRY_CLIENT", "STP", "OSPFV2_ROUTER", "bgpraw"])
def test_a_table_that_there_is(table: str) -> None:
    value = "" if table == "bgpraw" else {"a": {}}
    assert not [one for one in rules(patched(sound(), {table: value})).values() if one[0] == "unknown-table"]


def test_advice_for_a_lab_is_in_the_words_of_its_files(tmp_path: Path) -> None:
    for path in (*LAB.glob("*.json"), LAB / "topology.clab.yml", LAB / "experiment.yml"):
        shutil.copy(path, tmp_path)
    leaf = tmp_path / "leaf1.json"
    tables = patched(json.loads(leaf.read_text()), {"WRED_PROFILE": {"WRED": {"ecn": "ecn_none"}}})
    leaf.write_text(json.dumps(tables, indent=2))
    (warning,) = (one for one in resolve_plan(parse_lab(tmp_path), {}).warnings if "DCTCP fills" in one)
    assert warning.startswith("leaf1: QUEUE|wred_profile (queues.3): none is the setting for DCTCP")
    assert warning.endswith("; bind a WRED_PROFILE with ecn_all to that queue in QUEUE")


def test_a_reference_into_a_mistyped_table_names_it() -> None:
    tables = sound()
    tables["BUFER_POOL"] = tables.pop("BUFFER_POOL")
    text = str(judge_config_db(json.dumps(tables).encode(), "c.json").findings)
    assert "is not a BUFFER_POOL; the file has BUFER_POOL: did you mean BUFFER_POOL?" in text


def test_what_is_true_of_all_files_is_said_once(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(trap("starvation")))
    text = CliRunner().invoke(app, ["sonic", "check", str(SOUND), str(bad)]).stdout
    assert text.count("memory is counted as SAI says it") == 1


def test_a_blank_behind_an_address_is_read_over_and_one_before_it_is_not() -> None:
    """As intfmgrd does: the length is read by stoi, the address by inet_pton."""
    found = rules(patched(sound(), {"INTERFACE": {"Ethernet0": {}, "Ethernet0|10.10.246.29/24 ": {}}}))
    assert found == {"INTERFACE|Ethernet0|10.10.246.29/24 ": ("blank-in-key", "warning", "take it off")}
    (rule, severity, _), *_ = rules(
        patched(sound(), {"INTERFACE": {"Ethernet0": {}, "Ethernet0| 10.10.246.29/24": {}}})
    ).values()
    assert (rule, severity) == ("malformed", "error")
