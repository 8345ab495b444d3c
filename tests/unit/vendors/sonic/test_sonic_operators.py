"""Mistakes of operators, written by somebody who had not read the rules, in labs/sonic-leaf-spine and labs/ai-sonic.

`tests/golden/sonic-fabric/operators.json` has each as JSON merge patches (RFC 7386) by switch, and what has to tell it:
rule, switch and place. `more` are sound additions to the fabric, such as an MCLAG, that some of them need.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT
from sonic_scale import Tables, write_fabric
from sonic_traps import patched

from fabriclab.vendors.sonic.fabric import judge_files
from fabriclab.vendors.sonic.judge import judge_config_db

DOCUMENT: dict[str, Any] = json.loads((ROOT / "tests" / "golden" / "sonic-fabric" / "operators.json").read_text())
MISTAKES = DOCUMENT["mistakes"]
SOUND = sorted({(one["lab"], one.get("more", "")) for one in MISTAKES.values()})
Found = set[tuple[str, str, str]]


def fabric(lab: str, more: str) -> dict[str, Tables]:
    """Return the tables of each switch of a lab, with a sound addition."""
    files = sorted((ROOT / "labs" / lab).glob("*.json"))
    plain = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}
    return with_changes(plain, DOCUMENT["more"].get(more, {}))


def with_changes(tables: dict[str, Tables], changes: dict[str, Any]) -> dict[str, Tables]:
    return {name: patched(one, changes.get(name, {})) for name, one in tables.items()}


def findings(tables: dict[str, Tables], directory: Path) -> Found:
    """Return rule, switch and place of all errors and warnings in the files and between them."""
    files = write_fabric(tables, directory)
    alone = {file.stem: judge_config_db(file.read_bytes(), str(file)).findings for file in files}
    between = {Path(file).stem: found for file, found in judge_files(files, ()).findings.items()}
    return {
        (one.rule, name, one.where)
        for every in (alone, between)
        for name, found in every.items()
        for one in found
        if one.severity != "note"
    }


@pytest.mark.parametrize(("lab", "more"), SOUND)
def test_the_fabric_is_sound(lab: str, more: str, tmp_path: Path) -> None:
    assert findings(fabric(lab, more), tmp_path) == set()


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_where_it_is(name: str, tmp_path: Path) -> None:
    one = MISTAKES[name]
    found = findings(with_changes(fabric(one["lab"], one.get("more", "")), one["changes"]), tmp_path)
    assert tuple(one["tells"]) in found, found
