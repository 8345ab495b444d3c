"""A short cut of the lab of bufferbloat: what each kind of queue management leaves standing,
and what mice pay for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_runs import run_lab

# In one group, so that what two of them look at is run once.
pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts"), pytest.mark.xdist_group("bufferbloat")]

MS = 1_000_000
LINE_BYTES_PER_MS = 125_000


def run(directory: Path, *settings: str) -> dict[str, Any]:
    """Run 1.5 s of the lab, in the last third of which mice are sent; every check that concerns them passes.

    Return the metrics.
    """
    result = run_lab(directory, "bufferbloat", "start=1 s", "stop=1500 ms", *settings)
    assert "pass: flows_incomplete" in result.said
    return result.metrics()


@pytest.fixture(scope="module")
def codel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the metrics of CoDel as it comes."""
    return run(tmp_path_factory.mktemp("codel"), "variant=codel")


@pytest.mark.slow("runs the lab in several variants")
def test_mice_wait_for_what_queue_management_leaves_standing(tmp_path: Path, codel: dict[str, Any]) -> None:
    variants = ("drop-tail", "pie", "codel", "fq-codel")
    metrics = {variant: codel if variant == "codel" else run(tmp_path, f"variant={variant}") for variant in variants}
    mice = [metrics[variant]["fct_mean_ns[mice]"] for variant in variants]
    assert mice == sorted(mice, reverse=True)
    assert mice[0] > 10 * mice[-1]
    # FQ-CoDel's queue is as long as CoDel's, but it is the elephants' own.
    assert metrics["fq-codel"]["queue_mean_bytes"] > 2 * LINE_BYTES_PER_MS
    assert metrics["fq-codel"]["fct_mean_ns[mice]"] < 2 * MS
    assert all(each["throughput_bps[elephants]"] > 850e6 for each in metrics.values())


def test_ecn_marks_what_codel_would_drop(tmp_path: Path, codel: dict[str, Any]) -> None:
    dropped, marked = codel, run(tmp_path, "variant=codel-ecn")
    assert (dropped["queue_marks"], marked["drops"]) == (0, 0)
    assert dropped["drops"] > 0
    assert dropped["retransmits[elephants]"] > marked["retransmits[elephants]"] == 0
    assert marked["queue_marks"] > 0
    assert marked["throughput_bps[elephants]"] == pytest.approx(dropped["throughput_bps[elephants]"], rel=0.01)


@pytest.mark.slow("runs the lab twice, a second of virtual time each")
def test_a_target_below_the_round_trip_starves_the_line(tmp_path: Path) -> None:
    """Round trips of 10 ms: CoDel's own target has hardly a cost, one of 50 us has most of the line."""
    slow, fast = (
        run(tmp_path, f"variant={variant}", "delay=2.5 ms")["throughput_bps[elephants]"]
        for variant in ("codel", "codel-fast")
    )
    assert slow > 800e6
    assert fast < slow / 2
