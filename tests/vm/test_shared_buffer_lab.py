"""Small cuts of lab shared-buffer: the dynamic threshold's formula, and who suffers under which division;
its own checks are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_runs import run_lab

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

FRAME_BYTES = 1514
SEND_BUFFER = "hosts.default.send_buffer=200 KB"
"""Some times what a flow has on its way. By default each of 264 flows would fill 4 MB: to have that memory from the
host takes the machine longer than all else that it does here."""


def run(directory: Path, settings: str) -> dict[str, Any]:
    """Run the lab with some settings, separated by semicolons; every check that concerns it passes.

    Return the summary's metrics.
    """
    return run_lab(directory, "shared-buffer", SEND_BUFFER, settings).complete_metrics()


@pytest.mark.parametrize(("alpha", "busy"), [("1/8", 8), ("1", 8)])
@pytest.mark.slow("runs the lab with eight busy ports")
def test_saturated_queues_hold_what_the_formula_gives(tmp_path: Path, alpha: str, busy: int) -> None:
    """alpha B / (1 + alpha N): many flows keep each queue a little below it."""
    metrics = run(tmp_path, f"memory=4 MB; query=false; stop=80 ms; alpha={alpha}; busy={busy}")
    factor = 1 / 8 if alpha == "1/8" else 1.0
    share = factor * 4_000_000 / (1 + factor * busy)
    for port in range(1, busy + 1):
        assert 0.95 * share < metrics[f"queue_median_bytes[s1:eth{port}]"] < share + FRAME_BYTES
        assert metrics[f"queue_drops[s1:eth{port}]"] > 0


@pytest.mark.slow("runs the lab once for each way to divide the buffer")
def test_pressure_is_worst_where_all_is_shared(tmp_path: Path) -> None:
    """Queries under pressure by division; DCTCP's ports hold so little that there is none."""
    times = {}
    for variant in ("static", "dynamic", "full", "dctcp"):
        metrics = run(tmp_path, f"variant={variant}; long=true; stop=150 ms; rounds=4")
        times[variant] = metrics["coflow_mean_ns[query]"]
    assert times["dctcp"] < times["dynamic"] < times["full"]
    assert times["full"] > 2 * times["static"]
