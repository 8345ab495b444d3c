"""Figures of a lab that is made of config_db.json: where each is from, and any number is a lab or a complaint."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import ROOT

from fabriclab.formats.plan.model import Plan
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.lab import ImportedLab, import_lab
from fabriclab.vendors.sonic.read import parse_config_db, read_config_db

GOLDEN = ROOT / "tests" / "golden" / "sonic"


PLATFORMS = {"trident-2": "td2", "trident-3": "td3", "jericho-2": "j2"}


def plan_of(lab: ImportedLab, directory: Path) -> Plan:
    for file, text in lab.files.items():
        (directory / file).write_text(text, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_figure_says_where_it_is_from(platform: str) -> None:
    lab = import_lab(read_config_db(GOLDEN / f"{platform}.json"))
    profile = lab.files[f"{PLATFORMS[platform]}.yml"]
    heads = ("format", "title", "source", "hardware", "cell")
    figures = [line for line in profile.splitlines() if ": " in line and not line.startswith(heads)]
    assert all("  # " in line for line in figures)
    assert len(figures) > 30


NUMBERS = st.integers(0, 2**40).map(str)


TABLES_TO_CHANGE = [
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "SCHEDULER",
    "WRED_PROFILE",
    "PORT",
    "PORT_QOS_MAP",
    "CABLE_LENGTH",
    "BGP_NEIGHBOR",
    "INTERFACE",
]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(PLATFORMS)), st.data())
def test_a_changed_file_is_a_lab_or_a_complaint(platform: str, data: st.DataObject) -> None:
    """Any number leads to a lab that has a plan, or to a complaint: about this file,
    or by the language about the lab's."""
    config = json.loads((GOLDEN / f"{platform}.json").read_text())
    table = data.draw(st.sampled_from([name for name in TABLES_TO_CHANGE if config.get(name)]))
    key = data.draw(st.sampled_from(sorted(config[table])))
    fields = config[table][key]
    field = data.draw(st.sampled_from(sorted(fields) or ["x"]))
    if data.draw(st.booleans()):
        fields[field] = data.draw(NUMBERS)
    else:
        fields.pop(field, None)
    try:
        lab = import_lab(parse_config_db(json.dumps(config).encode(), "c.json"))
    except LabError as error:
        assert all(problem.file == "c.json" for problem in error.mistakes)
        return
    with tempfile.TemporaryDirectory() as name, contextlib.suppress(LabError):
        plan_of(lab, Path(name))
