"""The files of the lab ai-sonic: what their ARS tables do, that an export gives them again, and the README's table."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT

from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.export import export_switch
from fabriclab.vendors.sonic.judge import judge_config_db

LAB = ROOT / "labs" / "ai-sonic"
SPINES, LEAVES = ("spine1", "spine2"), ("leaf1", "leaf2", "leaf3", "leaf4")
SWITCHES = (*SPINES, *LEAVES)
TABLES = ("BUFFER_POOL", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PFC_WD", "CABLE_LENGTH", "INTERFACE", "BGP_NEIGHBOR")
LOSSLESS = 3


def tables(switch: str, directory: Path = LAB) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((directory / f"{switch}.json").read_text())
    return read


def plan_of(directory: Path, **overrides: str) -> Plan:
    return resolve_plan(parse_lab(directory), overrides)


def changed(directory: Path, assign_mode: str | None) -> Path:
    """Return a copy of the lab whose leaves have another assign_mode, or no ARS tables."""
    lab = Path(shutil.copytree(LAB, directory / "lab"))
    for leaf in LEAVES:
        file = {name: table for name, table in tables(leaf).items() if assign_mode or not name.startswith("ARS")}
        if assign_mode:
            file["ARS_OBJECT"]["uplinks"]["assign_mode"] = assign_mode
        (lab / f"{leaf}.json").write_text(json.dumps(file, indent=1))
    return lab


def test_the_check_finds_nothing() -> None:
    for switch in SWITCHES:
        file = f"{switch}.json"
        assert judge_config_db((LAB / file).read_bytes(), file).findings == (), file


def test_the_leaves_choose_by_packet_and_the_lossless_class_is_that_of_the_nics() -> None:
    plan = plan_of(LAB)
    for switch in SWITCHES:
        chosen = plan.node(switch).load_balancing
        assert (None if chosen is None else chosen.mode) == ("packet-quality" if switch in LEAVES else None)
        assert tables(switch)["DSCP_TO_TC_MAP"]["AZURE"]["26"] == str(LOSSLESS)
        assert {one["pfc_enable"] for one in tables(switch)["PORT_QOS_MAP"].values()} == {str(LOSSLESS)}


@pytest.mark.parametrize(("assign_mode", "variant"), [(None, "ecmp"), ("per_flowlet_quality", "flowlet")])
def test_a_variant_is_a_change_of_the_files(assign_mode: str | None, variant: str, tmp_path: Path) -> None:
    by_files = plan_of(changed(tmp_path, assign_mode))
    by_variant = plan_of(LAB, variant=variant)
    for leaf in LEAVES:
        assert by_files.node(leaf) == by_variant.node(leaf)


@pytest.mark.parametrize("switch", ["spine1", "leaf1"])
def test_an_export_of_the_lab_is_the_file(switch: str) -> None:
    plan = plan_of(LAB)
    exported = json.loads(export_switch(plan.node(switch), plan).text)
    for table in TABLES:
        assert exported[table] == tables(switch)[table], table
    assert ("ARS_OBJECT" in exported) == (switch in LEAVES)


def test_the_table_of_the_benchmark_has_the_numbers_of_its_file() -> None:
    with (LAB / "published" / "benchmark.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [
        f"| {row['test']} | {', '.join(filter(None, (row['number'], row['unit'])))} | {row['reference']} | "
        f"{float(row['before']):,.4g} | {float(row['after']):,.4g} |"
        for row in rows
    ]
    text = (LAB / "README.md").read_text()
    between = text[text.index("<!-- benchmark -->") : text.index("<!-- end benchmark -->")]
    assert [line for line in between.splitlines() if line.startswith("| ")][1:] == lines
