"""The lab of a SONiC leaf's configuration: as it should be, and with one mistake each, its own checks judge;
shares and pauses here."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import polars as pl
import pytest
from lab_runs import LABS, run_lab
from vm import called

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

LAB = LABS / "sonic-qos"
MS = 10**6
WRITES, BACKUPS = 3, 0
"""Queues of the congested port, leaf1:Ethernet0."""
WEIGHTS = {WRITES: 15, BACKUPS: 14}
STATIC = "routing.protocol=static"
"""Where a configuration is wrong, routing has no part in what comes of it."""


def run(directory: Path, *settings: str) -> str:
    """Run a point of the lab; return what the command says. Its checks pass, or the command would fail."""
    return run_lab(directory, "sonic-qos", *settings).said


def test_weights_share_the_line_and_the_lossless_class_loses_nothing(tmp_path: Path) -> None:
    assert "pass: ingress_discards == 0: 0" in run(tmp_path)
    flows = pl.read_parquet(tmp_path / "run" / "flows.parquet")
    assert flows["retransmits"].sum() == 0
    rows = (
        pl.read_parquet(tmp_path / "run" / "switch_queues.parquet")
        .filter(pl.col("port") == "leaf1:Ethernet0")
        .sort("time_ns")
    )
    sent = {}
    for queue in WEIGHTS:
        ends = [
            rows.filter((pl.col("queue") == queue) & (pl.col("time_ns") <= end))["sent_bytes"][-1]
            for end in (20 * MS, 28 * MS)
        ]
        sent[queue] = ends[1] - ends[0]
    # Both have a backlog all the time; the rest of the line is the queries' and between frames.
    assert sum(sent.values()) > 0.97 * 100e9 * 8e-3 / 8
    assert sent[WRITES] / sent[BACKUPS] == pytest.approx(WEIGHTS[WRITES] / WEIGHTS[BACKUPS], rel=0.01)


@pytest.mark.parametrize("mistake", ["ecn-without-wred", "threshold-out-of-reach", "pfc-without-lossless-group"])
def test_each_mistake_has_its_consequence(mistake: str, tmp_path: Path) -> None:
    said = run(tmp_path, STATIC, f"config=leaf-{mistake}")
    assert said.count(f"(config leaf-{mistake})") >= 2 and "fail" not in said


@pytest.mark.parametrize(
    ("config", "checks"),
    [
        ("leaf", set()),
        ("leaf-ecn-without-wred", {"marks", "victim"}),
        ("leaf-threshold-out-of-reach", {"marks", "ecn-first", "victim"}),
        ("leaf-pfc-without-lossless-group", {"lossless"}),
    ],
)
def test_an_operator_s_checks_catch_each_mistake(config: str, checks: set[str], tmp_path: Path) -> None:
    stages = ("--only", "marks", "--only", "lossless")
    result = called(
        tmp_path,
        "validate",
        str(LAB),
        "--set",
        STATIC,
        "--set",
        f"config={config}",
        *stages,
        "--out",
        "out",
        "--junit",
        "out.xml",
    )
    cases = list(ElementTree.parse(tmp_path / "out.xml").getroot().iter("testcase"))
    failed = {case.attrib["classname"].removeprefix("validate.") for case in cases if case.find("failure") is not None}
    assert {case.attrib["classname"] for case in cases} >= {"validate.marks", "validate.lossless"}
    assert failed == checks and result.returncode == (1 if checks else 0), result.stdout + result.stderr
