"""The plan of a run directory, read back: typed, whatever version wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from synthetic_run import incast_run

from fabriclab.formats.manifest import Manifest
from fabriclab.formats.plan import Plan
from fabriclab.results import ResultsError, read_run
from fabriclab.results.ingest import read_plan


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return incast_run(tmp_path / "run", 1, rounds=1)


def changed(run: Path, **parts: Any) -> None:
    plan = json.loads((run / "plan.json").read_text()) | parts
    text = json.dumps({name: value for name, value in plan.items() if value is not ...}, default=str)
    (run / "plan.json").write_text(text)


def test_the_plan_is_that_of_the_file_or_of_the_manifest(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    plan = read_run(run).plan
    assert plan == Plan.model_validate_json((run / "plan.json").read_text())
    (run / "plan.json").unlink()
    assert read_plan(run, Manifest(**manifest)) == plan
    with pytest.raises(ResultsError, match=r"manifest\.json: plan: missing"):
        read_plan(run, Manifest())
    with pytest.raises(ResultsError, match=r"manifest\.json: plan: title: Field required \(7 more such keys\)"):
        read_plan(run, Manifest(plan={"lab": "incast"}))


def test_what_an_older_version_did_not_write_has_its_default(run: Path) -> None:
    plan = {"events": ..., "pause_storms": ..., "warnings": ..., "groups": ..., "bgp": ..., "parameters": ...}
    changed(run, **plan)
    assert read_run(run).plan.changes == ()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"probes": ...}, "probes: Field required; must be a plan of this version of fabriclab, fabriclab-plan-1"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
        ({"seed": "one"}, "seed: Input should be a valid integer"),
        (
            {"format": "fabriclab-plan-9"},
            "format: 'fabriclab-plan-9'; this version of fabriclab reads only 'fabriclab-plan-1'",
        ),
    ],
)
def test_a_plan_of_another_form_is_named_with_its_first_key(run: Path, parts: dict[str, Any], message: str) -> None:
    changed(run, **parts)
    with pytest.raises(ResultsError) as error:
        read_run(run)
    assert str(error.value).startswith(f"{run / 'plan.json'}: ")
    assert message in str(error.value)


def test_what_is_no_json_at_all_is_said_so(run: Path) -> None:
    (run / "plan.json").write_text("{")
    with pytest.raises(ResultsError, match=r"plan\.json: not JSON"):
        read_run(run)
