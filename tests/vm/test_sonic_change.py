"""`fabriclab sonic diff --run`: both versions of a fabric are emulated with the same traffic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sonic_scale import leaf_spine, write_fabric
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.engine.artefacts import Artefacts

NAMES = ["in-cast", "failure of a link"]


@pytest.mark.covered
@pytest.mark.slow("boots four kernels")
def test_a_threshold_that_is_lower_marks_in_the_new_version(artefacts: Artefacts, tmp_path: Path) -> None:
    fabric = leaf_spine(2, 2, 4)
    write_fabric(fabric, tmp_path / "old")
    for tables in fabric.values():
        tables["WRED_PROFILE"]["WRED"] |= {"green_min_threshold": "2000", "green_max_threshold": "10000"}
        tables["WRED_PROFILE"]["WRED"] |= {"green_drop_probability": "100"}
    write_fabric(fabric, tmp_path / "new")
    command = ["sonic", "diff", str(tmp_path / "old"), str(tmp_path / "new"), "--run", "--format", "json"]
    done = CliRunner().invoke(app, [*command, "--page", str(tmp_path / "page.md")])
    emulations = {one["name"]: one["metrics"] for one in json.loads(done.stdout)["emulations"]}
    assert list(emulations) == NAMES
    for metrics in emulations.values():
        assert metrics["flows_complete"][0] == metrics["flows_complete"][1] > 0
    old, new = emulations["in-cast"]["pool_max_bytes"]
    assert new < old
    assert min(emulations["failure of a link"]["reconvergence_ns"]) > 0
    assert all(f"## Emulation: {name}" in (tmp_path / "page.md").read_text() for name in NAMES)
