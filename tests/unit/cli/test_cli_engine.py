"""What an engine can't express is said wherever its runs are shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from language import two_racks
from sample_plans import star
from sample_switch_plans import shared_star
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.ranges import EACH_CHANGE_NS
from fabriclab.runs.directory import write_inputs
from fabriclab.runs.engines import plan_for

EXPERIMENT = """
title: T
switches: {default: {pools: {shared: {size: 400 KB}}, queues: {default: {pool: shared, alpha: 1}}}}
traffic: {one: {kind: flows, senders: [h1], receiver: h8, size: 1 KB}}
"""
STATIC_LIMIT = "alpha 1 of pool shared; instead: a static limit of"


@pytest.fixture
def lab(tmp_path: Path) -> str:
    (tmp_path / "topology.clab.yml").write_text(two_racks())
    (tmp_path / "experiment.yml").write_text(EXPERIMENT)
    return str(tmp_path)


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0
    return result.stdout


def test_the_plan_of_containers_says_what_stands_in_for_a_shared_buffer(lab: str) -> None:
    assert STATIC_LIMIT in printed("plan", lab, "--engine", "containerlab")
    assert STATIC_LIMIT not in printed("plan", lab)
    warnings = json.loads(printed("plan", lab, "--engine", "containerlab", "--json"))["warnings"]
    assert any(
        warning.startswith("containerlab: leaf1, leaf2, all ports, queues 0-7: " + STATIC_LIMIT) for warning in warnings
    )


def test_the_files_of_a_node_are_those_that_the_engine_gets(lab: str) -> None:
    assert " switch_port rate " in printed("plan", lab, "--node", "leaf1")
    files = printed("plan", lab, "--node", "leaf1", "--engine", "containerlab")
    assert " switch_port " not in files and " ets bands 8 " in files


def test_an_engine_that_expresses_everything_adds_nothing() -> None:
    assert plan_for(star(), "containerlab") == star()
    assert plan_for(shared_star(), "vm") == shared_star()


def test_what_containers_cannot_sample_is_not_asked_for(lab: str) -> None:
    """Else each such run would be called incomplete."""
    probes = {
        engine: json.loads(printed("plan", lab, "--engine", engine, "--json"))["probes"]
        for engine in ("vm", "containerlab")
    }
    assert probes["vm"]["switch_interval_ns"] and probes["vm"]["switch_ports"]
    assert probes["containerlab"]["switch_interval_ns"] is None and not probes["containerlab"]["switch_ports"]


def test_queues_whose_changes_are_recorded_are_sampled_in_containers() -> None:
    probes = star().probes.model_copy(update={"queue_interval_ns": EACH_CHANGE_NS})
    plan = star().model_copy(update={"probes": probes})
    assert plan_for(plan, "vm") == plan
    stand_in = plan_for(plan, "containerlab")
    assert stand_in.probes.queue_interval_ns == 100_000
    assert stand_in.warnings == (
        "containerlab: probes.queues.interval: queues are sampled every 100 us; only the virtual machine records each "
        "change",
    )


def test_a_run_in_containers_has_its_plan_with_the_warnings_and_stock_files(tmp_path: Path) -> None:
    plan = plan_for(shared_star(), "containerlab")
    write_inputs(plan, tmp_path, tmp_path / "run", stock=True)
    assert Plan.model_validate_json((tmp_path / "run" / "plan.json").read_text()).warnings == plan.warnings != ()
    texts = [
        path.read_text()
        for path in (tmp_path / "run").rglob("*")
        if path.suffix in (".batch", ".json") and path.name != "plan.json"
    ]
    assert texts and not any("switch_port " in text for text in texts)
