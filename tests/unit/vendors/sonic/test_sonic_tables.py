"""docs/sonic-tables.md: each table of SONiC's YANG models once, with what it does here; and that this is true."""

from __future__ import annotations

import json
import os
import re
from collections import Counter

import pytest
from repository import ROOT
from sonic_traps import patched, sound
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.vendors.sonic.read import parse_config_db
from fabriclab.vendors.sonic.read.acting import FIELDS, TABLES
from fabriclab.vendors.sonic.read.known_tables import OF_MODELS
from fabriclab.vendors.sonic.read.left_out import READ
from fabriclab.vendors.sonic.read.map_effects import MAP_FIELDS
from fabriclab.vendors.sonic.read.table_effects import TableEffect, table_effects

PAGE = ROOT / "docs" / "sonic-tables.md"
EFFECTS = table_effects()
HEAD = """# SONiC: every table of CONFIG_DB

The list has the {count} tables of SONiC's YANG models (sonic-buildimage, `src/sonic-yang-models`), and what fabriclab
does with each. [SONiC](../images/sonic/README.md) explains it. The second column says

- **acts** ({acts}): the table acts in a lab, as in the switch. Fields of it that do not are told by `sonic check` and
  by an import;
- **judged** ({judged}): rules of `sonic check` ask it, but a lab does not have it;
- **told** ({told}): it acts in the switch and not in a lab. `sonic check` prints `not judged`, and no verdict of
  `validate` that depends on it is a pass;
- **no effect** ({none}): it changes no packet of hosts, neither its path nor its queue. An import lists it as left out.

The page is made of `fabriclab/vendors/sonic/read/table_effects.py`. A test compares the list with the models.

| table | here | what it is in a lab, or why not |
|---|---|---|
"""


FIELDS_HEAD = """
## ROUTE_MAP, field by field

The fields of `sonic-route-map.yang`, as frrcfgd hands them to FRR's bgpd. **judged** is a field that acts on nothing,
and of which `sonic check` warns. A map of which a field is told does not act at all.

| field | here | what it is in a lab, or why not |
|---|---|---|
"""


def page() -> str:
    counts = Counter(one.effect for one in EFFECTS)
    head = HEAD.format(count=len(EFFECTS), **{str(word): count for word, count in counts.items()})
    words = {"none": "no effect"}
    tables = "".join(f"| {one.table} | {words.get(one.effect, one.effect)} | {one.what} |\n" for one in EFFECTS)
    fields = "".join(
        f"| {name} | {words.get(one.effect, one.effect)} | {one.what} |\n" for name, one in MAP_FIELDS.items()
    )
    return head + tables + FIELDS_HEAD + fields


def test_the_page_is_the_list() -> None:
    if os.environ.get("FABRICLAB_ACCEPT"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(), "FABRICLAB_ACCEPT=1 writes the page"


def test_each_field_of_a_route_map_stands_once() -> None:
    model = (ROOT / "tests" / "golden" / "sonic-yang-models" / "sonic-route-map.yang").read_text(encoding="utf-8")
    entries = model.partition("container ROUTE_MAP {")[2]
    assert list(MAP_FIELDS) == re.findall(r"^ +leaf(?:-list)? (\w+) *\{", entries, re.MULTILINE)


def test_each_table_of_the_models_stands_once() -> None:
    assert Counter(one.table for one in EFFECTS) == Counter(OF_MODELS)


def test_a_table_that_acts_is_read() -> None:
    """The dynamic model reads one more."""
    acting = {one.table for one in EFFECTS if one.effect == "acts"}
    assert acting == (OF_MODELS & set(READ)) | {"LOSSLESS_TRAFFIC_PATTERN"}


def named(one: TableEffect) -> str:
    """Return the table that an entry of this table alone is told as; empty: it is not told."""
    return one.table if one.table in TABLES else ""


@pytest.mark.parametrize("one", [one for one in EFFECTS if one.effect != "acts"], ids=lambda one: str(one.table))
def test_an_entry_is_told_as_the_page_says(one: TableEffect) -> None:
    data = json.dumps(patched(sound(), {one.table: {"x": {"y": "1"}}})).encode()
    told = {found.path[0] for found in parse_config_db(data, "c.json").not_emulated}
    assert told == ({named(one)} if named(one) else set())
    assert (one.effect == "told") >= bool(named(one))


@pytest.mark.parametrize("one", [one for one in EFFECTS if one.effect == "told"], ids=lambda one: str(one.table))
def test_what_is_told_without_an_entry_is_told_by_another_table(one: TableEffect) -> None:
    """By its own field, a field that the text quotes, or the table that stands in the text."""
    if one.table not in TABLES:
        fields = {name for _, name in FIELDS}
        by_field = any(f"`{name}`" in one.what for name in fields)
        by_table = one.what.startswith(tuple(f"with {table}: " for table in TABLES))
        assert by_field or by_table or "PROFILE_LIST" in one.table


def test_the_command_lists_them() -> None:
    lines = CliRunner().invoke(app, ["sonic", "check", "--list-tables"]).output.splitlines()
    assert [line.split()[0] for line in lines] == [one.table for one in EFFECTS]
    assert "BUFFER_POOL                          acts       pools of memory, shared headroom" in lines
