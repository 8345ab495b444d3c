"""A lossless class under its worst in-cast, over RoCE: behind a SONiC leaf that is right, and behind one that marks
above the length at which it pauses; and the ring of labs/pfc-deadlock, whose pause tree names the deadlock."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab_runs import LABS, run_lab
from vm import Vm, ignore

from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.results import ingest_run, read_run
from fabriclab.runs import RunContext, run_point
from fabriclab.validation import Bench, ValidationFinding, later_stages
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import parse_config_db

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

ROCE = """
routing: {protocol: static}
hosts:
  default: {nic: {roce: {dscp: 3, ack_dscp: 3, cnp_dscp: 48}}}
traffic:
  write: {kind: long, senders: [server2, server3], receiver: server1, transport: roce, stop: 3 ms}
validation: {lossless: [3]}
"""


def sonic_bench(directory: Path, config: str) -> Bench:
    """Return the lab that a config_db.json becomes, its hosts with RoCE in DSCP 3, which its map puts into class 3."""
    text = (LABS / "sonic-qos" / f"{config}.json").read_bytes()
    lab = import_lab(parse_config_db(text, f"{config}.json"))
    for file, content in lab.files.items():
        (directory / file).write_text(content, encoding="utf-8")
    head = lab.files["experiment.yml"].partition("traffic:")[0]
    kept = "\n".join(line for line in head.splitlines() if not line.startswith("routing:"))
    (directory / "experiment.yml").write_text(kept + ROCE, encoding="utf-8")
    parsed = parse_lab(directory)
    plan = resolve_plan(parsed, {})
    return Bench(plan, plan, parsed.experiment.validation)


def found(vm: Vm, bench: Bench) -> dict[str, list[ValidationFinding]]:
    """Return what the in-cast finds, by check."""
    stage = next(stage for stage in later_stages(bench) if stage.name == "lossless-in-cast")
    context = RunContext(vm.directory, vm.artefacts, ("test",), ingest_run)
    result = run_point(stage.plan, vm.directory / stage.name, context, ignore)
    assert result.status in ("complete", "limit"), result.message
    findings: dict[str, list[ValidationFinding]] = {}
    for finding in stage.judge(read_run(result.directory)):
        findings.setdefault(finding.check, []).append(finding)
    return findings


def test_roce_behind_a_good_sonic_leaf_passes(vm: Vm, tmp_path: Path) -> None:
    findings = found(vm, sonic_bench(tmp_path, "leaf"))
    assert set(findings) == {"lossless", "ecn-first", "victim", "watchdog"}
    assert {one.verdict for those in findings.values() for one in those} == {"pass"}, findings
    assert "over RoCE" in findings["lossless"][0].expected


def test_marks_above_xoff_are_told_in_words(vm: Vm, tmp_path: Path) -> None:
    findings = found(vm, sonic_bench(tmp_path, "leaf-threshold-out-of-reach"))
    wrong = next(one for one in findings["ecn-first"] if one.verdict == "fail")
    assert wrong.where == "leaf1 DSCP 3" and "marks begin at 900 KB" in wrong.measured
    assert "PFC pauses a sender at 242 KB, so it acts before ECN does; write a minimum below 242 KB" in wrong.measured
    # Nine groups fill the headroom, which the file shares two to one.
    assert len(findings["lossless"]) == 1
    # DCQCN acts in the end, when queues are above 900 KB: after that the victims keep their share.
    assert {one.verdict for one in findings["victim"]} == {"pass"}


def test_the_pause_tree_names_the_deadlock(tmp_path: Path) -> None:
    run = run_lab(tmp_path, "pfc-deadlock", "variant=pfc; stop=310 ms")
    assert "DEADLOCK" in run.said
    tree = json.loads((run.directory / "pauses.json").read_text())
    (cycle,) = tree["cycles"]
    assert cycle["is_deadlock"] and cycle["ended_by"] == "run" and not tree["roots"]
    assert {queue["port"] for queue in cycle["queues"]} == {f"s{number}:eth2" for number in range(1, 6)}
    assert run.metrics()["deadlocks"] == 1


@pytest.mark.parametrize("settings", ["variant=route", "variant=dcqcn", "variant=pfc; host_rate=4.9 Gbps"])
def test_each_way_out_keeps_the_ring_moving(tmp_path: Path, settings: str) -> None:
    metrics = run_lab(tmp_path, "pfc-deadlock", f"{settings}; stop=320 ms").complete_metrics()
    assert metrics["deadlocks"] == 0 and metrics["goodput_bps"] > 10e9
