"""ECN thresholds below a burst: the measurements of docs/language/switches.md lie on both sides of the rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_fabrics import plan_of

TOPOLOGY = """\
name: bursts
topology:
  nodes:
    h1: {kind: linux, labels: {fabriclab.role: host}}
    h2: {kind: linux, labels: {fabriclab.role: host}}
    s1: {kind: linux, labels: {fabriclab.role: switch}}
  links:
    - {endpoints: ['h1:eth1', 's1:eth1'], vars: {rate: 1 Gbps, delay: DELAY}}
    - {endpoints: ['h2:eth1', 's1:eth2'], vars: {rate: 1 Gbps, delay: DELAY}}
"""
EXPERIMENT = """\
title: bursts
switches: {default: {SWITCH}}
hosts: {default: {congestion_control: CONTROL, HOST}}
traffic: {long: {kind: long, senders: [h1], receiver: h2, stop: 1 s}}
"""
SHARED = "profile: triumph, queues: {default: {wred: {min: 30 KB, max: 60 KB, ecn: true}}}"


def warnings(
    directory: Path,
    host: str,
    threshold: str,
    *,
    delay: str = "250 us",
    rate: str = "1 Gbps",
    control: str = "dctcp",
    switch: str = "",
) -> list[str]:
    """Return what is said of thresholds."""
    switch = switch or f"buffer: 1 MB, ecn_threshold: {threshold}"
    experiment = EXPERIMENT.replace("SWITCH", switch).replace("HOST", host).replace("CONTROL", control)
    plan = plan_of(directory, TOPOLOGY.replace("DELAY", delay).replace("1 Gbps", rate), experiment)
    return [sentence for sentence in plan.warnings if "the queue of DCTCP" in sentence]


def test_a_threshold_below_a_burst_is_told_with_what_would_be_right(tmp_path: Path) -> None:
    assert warnings(tmp_path, "nic: {}", "30.28 KB") == [
        "s1: the ECN threshold of 30.28 KB is less than half a burst of TSO (62.5 KB, for a round trip of 1 ms), so "
        "the queue of DCTCP is empty at times; write at least 31.2 KB, or a smaller `nic: {tso: ...}` for the hosts "
        "(docs/language/switches.md)"
    ]


@pytest.mark.parametrize("host", ["nic: {pacing: fq}", "delayed_ack: false"])
def test_what_was_measured_to_help_little_does_not_silence_it(tmp_path: Path, host: str) -> None:
    assert len(warnings(tmp_path, host, "30.28 KB")) == 1


def test_a_class_that_marks_below_a_burst(tmp_path: Path) -> None:
    (sentence,) = warnings(tmp_path, "nic: {}", "", switch=SHARED)
    assert sentence.startswith("s1: the ECN threshold of 30 KB is less than")


@pytest.mark.parametrize(
    ("host", "threshold"),
    [
        ("nic: {tso: 16 KB}", "30.28 KB"),
        ("nic: {tso: off}", "30.28 KB"),
        ("nic: {pacer: {}}", "30.28 KB"),
        ("nic: {}", "60.56 KB"),
    ],
)
def test_what_was_measured_to_be_enough_is_not_told(tmp_path: Path, host: str, threshold: str) -> None:
    assert warnings(tmp_path, host, threshold) == []


def test_a_short_round_trip_has_short_bursts(tmp_path: Path) -> None:
    assert warnings(tmp_path, "nic: {}", "30 KB", delay="25 us") == []


def test_interrupts_hold_back_what_comes_in_meanwhile(tmp_path: Path) -> None:
    assert warnings(tmp_path, "nic: {}", "60.56 KB", delay="25 us", rate="10 Gbps") == [
        "s1: the ECN threshold of 60.56 KB is less than what comes in while an interrupt of the hosts waits (77.5 KB "
        "in 62 us) and a seventh of a round trip (100 us), so the queue of DCTCP is empty at times; write at least "
        "95.4 KB, or a smaller `nic: {interrupt_delay: ...}` for the hosts (docs/language/switches.md)"
    ]


@pytest.mark.parametrize(
    ("host", "threshold"),
    [
        ("nic: {}", "98.41 KB"),
        ("nic: {gro: off}", "45.42 KB"),
        ("nic: {interrupt_delay: 20 us}", "45.42 KB"),
    ],
)
def test_what_was_measured_to_be_enough_with_interrupts_is_not_told(tmp_path: Path, host: str, threshold: str) -> None:
    assert warnings(tmp_path, host, threshold, delay="25 us", rate="10 Gbps") == []


def test_others_than_dctcp_do_not_follow_the_threshold_so_closely(tmp_path: Path) -> None:
    assert warnings(tmp_path, "ecn: on", "30.28 KB", control="cubic") == []
