"""A bundle is run again, as a user does, and the bits agree; where the plan was changed they don't, and it is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab_runs import run_lab
from typer.testing import CliRunner

import fabriclab
from fabriclab.cli.app import app
from fabriclab.results import ResultsError

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]


def test_a_bundle_of_a_run_is_reproduced_to_the_bit(tmp_path: Path) -> None:
    ran = run_lab(tmp_path, "incast", "variant=cubic; rounds=2; senders=4").directory
    assert (ran / "lab" / "experiment.yml").read_bytes() == Path("labs/incast/experiment.yml").read_bytes()
    file = fabriclab.bundle(ran, tmp_path / "it.fabriclab.zip")
    result = CliRunner().invoke(app, ["open", str(file), "--reproduce", "-o", str(tmp_path / "opened")])
    assert result.exit_code == 0, result.output
    assert "the bits agree in 1 of 1 run" in result.output


def test_other_bits_and_names_that_lead_out_are_told(tmp_path: Path) -> None:
    ran = run_lab(tmp_path, "incast", "variant=cubic; rounds=2; senders=4").directory
    opened = fabriclab.open_bundle(fabriclab.bundle(ran, tmp_path / "it.zip"), tmp_path / "opened")
    plan = opened.content.directory / "plan.json"
    written = json.loads(plan.read_text())
    plan.write_text(json.dumps({**written, "seed": 2}))
    (found,) = fabriclab.reproduce(
        fabriclab.Bundle(opened.about, opened.directory, fabriclab.Run(ran.parent / "opened/content"))
    )
    assert not found.agrees
    assert {table.name for table in found.tables if not table.is_same} >= {"flows"}
    written["nodes"][0]["name"] = "../outside"
    plan.write_text(json.dumps(written))
    with pytest.raises(ResultsError, match=r"nodes\.0\.name: Input should be a name of letters"):
        fabriclab.reproduce(opened, out=tmp_path / "again")
    assert not (tmp_path / "outside").exists()
