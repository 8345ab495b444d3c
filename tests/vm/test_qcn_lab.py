"""QCN in labs: the queue stands at its set point, near and far from the source; rates are steadier than TCP's."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_runs import run_lab
from typer.testing import CliRunner

from fabriclab.cli.app import app

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]
SET_POINT_BYTES = 26_000


@pytest.mark.slow("runs the lab until its rates are steady")
def test_the_queue_stands_at_the_set_point_and_rates_are_steady(tmp_path: Path) -> None:
    measured = {
        variant: run_lab(tmp_path, "qcn", f"variant={variant}", "stop=250 ms", out=variant).metrics()
        for variant in ("qcn", "dctcp", "tcp")
    }
    queue = {variant: each["queue_mean_bytes[s1:eth11]"] for variant, each in measured.items()}
    steadiness = {variant: each["rate_variation"] for variant, each in measured.items()}
    assert queue["qcn"] == pytest.approx(SET_POINT_BYTES, rel=0.3)
    assert queue["qcn"] < queue["dctcp"] < queue["tcp"]
    assert steadiness["qcn"] < min(steadiness["tcp"], steadiness["dctcp"])
    assert measured["qcn"]["goodput_bps"] > 9e9 and measured["qcn"]["drops"] == 0


FABRIC = """
title: QCN two routers away
switches: {default: {pools: {memory: {size: 1600 KB}}, queues: {0: {pool: memory, limit: 400 KB, qcn: {}}}}}
hosts: {default: {rto_min: 10 ms, nic: {qcn: {}}}}
traffic: {long: {kind: long, senders: [h1, h4], receiver: h3, stop: 120 ms}}
probes: {queues: {ports: ['leaf2:eth1'], interval: 100 us}}
"""


@pytest.mark.parametrize(("limits", "most_bytes"), [("nic.qcn.cycle_time=15 ms", 60_000), ("nic.qcn=none", 400_000)])
def test_routers_pass_a_notification_on_to_its_source(tmp_path: Path, limits: str, most_bytes: int) -> None:
    """The congested port is three routers from h1; what tells it from a fabric without limiters is its queue."""
    written = [
        "generate",
        *["leaf-spine", "--spines", "2", "--leaves", "2", "--hosts", "2", "--out"],
        str(tmp_path / "fabric"),
    ]
    assert CliRunner().invoke(app, written).exit_code == 0
    (tmp_path / "fabric" / "experiment.yml").write_text(FABRIC)
    mean = run_lab(tmp_path, str(tmp_path / "fabric"), f"hosts.default.{limits}").metrics()
    queue = mean["queue_mean_bytes[leaf2:eth1]"]
    assert queue < most_bytes
    assert (queue > 100_000) == (limits == "nic.qcn=none")
