"""Each kind of traffic is a record and a file, and nothing of either is forgotten."""

from __future__ import annotations

import pkgutil
from dataclasses import fields

import pytest
from repository import ROOT

from fabriclab import traffic_kinds
from fabriclab.formats.plan.traffic import KINDS
from fabriclab.registry.applications import APPLICATIONS
from fabriclab.registry.traffic_kinds import load
from fabriclab.traffic_kinds.kind import Kind

GOLDEN = ROOT / "tests" / "golden" / "trace"
SHARED = {"kind", "words"}
"""Files of `fabriclab/traffic_kinds` that are no kinds."""


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_has_a_record_and_a_file(name: str) -> None:
    record, kind = KINDS[name], load(name)
    assert isinstance(kind, Kind)
    assert kind.keys.names[0] == "kind"
    assert [field.name for field in fields(record)][:2] == ["kind", "name"]


def test_every_file_is_a_kind() -> None:
    files = {module.name for module in pkgutil.iter_modules(traffic_kinds.__path__)} - SHARED
    assert files | {application.name for application in APPLICATIONS} == set(KINDS)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "trace"])
def test_a_kind_has_a_golden_trace(name: str) -> None:
    assert (GOLDEN / f"{name}.csv").is_file(), f"tests/support/sample_traffic.py has no traffic of kind {name}"
