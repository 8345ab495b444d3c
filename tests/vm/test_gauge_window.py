"""The tool that fills lines before a run in containers, on the stock qdiscs that a port has there."""

from __future__ import annotations

import json

import pytest
from sample_plans import star
from vm import Vm

from fabriclab.formats.plan.node import Queue

pytestmark = pytest.mark.vm

DELAY_NS = 1_000_000
WINDOW_BYTES = 400_000


def test_a_deep_queue_that_delays_holds_no_more_than_the_window(vm: Vm) -> None:
    """Netem takes frames off their socket's account (here: where the delay is not short, kernel/patches/6.12/0016)."""
    plan = star(2, delay_ns=DELAY_NS, traffic=(), queue=Queue(limit_bytes=10_000_000))
    script = f"/tools/gauge rates eth1:1514:{WINDOW_BYTES}:40 && tc -j -s qdisc show dev eth1"
    program = {"name": "gauge@s1", "node": "s1", "argv": ["sh", "-c", script]}
    assert vm.boot(plan, [program]).status == "complete"
    rate, qdiscs = map(json.loads, (vm.directory / "run/logs/gauge@s1.log").read_text().splitlines())
    root = next(one for one in qdiscs if one.get("root"))
    assert (root["kind"], root["drops"]) == ("tbf", 0)
    assert 0 < root["backlog"] <= WINDOW_BYTES
    port = plan.node("s1").ports[0]
    assert 8e9 * (rate["bytes"] + 24 * rate["frames"]) / rate["time_ns"] == pytest.approx(port.rate_bps, rel=0.01)
