"""A short cut of the lab of ECN thresholds: theory, SYNs above the threshold, hosts with and without ECN,
a threshold out of reach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lab_runs import run_lab

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

LINE_BPS = 940e6
"""TCP's payload in full frames at 1 Gbps."""


def run(directory: Path, settings: str, stop: str = "600 ms") -> dict[str, Any]:
    """Run some time of the lab with some settings, separated by semicolons; return the metrics."""
    return run_lab(directory, "ecn-thresholds", f"stop={stop}", settings).complete_metrics()


@pytest.mark.parametrize(("variant", "enough", "too_little"), [("dctcp", "36 KB", "9 KB"), ("cubic", "90 KB", "18 KB")])
@pytest.mark.slow("runs the lab twice")
def test_the_line_stays_full_from_theorys_threshold_on(
    tmp_path: Path, variant: str, enough: str, too_little: str
) -> None:
    """C x RTT / 7 is 18 KB for DCTCP, 3/7 of C x RTT 54 KB for CUBIC; half and twice as much are on either side.

    Theory knows of no interrupts that wait, so the hosts take in each frame at once."""
    at_once = "hosts.default.nic.gro=false"
    throughput = {
        threshold: run(tmp_path, f"others=false; elephants=2; variant={variant}; K={threshold}; {at_once}")[
            "throughput_bps[elephants]"
        ]
        for threshold in (enough, too_little)
    }
    assert throughput[enough] > 0.95 * LINE_BPS
    assert throughput[too_little] < 0.8 * LINE_BPS


@pytest.mark.slow("runs the lab three times")
def test_syns_above_the_threshold(tmp_path: Path) -> None:
    """A SYN of CUBIC's is not ECN-capable and is dropped above K, unless the switch keeps it; DCTCP's is marked."""
    lost = {
        (variant, non_ect): run(tmp_path, f"variant={variant}; non_ect={non_ect}; K=54 KB", "1 s")[
            "flows_with_setup_timeouts[mice]"
        ]
        for variant, non_ect in (("cubic", "drop"), ("cubic", "queue"), ("dctcp", "drop"))
    }
    assert lost.pop(("cubic", "drop")) > 0
    assert set(lost.values()) == {0}


@pytest.mark.slow("runs the lab three times")
def test_one_queue_starves_either_kind_of_host(tmp_path: Path) -> None:
    def shares(settings: str) -> tuple[float, float]:
        metrics = run(tmp_path, f"mixed=true; legacy=h5; K=54 KB; variant=dctcp; {settings}")
        return metrics["throughput_bps[elephants]"], metrics["throughput_bps[legacy-elephants]"]

    with_ecn, without = shares("non_ect=drop")
    assert without < 0.1 * with_ecn
    with_ecn, without = shares("non_ect=queue")
    assert with_ecn < 0.2 * without
    with_ecn, without = shares("non_ect=queue; legacy_dscp=cs1")
    assert 0.7 < with_ecn / without < 1.4


def test_a_threshold_above_the_dynamic_limit_marks_nothing(tmp_path: Path) -> None:
    metrics = run(tmp_path, "variant=dctcp; K=90 KB; alpha=1/32")
    assert metrics["ecn_marks"] == 0
    assert metrics["queue_drops"] > 0
    warnings = json.loads((tmp_path / "run" / "plan.json").read_text())["warnings"]
    assert any("NO FRAME IS EVER MARKED" in warning for warning in warnings)
