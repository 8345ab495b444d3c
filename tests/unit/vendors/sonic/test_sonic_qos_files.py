"""The files of the lab sonic-qos: profiles are the imports of their config_db.json, each mistake is one,
and the check finds it alone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from repository import ROOT

from fabriclab.vendors.sonic.judge import judge_config_db
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import parse_config_db
from fabriclab.vendors.sonic.read.chips import UNKNOWN

LAB = ROOT / "labs" / "sonic-qos"
GOOD = "leaf"
MISTAKES = {
    "leaf-ecn-without-wred": ("ecn-without-wred", "error", {"WRED_PROFILE"}),
    "leaf-threshold-out-of-reach": ("wred-above-xoff", "error", {"BUFFER_PROFILE"}),
    "leaf-pfc-without-lossless-group": ("pfc-lossy-group", "error", {"BUFFER_PG"}),
}
"""The rule that finds it, how bad it is, and the one table that differs."""


def tables(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((LAB / f"{name}.json").read_text())
    return read


def test_every_file_is_good_or_has_a_mistake() -> None:
    assert (
        {path.stem for path in LAB.glob("*.json")} == {GOOD, *MISTAKES} == {path.stem for path in LAB.glob("leaf*.yml")}
    )


@pytest.mark.parametrize("name", [GOOD, *MISTAKES])
def test_profiles_are_imports(name: str) -> None:
    config = parse_config_db((LAB / f"{name}.json").read_bytes(), f"{name}.json")
    lab = import_lab(replace(config, chip=UNKNOWN), name)
    assert lab.files[f"{name}.yml"] == (LAB / f"{name}.yml").read_text()


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_and_is_found(name: str) -> None:
    rule, severity, changed = MISTAKES[name]
    good, bad = tables(GOOD), tables(name)
    assert good.keys() == bad.keys() and {table for table in good if good[table] != bad[table]} == changed
    assert [(one.rule, one.severity) for one in found(name)] == [(rule, severity)]


def test_the_good_file_has_nothing_but_notes() -> None:
    assert found(GOOD) == []


def found(name: str) -> list[Any]:
    """Return errors and warnings."""
    judgement = judge_config_db((LAB / f"{name}.json").read_bytes(), f"{name}.json")
    return [one for one in judgement.findings if one.severity != "note"]
