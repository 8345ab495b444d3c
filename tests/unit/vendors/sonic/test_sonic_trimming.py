"""SWITCH_TRIMMING and packet_discard_action: what a lab makes of them, what is wrong with them, and the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.switch import SwitchPort, Trimming
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.export import export_switch
from fabriclab.vendors.sonic.lab import ImportedLab, import_lab
from fabriclab.vendors.sonic.read import parse_config_db

GOLDEN = ROOT / "tests" / "golden" / "sonic" / "trident-3.json"
LOSSY = (0, 1, 2, 5, 6)
"""The queues of its egress_lossy_profile."""
GLOBAL = {"size": "256", "dscp_value": "48", "queue_index": "6"}


def config(trimming: dict[str, str] | None = None, **tables: Any) -> dict[str, Any]:
    """Return the file of a Trident 3 whose lossy queues trim."""
    found: dict[str, Any] = json.loads(GOLDEN.read_text())
    found["BUFFER_PROFILE"]["egress_lossy_profile"]["packet_discard_action"] = "trim"
    found["SWITCH_TRIMMING"] = {"GLOBAL": GLOBAL if trimming is None else trimming}
    return found | tables


def imported(file: dict[str, Any]) -> ImportedLab:
    return import_lab(parse_config_db(json.dumps(file, indent=1).encode(), "c.json"))


def plan_of(lab: ImportedLab, directory: Path) -> Plan:
    for name, text in lab.files.items():
        (directory / name).write_text(text, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


def ports(plan: Plan) -> list[SwitchPort]:
    switch = next(node for node in plan.nodes if node.switch is not None)
    return [port.switch_port for port in switch.ports if port.switch_port is not None]


def trimming_of(file: dict[str, Any], directory: Path) -> list[Trimming | None]:
    return [port.trimming for port in ports(plan_of(imported(file), directory))]


def test_lossy_queues_trim_and_lossless_ones_do_not(tmp_path: Path) -> None:
    file = config({**GLOBAL, "queue_index": "dynamic"})
    for port in ports(plan_of(imported(file), tmp_path)):
        assert port.trimming == Trimming(size_bytes=256, dscp=48, queue=None)
        assert {queue.index for queue in port.queues if queue.trims} == set(LOSSY)


def test_without_a_size_it_is_that_of_sai(tmp_path: Path) -> None:
    file = config({"dscp_value": "10", "queue_index": "7"})
    assert set(trimming_of(file, tmp_path)) == {Trimming(size_bytes=128, dscp=10, queue=7)}


def test_from_tc_each_port_has_a_dscp_of_its_own(tmp_path: Path) -> None:
    file = config(
        {"size": "256", "dscp_value": "from-tc", "tc_value": "5", "queue_index": "7"},
        TC_TO_DSCP_MAP={"host": {"5": "10"}, "spine": {"5": "20", "4": "1"}},
    )
    names = list(file["PORT_QOS_MAP"])
    for number, name in enumerate(names[:3]):
        file["PORT_QOS_MAP"][name]["tc_to_dscp_map"] = "spine" if number == 0 else "host"
    lab = imported(file)
    found = [one and one.dscp for one in (port.trimming for port in ports(plan_of(lab, tmp_path)))]
    assert sorted(found, key=str) == [10, 10, 20, None]
    (note,) = [note for note in lab.notes if "without a tc_to_dscp_map that has class 5" in note]
    assert names[3] in note and names[0] not in note


def test_an_action_without_the_table_drops(tmp_path: Path) -> None:
    file = config()
    del file["SWITCH_TRIMMING"]
    lab = imported(file)
    assert not any(queue.trims for port in ports(plan_of(lab, tmp_path)) for queue in port.queues)
    assert any("packet_discard_action trim without SWITCH_TRIMMING: it drops" in note for note in lab.notes)


def test_the_table_without_an_action_says_nothing(tmp_path: Path) -> None:
    file = json.loads(GOLDEN.read_text()) | {"SWITCH_TRIMMING": {"GLOBAL": GLOBAL}}
    assert set(trimming_of(file, tmp_path)) == {None}


@pytest.mark.parametrize(
    ("trimming", "message"),
    [
        ({"size": "32", "dscp_value": "48"}, "size: '32': must be a whole number of bytes from 64 to 65535"),
        ({"dscp_value": "64"}, "dscp_value: '64': must be a whole number from 0 to 63"),
        ({"dscp_value": "1", "queue_index": "8"}, "queue_index: '8': must be a whole number from 0 to 7"),
        ({"size": "256"}, "dscp_value: missing; write the DSCP of trimmed packets, such as 48, or from-tc"),
        ({"dscp_value": "from-tc"}, "tc_value: missing, although dscp_value is from-tc"),
    ],
)
def test_wrong_values_are_named_with_their_place(trimming: dict[str, str], message: str) -> None:
    with pytest.raises(LabError) as told:
        imported(config(trimming))
    assert f"SWITCH_TRIMMING|GLOBAL|{message}" in str(told.value)


def test_a_map_without_the_class_is_named() -> None:
    file = config({"dscp_value": "from-tc", "tc_value": "5"}, TC_TO_DSCP_MAP={"host": {"4": "1"}})
    next(iter(file["PORT_QOS_MAP"].values()))["tc_to_dscp_map"] = "host"
    with pytest.raises(LabError, match=r"TC_TO_DSCP_MAP\|host\|5: missing, although trimmed packets have class 5"):
        imported(file)


def test_another_action_is_refused() -> None:
    file = config()
    file["BUFFER_PROFILE"]["egress_lossy_profile"]["packet_discard_action"] = "mirror"
    with pytest.raises(LabError, match="packet_discard_action: 'mirror' is unknown; valid here: drop, trim"):
        imported(file)


def test_the_export_says_the_same_again(tmp_path: Path) -> None:
    plan = plan_of(imported(config({**GLOBAL, "queue_index": "7"})), tmp_path)
    switch = next(node for node in plan.nodes if node.switch is not None)
    tables = export_switch(switch, plan).tables
    assert tables["SWITCH_TRIMMING"] == {"GLOBAL": {"size": "256", "dscp_value": "48", "queue_index": "7"}}
    actions = {name: profile.get("packet_discard_action") for name, profile in tables["BUFFER_PROFILE"].items()}
    assert set(actions.values()) == {None, "trim"}
