"""Every export is valid by SONiC's YANG models; what the models forbid is found."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import language
import pytest
from outside_files import MODELS, needs_yanglint
from repository import LABS
from shipped_labs import shipped_plan
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.yanglint import validate
from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.lab.switch.profile import profile_names
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.export import export_switch, yang_data
from fabriclab.vendors.sonic.export.tables import ConfigTables

pytestmark = needs_yanglint


NEWER = ("ARS_PROFILE", "ARS_OBJECT")
"""Tables of sonic-ars.yang (2025-10-30), which the copy of SONiC's models does not have."""


def complaints(tables: ConfigTables) -> str:
    data = yang_data({name: table for name, table in tables.items() if name not in NEWER})
    return "\n".join(validate(data.xml, data.modules, MODELS))


def leaf(profile: str, directory: Path) -> Plan:
    (directory / "topology.clab.yml").write_text(language.two_racks(), encoding="utf-8")
    pfc = "pfc: {priorities: [3, 4], watchdog: {detection: 200 ms}}"
    wred = (
        "queues: {1: {wred: {min: 30 KB, max: 90 KB, probability: 10 %}}, 2: {cir: 8 Mbps, cbs: 9 KB, pir: 80 Mbps, "
        "pbs: 10 KB}}"
    )
    text = (
        f"title: T\nswitches: {{default: {{profile: {profile}, {pfc}, {wred}}}}}\nrouting: {{protocol: "
        f"bgp-unnumbered}}\n"
    )
    (directory / "experiment.yml").write_text(text + language.ONE_FLOW, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


@pytest.mark.parametrize("lab", sorted(path.parent.name for path in LABS.glob("*/experiment.yml")))
def test_every_lab_is_valid(lab: str) -> None:
    plan = shipped_plan(lab)
    for node in plan.nodes:
        if node.role == "switch":
            assert complaints(export_switch(node, plan).tables) == ""


@pytest.mark.parametrize("profile", profile_names())
def test_every_profile_is_valid(profile: str, tmp_path: Path) -> None:
    plan = leaf(profile, tmp_path)
    assert complaints(export_switch(plan.node("leaf1"), plan).tables) == ""


@pytest.mark.parametrize(
    ("table", "key", "field", "value"),
    [
        ("BUFFER_PG", "Ethernet0|3-4", "profile", "nobody"),  # a leafref
        ("BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th", "8"),  # a range
        ("SCHEDULER", "scheduler.0", "pbs", "5"),  # a must: pbs needs pir
        ("PFC_WD", "Ethernet0", "detection_time", "50"),
        ("WRED_PROFILE", "WRED", "green_max_threshold", "1"),  # a must: max below min
        ("PORT", "Ethernet0", "speed", "fast"),
        ("PORT", "Ethernet0", "colour", "red"),  # no such leaf
        ("DSCP_TO_TC_MAP", "AZURE", "64", "0"),  # a pattern
    ],
)
def test_what_the_models_forbid_is_found(table: str, key: str, field: str, value: str, tmp_path: Path) -> None:
    plan = leaf("trident-3", tmp_path)
    tables: Any = copy.deepcopy(export_switch(plan.node("leaf1"), plan).tables)
    assert key in tables[table]
    tables[table][key][field] = value
    assert complaints(tables) != ""


def test_a_table_whose_model_is_missing_is_told() -> None:
    plan = shipped_plan("ai-sonic")
    data = yang_data(export_switch(plan.node("leaf1"), plan).tables)
    with pytest.raises(EngineError, match=r"sonic-ars\.yang is missing"):
        list(validate(data.xml, data.modules, MODELS))


def test_the_command_validates(tmp_path: Path) -> None:
    argv = ["sonic", "export", str(LABS / "link-failure"), "--node", "leaf1", "-o", str(tmp_path), "--yang-dir"]
    assert CliRunner().invoke(app, [*argv, str(MODELS)]).exit_code == 0
    wrong = CliRunner().invoke(app, [*argv, str(tmp_path), "--force"])
    assert (wrong.exit_code, "no YANG models there" in wrong.output) == (2, True)


def test_missing_models_are_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"sonic-port.yang is missing; SONiC's models are src/sonic-yang-models"):
        validate("", ("sonic-port",), tmp_path)


def test_a_table_that_the_export_does_not_write() -> None:
    with pytest.raises(ValueError, match="ACL_TABLE is not among those"):
        yang_data({"ACL_TABLE": {}})
