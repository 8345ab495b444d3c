"""SWITCH_HASH and the seed of the hash: what Linux takes of them, and two tiers that hash alike."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from permutation_lab import write_fat_tree
from sonic_vs_labs import configs_of, plan_of, write_lab

from fabriclab.compile import compile_node
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.export import export_switch
from fabriclab.vendors.sonic.fabric import judge_files
from fabriclab.vendors.sonic.lab import import_fabric
from fabriclab.vendors.sonic.read.read import parse_config_db

Tables = dict[str, Any]
EXPERIMENT = """
title: Fat-tree
routing: {protocol: bgp-unnumbered}
switches: {default: {profile: trident-3, scale: 1/100}}
traffic: {a: {kind: long, senders: [h1-1-1], receiver: h4-2-2, stop: 1 s}}
"""
FIVE = ["SRC_IP", "DST_IP", "IP_PROTOCOL", "L4_SRC_PORT", "L4_DST_PORT"]
"""The five-tuple, bits 55 of Linux."""


@cache
def stock() -> str:
    with TemporaryDirectory() as scratch:
        return json.dumps(configs_of(Path(scratch) / "stock"))


def lab_of(directory: Path, hashed: Tables, **device: str) -> Plan:
    """Return the plan of a lab with a leaf that has two links to its spine and hashes so."""
    directory.mkdir(exist_ok=True)
    configs = json.loads(stock())
    own = configs["leaf1"]
    own["DEVICE_METADATA"]["localhost"] |= device
    if hashed:
        own["SWITCH_HASH"] = {"GLOBAL": hashed}
    return plan_of(write_lab(directory / "lab", configs))


@pytest.mark.parametrize(
    ("fields", "bits"),
    [
        (FIVE, 55),
        (["SRC_IP", "DST_IP"], 3),
        (["L4_SRC_PORT", "ETHERTYPE", "VLAN_ID", "INNER_SRC_IP"], 16),
        (["SRC_IP", "IPV6_FLOW_LABEL"], 9),
        (None, None),
    ],
)
def test_fields_are_linuxs(tmp_path: Path, fields: list[str] | None, bits: int | None) -> None:
    plan = lab_of(tmp_path, {} if fields is None else {"ecmp_hash": fields})
    chosen = plan.node("leaf1").load_balancing
    assert (None if chosen is None else chosen.hash_fields) == bits
    assert parse_plan_json(plan_json(plan)) == plan
    assert '"hash_fields"' in plan_json(plan) if bits else '"hash_fields"' not in plan_json(plan)
    assert not any("SWITCH_HASH" in one for one in plan.warnings)


def test_the_seed_is_that_of_the_file_and_0_is_one(tmp_path: Path) -> None:
    seeds = {}
    for seed, offset in (("0", ""), ("7", ""), ("7", "2")):
        plan = lab_of(
            tmp_path / f"{seed}-{offset}", {}, ecmp_hash_seed=seed, **({"namespace_id": offset} if offset else {})
        )
        chosen = plan.node("leaf1").load_balancing
        seeds[seed, offset] = None if chosen is None else chosen.hash_seed
    assert seeds == {("0", ""): 1, ("7", ""): 8, ("7", "2"): 10}


@pytest.mark.parametrize(
    ("kind", "seed"), [("ToRRouter", 0), ("LeafRouter", 10), ("SpineRouter", 25), ("UpperSpineRouter", 25), ("", 0)]
)
def test_sonics_own_seed_is_that_of_the_type(kind: str, seed: int) -> None:
    tables = {"PORT": {"Ethernet0": {"speed": "100000"}}, "DEVICE_METADATA": {"localhost": {"type": kind}}}
    found = parse_config_db(json.dumps(tables).encode(), "c.json").hash
    assert (found.seed, found.seed_in_switch) == (None, seed)


@pytest.mark.parametrize(
    ("hashed", "why"),
    [
        ({"ecmp_hash": ["SRC_IP", "IN_PORT"]}, "ecmp_hash SRC_IP,IN_PORT (leaf1.json"),
        ({"ecmp_hash": ["ETHERTYPE"]}, "nothing of it tells packets of a lab from each other"),
        ({"ecmp_hash_algorithm": "RANDOM"}, "the choice is a hash, which sends a flow one way"),
    ],
)
def test_what_linux_has_not_is_not_judged(tmp_path: Path, hashed: Tables, why: str) -> None:
    plan = lab_of(tmp_path, hashed)
    (told,) = (one for one in plan.warnings if "SWITCH_HASH" in one)
    assert why in told and "is not emulated" in told and plan.node("leaf1").load_balancing is None


def test_members_of_port_channels_are_chosen_by_the_five_tuple() -> None:
    base: Tables = {"PORT": {"Ethernet0": {"speed": "100000"}}, "PORTCHANNEL": {"PortChannel1": {}}}
    members: Tables = {"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}}}
    for tables, hashed, count in (
        ({**base, **members}, FIVE, 0),
        ({**base, **members}, ["SRC_IP"], 1),
        (base, ["SRC_IP"], 0),
    ):
        text = json.dumps({**tables, "SWITCH_HASH": {"GLOBAL": {"lag_hash": hashed}}}, indent=1)
        assert len(parse_config_db(text.encode(), "c.json").not_emulated) == count


@cache
def fat_tree() -> str:
    """Return the configurations of a fat-tree of twenty switches."""
    with TemporaryDirectory() as scratch:
        directory = Path(scratch) / "lab"
        write_fat_tree(directory, 4, rate_bps=10**9, delay_ns=500, mtu_bytes=9000)
        (directory / "experiment.yml").write_text(EXPERIMENT)
        plan = resolve_plan(parse_lab(directory), {})
        return json.dumps({node.name: export_switch(node, plan).text for node in plan.nodes if node.role == "switch"})


def test_an_export_has_seed_and_fields(tmp_path: Path) -> None:
    plan = lab_of(tmp_path, {"ecmp_hash": ["SRC_IP", "L4_DST_PORT"]}, ecmp_hash_seed="7")
    own = json.loads(export_switch(plan.node("leaf1"), plan).text)
    assert own["DEVICE_METADATA"]["localhost"]["ecmp_hash_seed"] == "7"
    assert own["SWITCH_HASH"] == {"GLOBAL": {"ecmp_hash": ["SRC_IP", "L4_DST_PORT"]}}


def alike(directory: Path, seeds: dict[str, str], fields: dict[str, list[str]]) -> set[str]:
    """Return the switches of a fat-tree, whose tiers have these seeds and fields, that hash as those behind them."""
    files = []
    for name, text in json.loads(fat_tree()).items():
        tables, tier = json.loads(text), name[:4].rstrip("1234")
        tables["DEVICE_METADATA"]["localhost"] |= {"ecmp_hash_seed": seeds[tier]} if tier in seeds else {}
        if tier in fields:
            tables["SWITCH_HASH"] = {"GLOBAL": {"ecmp_hash": fields[tier]}}
        files.append(directory / f"{name}.json")
        files[-1].write_text(json.dumps(tables, indent=1))
    found = judge_files(files, ()).findings
    assert {one.rule for every in found.values() for one in every} <= {"hash-seeds"}
    return {Path(file).stem for file, every in found.items() if every}


def test_tiers_of_one_seed_are_told_where_both_choose(tmp_path: Path) -> None:
    """An edge switch chooses among two aggregation switches, which choose among two cores each."""
    edges = {f"edge{pod}-{number}" for pod in range(1, 5) for number in (1, 2)}
    assert alike(tmp_path, {}, {}) == set()
    assert alike(tmp_path, {"edge": "10", "agg": "10"}, {}) == edges
    assert alike(tmp_path, {"edge": "3", "agg": "10"}, {}) == set()
    assert alike(tmp_path, {"edge": "10", "agg": "10"}, {"edge": ["SRC_IP"]}) == set()


def test_the_kernel_is_told_both(tmp_path: Path) -> None:
    for name, text in json.loads(fat_tree()).items():
        tables = json.loads(text)
        tables["DEVICE_METADATA"]["localhost"]["ecmp_hash_seed"] = "4"
        tables["SWITCH_HASH"] = {"GLOBAL": {"ecmp_hash": ["SRC_IP"]}}
        (tmp_path / f"{name}.json").write_text(json.dumps(tables, indent=1))
    fabric = import_fabric(sorted(tmp_path.glob("*.json")), "tree")
    lab = tmp_path / "lab"
    lab.mkdir()
    for file, data in fabric.files.items():
        (lab / file).parent.mkdir(parents=True, exist_ok=True)
        (lab / file).write_bytes(data)
    plan = resolve_plan(parse_lab(lab), {})
    settings = compile_node(plan.node("edge1-1"), plan).sysctl.splitlines()
    said = dict(line.split(" = ") for line in settings)
    assert said["net.ipv4.fib_multipath_hash_seed"] == "5"
    assert said["net.ipv4.fib_multipath_hash_fields"] == "1"
    assert said["net.ipv4.fib_multipath_hash_policy"] == "3"
