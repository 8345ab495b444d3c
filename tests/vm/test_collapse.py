"""The in-cast lab collapses, and is cured, where study S4 says; the lab's own checks are asked,
some of which are of its 40 rounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab_runs import run_lab

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]


@pytest.mark.parametrize(
    ("settings", "least_mbps", "most_mbps"),
    [
        ("variant=dctcp buffer=64KB senders=4 rounds=15", 850, 950),
        ("variant=cubic buffer=64KB senders=16", 0, 333),
        ("variant=cubic buffer=1024KB senders=16", 753, 950),
        ("variant=dctcp buffer=64KB senders=16", 900, 950),
        ("variant=dctcp buffer=64KB senders=48", 0, 500),
        ("variant=dctcp buffer=256KB senders=32", 900, 950),
        ("variant=cubic buffer=64KB senders=16 rounds=15 rto_min=1ms", 850, 950),
        ("variant=cubic buffer=64KB senders=16 sru=8MB rounds=10", 753, 950),
        ("variant=cubic buffer=64KB senders=16 rounds=15 window_limit=3", 900, 950),
        ("variant=cubic buffer=64KB senders=48 rounds=5 rate=10Gbps", 0, 3330),
        ("variant=cubic buffer=64KB senders=48 rounds=100 rate=10Gbps window_limit=2", 5000, 9500),
    ],
)
@pytest.mark.slow("runs the lab with up to 48 senders")
def test_goodput(tmp_path: Path, settings: str, least_mbps: int, most_mbps: int) -> None:
    run = run_lab(tmp_path, "incast", *settings.split())
    assert "pass: goodput_bps" in run.said
    summary = run.metrics()
    (traffic,) = json.loads((run.directory / "plan.json").read_text())["traffic"]
    assert least_mbps <= summary["goodput_bps"] / 1e6 <= most_mbps
    assert traffic["rounds"] > 1
    assert summary["flows_complete"] == summary["flows"] == traffic["rounds"] * len(traffic["senders"])
