"""Small cuts of the micro-benchmarks of study S2; each lab's own checks are asked too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from lab_runs import run_lab

from fabriclab.theory.dctcp_fluid import DctcpFluid, limit_cycle

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

MS = 1_000_000


def run(directory: Path, lab: str, settings: str) -> dict[str, Any]:
    """Run a lab with some settings, separated by semicolons; every check that concerns it passes.

    Return the summary's metrics.
    """
    return run_lab(directory, lab, settings).complete_metrics()


def test_short_transfers_wait_once_a_round_trip(tmp_path: Path) -> None:
    """A kept connection passes CUBIC's queue once, or twice after a loss, a new one three times: its handshake, 10
    segments, 4 segments."""
    short = "rounds=15; traffic.long.stop=900 ms"
    waits = {}
    for variant in ("cubic", "dctcp"):
        for connection in ("kept", "new"):
            metrics = run(tmp_path, "queue-buildup", f"variant={variant}; connection={connection}; {short}")
            waits[variant, connection] = metrics["fct_median_ns[short]"]
    assert 1.4 < waits["cubic", "new"] / waits["cubic", "kept"] < 3.5
    assert waits["cubic", "kept"] > 4 * waits["dctcp", "new"]
    assert waits["dctcp", "kept"] < 1.2 * MS


@pytest.mark.slow("runs the lab in two variants")
def test_static_buffers_know_no_pressure(tmp_path: Path) -> None:
    short = "traffic.query.rounds=10; traffic.background1.stop=250 ms; traffic.background2.stop=250 ms"
    times, slow = {}, {}
    for background in ("false", "true"):
        run(tmp_path, "buffer-pressure", f"variant=cubic; background={background}; {short}")
        flows = pl.read_parquet(tmp_path / "run" / "flows.parquet")
        times[background] = flows.filter(pl.col("class") == "query").sort("group", "src")["fct_ns"].to_list()
    assert len(times["true"]) == 100
    assert times["true"] == times["false"]
    for variant in ("cubic-shared", "dctcp-shared"):
        slow[variant] = run(tmp_path, "buffer-pressure", f"variant={variant}; background=false; {short}")[
            "coflow_p95_ns[query]"
        ]
    assert slow["cubic-shared"] > 1.1 * slow["dctcp-shared"]


@pytest.mark.parametrize(("variant", "is_fair"), [("cubic", False), ("dctcp", True)])
def test_flows_that_come_and_go(tmp_path: Path, variant: str, is_fair: bool) -> None:
    """The first five seconds: one flow to five. Bursts of TSO make DCTCP less fair (the lab's README)."""
    stops = "; ".join(f"traffic.flow{flow}.stop=5 s" for flow in range(1, 5))
    frames = "hosts.default.nic.tso=off; probes.queues.interval=1 ms"
    metrics = run(tmp_path, "convergence", f"variant={variant}; {stops}; {frames}")
    assert (metrics["jain_phase_min"] > 0.99) is is_fair
    assert (metrics["fair_after_mean_ns"] < 100 * MS) is is_fair


@pytest.mark.slow("runs the lab in two variants")
def test_two_bottlenecks(tmp_path: Path) -> None:
    """Crossing both costs, less so with DCTCP; with those that cross only the second, S1 fills R1's line."""
    shares = {}
    for variant in ("cubic", "dctcp"):
        metrics = run(tmp_path, "multi-hop", f"variant={variant}; stop=110 ms; hosts.default.send_buffer=500 KB")
        shares[variant] = metrics["throughput_bps[s1]"] / metrics["throughput_bps[s3]"]
        assert metrics["throughput_bps[s1]"] + metrics["throughput_bps[s3]"] == pytest.approx(941e6, rel=0.01)
    assert shares["cubic"] < shares["dctcp"] < 1


def test_ten_flows_swing_as_the_fluid_model_says(tmp_path: Path) -> None:
    """The model's mean within a tenth and its extremes within a quarter, of means over a round trip (18 samples)."""
    run(tmp_path, "dctcp-fluid", "senders=10; stop=100 ms")
    queue = pl.read_parquet(tmp_path / "run" / "queues.parquet").filter(pl.col("time_ns").is_between(30 * MS, 100 * MS))
    frames = np.convolve(queue["bytes"].to_numpy() / 1514, np.ones(18) / 18, "valid")
    cycle = limit_cycle(DctcpFluid.of_line(10, 10e9, 100e-6, 98410))
    assert frames.mean() == pytest.approx(cycle.queue_mean, rel=0.1)
    assert np.percentile(frames, 1) == pytest.approx(cycle.queue_min, rel=0.25)
    assert np.percentile(frames, 99) == pytest.approx(cycle.queue_max, rel=0.25)
