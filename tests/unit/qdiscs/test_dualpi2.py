"""DualPI2's parameters against those of RFC 9332, and accurate ECN of two ends."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from probed_labs import LONG, lab

from fabriclab.compile import compile_node
from fabriclab.formats.plan.node import Queue
from fabriclab.lab import LabError, parse_lab
from fabriclab.qdiscs.dualpi2 import DualPi2
from fabriclab.resolve import resolve_plan

MS = 1_000_000


def test_the_gains_are_those_of_the_rfc() -> None:
    """Appendix A.1, lines 12 to 14, with target 15 ms and RTT_max 100 ms: 15 ms, 0.15 Hz, 3 Hz."""
    default = DualPi2()
    assert default.interval_ns == 15 * MS
    assert default.integral_gain_hz == Fraction(15, 100)
    assert default.proportional_gain_hz == 3


def test_a_short_round_trip_bounds_the_interval() -> None:
    """Line 12: Tupdate is the lesser of target and RTT_max / 3."""
    short = DualPi2(target_ns=MS, max_rtt_ns=900_000)
    assert short.interval_ns == 300_000
    assert short.integral_gain_hz == Fraction(3, 10**5) / Fraction(81, 10**8)
    assert short.proportional_gain_hz == Fraction(1000, 3)
    assert DualPi2(target_ns=1000, max_rtt_ns=1000).interval_ns == 1000


def test_a_lab_says_it(tmp_path: Path) -> None:
    hosts = "hosts: {default: {queue: 1 MB, aqm: {kind: dualpi2, target: 5 ms, l4s: ect, coupling: 1}}}\n"
    plan = resolve_plan(parse_lab(lab(tmp_path, LONG, hosts)), {})
    nic = plan.node("h1").ports[0].nic
    queue = None if nic is None else nic.queue
    assert queue == Queue(limit_bytes=1_000_000, aqm=DualPi2(target_ns=5 * MS, l4s="ect", coupling=1))
    assert queue is not None and queue.aqm is not None and queue.aqm.marks
    words = compile_node(plan.node("h1"), plan).tc
    assert "tupdate 5000us alpha 0.050000 beta 3.000000 step_thresh 1000us coupling_factor 1" in words
    assert words.rstrip().endswith("classic_protection 10% any_ect")


@pytest.mark.parametrize("written", ["step: 5 ms, target: 5 ms", "step: 15 ms"])
def test_low_latency_is_lower(tmp_path: Path, written: str) -> None:
    hosts = f"hosts: {{default: {{queue: 1 MB, aqm: {{kind: dualpi2, {written}}}}}}}\n"
    with pytest.raises(LabError, match=r"aqm.step: '.*' is not below target, the classic queue's delay"):
        parse_lab(lab(tmp_path, LONG, hosts))


@pytest.mark.parametrize(
    ("hosts", "says"),
    [
        ("hosts: {default: {ecn: accurate}}\n", ()),
        ("hosts: {default: {ecn: accurate}, h3: {ecn: on}}\n", ("report one mark for each round trip",)),
        ("hosts: {default: {ecn: accurate}, h3: {ecn: off}}\n", ("get no marks, only losses",)),
        ("hosts: {default: {ecn: accurate, congestion_control: dctcp}}\n", ()),
    ],
)
def test_both_ends_of_accurate_ecn_must_have_it(tmp_path: Path, hosts: str, says: tuple[str, ...]) -> None:
    plan = resolve_plan(parse_lab(lab(tmp_path, LONG, hosts)), {})
    assert len(plan.warnings) == len(says), plan.warnings
    assert all(part in warning for part, warning in zip(says, plan.warnings, strict=True))
    assert "net.ipv4.tcp_ecn = 3" in compile_node(plan.node("h1"), plan).sysctl
