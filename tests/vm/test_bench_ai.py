"""`fabriclab bench ai` as a user has it: its tests, its report, wrong words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fabriclab.api.generated import LeafSpine, generate
from fabriclab.cli.app import app

EXPERIMENT = """
title: A small fabric for training
links: {rate: 100 Gbps, delay: 500 ns, mtu: 4200}
hosts: {default: {nic: {roce: {mtu: 4096}}}}
switches:
  default:
    profile: trident-3
    pfc: {priorities: [3]}
    queues: {3: {wred: {min: 200 KB, max: 400 KB, probability: 5 %, ecn: on}}}
traffic:
  own: {kind: long, senders: [h1], receiver: h4, stop: 1 s}
"""


def lab(directory: Path, experiment: str = EXPERIMENT, hosts: int = 2) -> Path:
    directory.mkdir()
    (directory / "topology.clab.yml").write_text(generate(LeafSpine(spines=2, leaves=2, hosts=hosts)).topology)
    (directory / "experiment.yml").write_text(experiment)
    return directory


def bench(*words: str) -> Result:
    return CliRunner().invoke(app, ["bench", "ai", *words])


def kpis(document: dict[str, Any], test: str) -> dict[str, dict[str, Any]]:
    (found,) = (each for each in document["tests"] if each["name"] == test)
    return {kpi["name"]: kpi for kpi in found["kpis"]}


@pytest.mark.vm
def test_every_test_runs_and_the_report_has_the_drafts_sections(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = bench(str(lab(tmp_path / "lab")), "--out", str(out), "--size", "2MB", "--iterations", "3")
    assert ran.exit_code == 0, ran.output
    document = json.loads((out / "benchmark.json").read_text())
    names = [test["name"] for test in document["tests"]]
    collectives = ["all-reduce-2MB", "all-to-all-2MB", "all-gather-2MB"]
    assert names == [
        *("throughput-1-qp", "throughput-4-qp", "in-cast-2", *collectives),
        *("job-1ms-4-ranks", "job-10ms-4-ranks", "tenants"),
    ]
    assert all(
        test["anomaly"] is None and (out / test["directory"] / "summary.json").exists() for test in document["tests"]
    )
    report = (out / "benchmark.md").read_text()
    for section in ("Device under test", "Topology", "Configuration", "Hosts", "Results", "Anomalies", "Repeatability"):
        assert section in report

    reduced = kpis(document, "all-reduce-2MB")
    # On this idle fabric two transfers at a time cross it: the ring is as quick as theory says.
    assert reduced["Time / idle fabric"]["value"] == pytest.approx(1, abs=0.01)
    assert reduced["Coefficient of variation"]["value"] == pytest.approx(0, abs=0.01)
    assert reduced["Bus bandwidth"]["reached"] is (reduced["Bus bandwidth"]["value"] >= 90)
    # The computation of a job hides no communication: its ratio falls with more of it.
    ratios = [kpis(document, f"job-{time}-4-ranks")["JCT ratio"]["value"] for time in ("1ms", "10ms")]
    assert 1 < ratios[1] < ratios[0] < 1.2
    assert all(kpi["value"] >= 0.99 for kpi in kpis(document, "tenants").values())


@pytest.mark.vm
def test_one_test_of_a_fabric_without_roce_runs_over_tcp_and_strict_says_no(tmp_path: Path) -> None:
    traffic = "traffic: {o: {kind: flows, senders: [h1], receiver: h2, size: 1 KB}}\n"
    plain = f"title: Plain\nswitches: {{default: {{buffer: 128 KB}}}}\n{traffic}"
    place, out = lab(tmp_path / "lab", plain), tmp_path / "out"
    words = ("--out", str(out), "--only", "all-gather", "--size", "100KB", "--iterations", "1", "--strict")
    ran = bench(str(place), *words)
    assert ran.exit_code == 1, ran.output
    document = json.loads((out / "benchmark.json").read_text())
    assert [test["name"] for test in document["tests"]] == ["all-gather-100KB"]
    found = kpis(document, "all-gather-100KB")
    assert found["Bus bandwidth"]["reached"] is False
    assert found["Packet drop rate"]["value"] is None
    assert "no switch has a shared buffer" in found["Packet drop rate"]["reason"]
    again = bench(str(place), *words)
    assert again.exit_code == 2
    assert "already exists" in again.output


def test_wrong_words_are_named(tmp_path: Path) -> None:
    place = str(lab(tmp_path / "lab"))
    for words, said in (
        (("--size", "2 parsecs"), "2 parsecs"),
        (("--size", "1B"), "out of range"),
        (("--algorithm", "rings"), "ring"),
        (("--only", "all-reduced"), "no such test"),
    ):
        ran = bench(place, *words)
        assert ran.exit_code == 2, ran.output
        assert said in ran.output
