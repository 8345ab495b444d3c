"""The lab of HULL, cut short: what a phantom queue leaves of the line and of the switch's queue, and what the cards'
pacer takes of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_runs import run_lab

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

FRAME_BYTES, PAYLOAD_BYTES = 1538, 1448


def test_marks_come_before_the_queue_and_a_pacer_takes_what_is_left_of_it(tmp_path: Path) -> None:
    """Two long flows for 100 ms at a drain rate of 800 Mbps: no more than that goes through, and nothing is dropped."""
    runs = {
        variant: run_lab(
            tmp_path, "hull", f"variant={variant}", "drain=80 %", "threshold=3 KB", "stop=100 ms", out=variant
        ).metrics()
        for variant in ("unpaced", "paced")
    }
    drain_bps = 800_000_000 * PAYLOAD_BYTES / FRAME_BYTES
    for metrics in runs.values():
        assert 0.75 * drain_bps < metrics["goodput_bps"] < 1.02 * drain_bps
        assert metrics["drops"] == 0 and metrics["ecn_marks"] > 100
    assert runs["paced"]["queue_mean_bytes"] < 0.75 * runs["unpaced"]["queue_mean_bytes"]
    assert runs["paced"]["goodput_bps"] > runs["unpaced"]["goodput_bps"]


def test_mice_pass_by_what_the_pacer_holds_of_elephants(tmp_path: Path) -> None:
    """One elephant or so and some mice: with phantom queue and pacer the mice's time is that of an empty network."""
    mean = {}
    for variant in ("tcp", "hull"):
        metrics = run_lab(
            tmp_path, "hull", f"variant={variant}", "until=1 s", "elephants=1200 ms", "mice=100 ms", out=variant
        ).metrics()
        assert metrics["flows_incomplete"] == 0 and metrics["flows"] > 50
        mean[variant] = metrics["fct_mean_ns[mice]"]
    assert mean["hull"] < mean["tcp"]
    assert mean["hull"] < 250_000


@pytest.mark.parametrize("variant", ["unpaced", "paced"])
def test_the_throughput_is_the_drain_rate(tmp_path: Path, variant: str) -> None:
    """A known answer: where the phantom queue never runs empty (100 KB of it, nine flows, a round trip of 0.4 ms) what
    goes through the port is the drain rate, within 1 %."""
    settings = ("senders=h1..h9", "drain=80 %", "threshold=100 KB", "delay=100 us", "stop=500 ms")
    metrics = run_lab(tmp_path, "hull", f"variant={variant}", *settings).metrics()
    assert metrics["goodput_bps"] == pytest.approx(800_000_000 * PAYLOAD_BYTES / FRAME_BYTES, rel=0.01)
