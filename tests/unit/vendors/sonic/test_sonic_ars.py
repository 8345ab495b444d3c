"""ARS_PROFILE, ARS_OBJECT, ARS_INTERFACE, ARS_NEXTHOP: what a lab makes of them, what is wrong with them,
and the way back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT

from fabriclab.formats.plan.load_balancing import LoadBalancing
from fabriclab.formats.plan.model import Plan
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.export import export_switch
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import parse_config_db
from fabriclab.vendors.sonic.read.config_db import ConfigDb

LAB = ROOT / "labs" / "sonic-leaf-spine"
FRAME = 9_114
"""Of an MTU of 9,100 bytes."""
OBJECT = {"assign_mode": "per_packet_quality", "flowlet_idle_time": "100", "max_flows": "1024"}
UPLINKS = ("Ethernet8", "Ethernet12")


def ars(profile: dict[str, str] | None = None, **tables: Any) -> dict[str, Any]:
    """Return the tables of a switch all of whose routes have one object."""
    of_all = {"ars_nhg_path_selector_mode": "global", "default_ars_object": "spray"}
    return {"ARS_PROFILE": {"p": of_all | (profile or {})}, "ARS_OBJECT": {"spray": OBJECT}} | tables


def text(tables: dict[str, Any]) -> str:
    file: dict[str, Any] = json.loads((LAB / "leaf1.json").read_text())
    return json.dumps(file | tables, indent=1)


def config(tables: dict[str, Any]) -> ConfigDb:
    return parse_config_db(text(tables).encode(), "leaf1.json")


def plan_of(tables: dict[str, Any], directory: Path, overrides: dict[str, str] | None = None) -> Plan:
    """Return the plan of the lab whose leaf1 has these tables as well."""
    if not (directory / "lab").exists():
        shutil.copytree(LAB, directory / "lab")
    (directory / "lab" / "leaf1.json").write_text(text(tables))
    return resolve_plan(parse_lab(directory / "lab"), overrides or {})


def choice(plan: Plan, node: str = "leaf1") -> LoadBalancing | None:
    return plan.node(node).load_balancing


def test_an_object_of_all_routes_is_the_switch_s_choice(tmp_path: Path) -> None:
    plan = plan_of(ars(), tmp_path)
    assert choice(plan) == LoadBalancing(
        mode="packet-quality",
        hash_seed=None,
        idle_ns=100_000,
        max_flows=1024,
        load_min_bytes=0,
        load_max_bytes=6 * FRAME,
    )
    assert choice(plan, "leaf2") is None


def test_without_values_it_is_flowlets_with_the_defaults_of_the_design(tmp_path: Path) -> None:
    found = choice(plan_of(ars(ARS_OBJECT={"spray": {}}), tmp_path))
    assert found is not None
    assert (found.mode, found.idle_ns, found.max_flows) == ("flowlet-quality", 256_000, 512)


def test_bounds_of_the_load_are_taken(tmp_path: Path) -> None:
    bounds = {"current_load_min_value": "1000", "current_load_max_value": "60000"}
    found = choice(plan_of(ars(bounds), tmp_path))
    assert found is not None and (found.load_min_bytes, found.load_max_bytes) == (1_000, 60_000)


def test_the_experiment_overrides_the_file_key_by_key(tmp_path: Path) -> None:
    found = choice(plan_of(ars(), tmp_path, {"switches.default.load_balancing.mode": "flowlet-random"}))
    assert found is not None and (found.mode, found.idle_ns) == ("flowlet-random", 100_000)


def test_without_the_tables_the_plan_is_that_of_the_mode_flow(tmp_path: Path) -> None:
    by_hash = plan_of(ars(), tmp_path, {"switches.leaf1.load_balancing.mode": "flow"})
    assert choice(by_hash) is None
    assert by_hash.nodes == plan_of({}, tmp_path).nodes


def test_listed_interfaces_use_their_object() -> None:
    interfaces: dict[str, dict[str, str]] = {port: {} for port in UPLINKS}
    profile = {"ars_nhg_path_selector_mode": "interface"}
    found = config(ars(profile, ARS_INTERFACE=interfaces)).adaptive_routing
    assert found.object is not None and found.object.name == "spray" and found.notes == ()


def test_an_uplink_that_is_not_listed_is_told() -> None:
    profile = {"ars_nhg_path_selector_mode": "interface"}
    (note,) = config(ars(profile, ARS_INTERFACE={"Ethernet8": {}})).adaptive_routing.notes
    assert note.startswith("ARS_INTERFACE without Ethernet12, which lead to BGP neighbours")


def test_a_next_hop_that_is_not_listed_is_told() -> None:
    profile = {"ars_nhg_path_selector_mode": "nexthop"}
    found = config(ars(profile, ARS_NEXTHOP={"default|10.0.0.0": {}})).adaptive_routing
    assert found.object is not None
    assert found.notes[0].startswith("ARS_NEXTHOP without 10.0.0.2, which lead to BGP neighbours")


def test_of_several_objects_that_of_most_interfaces_is_taken() -> None:
    interfaces = {"Ethernet0": {"ars_obj_name": "other"}, "Ethernet8": {}, "Ethernet12": {}}
    tables = ars({"ars_nhg_path_selector_mode": "interface"}, ARS_INTERFACE=interfaces)
    tables["ARS_OBJECT"] = {"other": {}, "spray": OBJECT}
    found = config(tables).adaptive_routing
    assert found.object is not None and found.object.name == "spray"
    assert found.notes == ("ARS_OBJECT other, spray are in use; a switch of a lab has one for all its routes: spray",)


@pytest.mark.parametrize(
    ("tables", "note"),
    [
        (ars({"ipv4_enable": "false"}), "ARS_PROFILE: ipv4_enable is false: next hops are chosen by hash"),
        (ars({"ars_nhg_path_selector_mode": "interface"}), "ARS_INTERFACE is empty: next hops are chosen by hash"),
        ({"ARS_OBJECT": {"spray": OBJECT}}, "ARS_OBJECT without ARS_PROFILE: next hops are chosen by hash"),
    ],
)
def test_tables_that_do_nothing_are_told(tables: dict[str, Any], note: str) -> None:
    found = config(tables).adaptive_routing
    assert found.object is None and found.notes == (note,)


def test_what_a_lab_does_not_have_is_left_out_with_its_reason() -> None:
    tables = ars(
        {"algorithm": "ewma", "sampling_interval": "16", "past_load_weight": "16", "future_load_weight": "16"},
        ARS_INTERFACE={"Ethernet8": {"scaling_factor": "10"}},
        ARS_PORTCHANNEL={"PortChannel1": {}},
    )
    tables["ARS_OBJECT"] = {"spray": OBJECT | {"alternative_path_cost": "1"}}
    why = {one.what: one.why for one in config(tables).left_out}
    loads = "ARS_PROFILE: algorithm, sampling_interval, past_load_weight, future_load_weight"
    assert "nothing is sampled or averaged" in why[loads]
    assert "compared in bytes" in why["ARS_INTERFACE: scaling_factor"]
    assert "none is an alternative" in why["ARS_OBJECT: alternative_path_cost"]
    assert "by hash in any mode" in why["ARS_PORTCHANNEL"]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            ars({"default_ars_object": "sprai"}),
            "ARS_PROFILE|p|default_ars_object: 'sprai' is not a ARS_OBJECT; did you mean 'spray'?",
        ),
        (
            {"ARS_PROFILE": {"p": {"ars_nhg_path_selector_mode": "global"}}, "ARS_OBJECT": {"spray": OBJECT}},
            "ARS_PROFILE|p|default_ars_object: missing, although ars_nhg_path_selector_mode is global",
        ),
        (
            ars(ARS_OBJECT={"spray": {"assign_mode": "per_packet_random"}}),
            "ARS_OBJECT|spray|assign_mode: 'per_packet_random' is unknown; did you mean 'per_packet_quality'?",
        ),
        (
            ars(ARS_OBJECT={"spray": {"flowlet_idle_time": "4000"}}),
            "ARS_OBJECT|spray|flowlet_idle_time: '4000': must be a whole number of us from 2 to 2047",
        ),
        (
            ars({"current_load_min_value": "9", "current_load_max_value": "9"}),
            "ARS_PROFILE|p|current_load_max_value: not above current_load_min_value, 9; write more",
        ),
        (ars(ARS_INTERFACE={"Ethernet1": {}}), "ARS_INTERFACE|Ethernet1: is not a port of PORT"),
    ],
)
def test_wrong_values_are_named_with_their_place(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(LabError) as told:
        config(tables)
    assert message in str(told.value)


def test_a_lab_made_from_one_file_has_the_key(tmp_path: Path) -> None:
    for name, content in import_lab(config(ars())).files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = choice(resolve_plan(parse_lab(tmp_path), {}))
    assert found is not None and (found.mode, found.idle_ns, found.max_flows) == ("packet-quality", 100_000, 1024)


def test_the_export_says_the_same_again(tmp_path: Path) -> None:
    plan = plan_of(ars(), tmp_path)
    tables = export_switch(plan.node("leaf1"), plan).tables
    again = plan_of({name: tables[name] for name in ("ARS_PROFILE", "ARS_OBJECT")}, tmp_path)
    assert choice(again) == choice(plan)


def test_the_export_tells_what_sonic_has_no_word_for(tmp_path: Path) -> None:
    words = {"mode": "packet-random", "hash_seed": "7"}
    plan = plan_of({}, tmp_path, {f"switches.leaf1.load_balancing.{name}": word for name, word in words.items()})
    exported = export_switch(plan.node("leaf1"), plan)
    assert not any(table.startswith("ARS") for table in exported.tables)
    told = " ".join(exported.unsaid)
    assert "mode packet-random; SONiC's ARS chooses by quality only" in told
    assert exported.tables["DEVICE_METADATA"]["localhost"]["ecmp_hash_seed"] == "6"
