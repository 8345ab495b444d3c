"""Small cuts of lab pfc-storm: who is blocked, how long a storm lasts for others, what headroom is for;
the lab's own checks are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_runs import run_lab

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

LINE_MBPS = 1000 * 1448 / 1538
"""What TCP's payload may have of 1 Gbps."""


def run(directory: Path, settings: str) -> dict[str, Any]:
    """Run the lab with some settings, separated by semicolons; every check that concerns it passes.

    Return the summary's metrics.
    """
    return run_lab(directory, "pfc-storm", settings).complete_metrics()


def mbps(metrics: dict[str, Any], traffic: str) -> float:
    return float(metrics[f"throughput_bps[{traffic}]"]) / 1e6


def test_pauses_block_who_shares_a_link_and_ecn_prevents_them(tmp_path: Path) -> None:
    paused = run(tmp_path, "variant=pfc; stop=200 ms")
    marked = run(tmp_path, "variant=ecn; stop=200 ms")
    for traffic in ("victim", "bystander"):
        assert mbps(paused, traffic) < 0.3 * LINE_MBPS
        assert mbps(marked, traffic) > 0.99 * LINE_MBPS
    assert paused["pauses_sent"] > 0 == marked["pauses_sent"]
    assert paused["queue_drops"] + paused["ingress_discards"] == 0


@pytest.mark.parametrize(("variant", "still_ms"), [("storm", 100), ("storm-drop", 50), ("storm-forward", 50)])
def test_a_storm_lasts_for_others_until_the_watchdog_finds_it(tmp_path: Path, variant: str, still_ms: int) -> None:
    watchdog = "" if variant == "storm" else "; detection=50 ms; restoration=50 ms"
    metrics = run(tmp_path, f"variant={variant}; stop=300 ms; events.storm.until=200 ms{watchdog}")
    for traffic in ("victim", "bystander"):
        # The buffers fill in two milliseconds, and a connection has its first round trips. After the storm the queue
        # before h5 stays as long as it is, for its sender fills the line; so there are pauses, which cost others 5 %.
        still = LINE_MBPS * (300 - still_ms) / 300
        assert 0.95 * still < mbps(metrics, traffic) < 1.01 * still
    assert metrics["storms"] == (variant != "storm")
    assert (metrics["storm_drops"] > 0) is (variant == "storm-drop")


@pytest.mark.parametrize(("headroom", "is_lossless"), [("auto", True), (f"{17 * 1514} B", False)])
def test_one_frame_of_headroom_too_few(tmp_path: Path, headroom: str, is_lossless: bool) -> None:
    """A busy uplink fills 18 full frames after it was told to stop."""
    metrics = run(tmp_path, f"variant=pfc; stop=120 ms; headroom={headroom}")
    assert (metrics["ingress_discards"] == 0) is is_lossless
    assert metrics["queue_drops"] == 0
