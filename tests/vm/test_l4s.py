"""DualPI2, accurate ECN and ECT(1) in a kernel that has them: what RFC 9332 says of two flows that share a line.

They need Linux 7.3 (docs/l4s.md) and are skipped in the machine's usual kernel.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import polars as pl
import pytest
from lab_runs import LABS
from vm import Vm, skip_without

from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.results import ingest_run
from fabriclab.runs import RunContext, run_point

pytestmark = pytest.mark.vm

PATH_NS = 10_000_000
"""The round trip of an empty path: four links of 2.5 ms."""
TARGET_NS, STEP_NS = 15_000_000, 1_000_000
COUPLING = 2


def run_lab(vm: Vm, settings: dict[str, Any]) -> Plan:
    """Run a point of the lab l4s as `run`, where the machine's kernel can."""
    plan = resolve_plan(parse_lab(LABS / "l4s", every_point=False), settings)
    skip_without(vm.artefacts, plan)
    context = RunContext(LABS / "l4s", vm.artefacts, ("test",), ingest_run)
    assert run_point(plan, vm.directory / "run", context, lambda _: None).status == "complete"
    return plan


def last_of(tcp: pl.DataFrame, nodes: list[str], column: str) -> int:
    """Return the sum of a counter's last values over the long flows of nodes."""
    known = tcp.filter(pl.col("node").is_in(nodes) & pl.col(column).is_not_null())
    return int(known.group_by("node", "flow").agg(pl.col(column).max())[column].sum())


def test_both_kinds_of_tcp_share_the_line_and_wait_in_queues_of_their_own(vm: Vm) -> None:
    """RFC 9332, sections 1 and 2: rates of about one, microseconds beside the classic queue's target."""
    run_lab(vm, {"variant": "dualpi2", "scalable": "h1..h2", "classic": "h3..h4"})
    summary, tcp = vm.summary(), vm.tcp()
    scalable, classic = (last_of(tcp, nodes, "bytes_acked") for nodes in (["h1", "h2"], ["h3", "h4"]))
    assert 0.75 < scalable / classic < 1.33
    waits = {name: summary[f"fct_median_ns[{name}]"] - PATH_NS for name in ("ask-scalable", "ask-classic")}
    assert waits["ask-scalable"] < STEP_NS
    assert 0.75 * TARGET_NS < waits["ask-classic"] < 1.33 * TARGET_NS
    # The coupling, section 2.1: of p', k p' of the low-latency packets are marked and p'^2 of the classic ones dropped.
    marked = last_of(tcp, ["h1", "h2"], "delivered_ce") / last_of(tcp, ["h1", "h2"], "delivered")
    dropped = last_of(tcp, ["h3", "h4"], "total_retrans") / last_of(tcp, ["h3", "h4"], "delivered")
    assert 0.7 < COUPLING * sqrt(dropped) / marked < 1.4


def test_accurate_ecn_tells_of_each_mark(vm: Vm) -> None:
    """RFC 9768: the senders know of as many marks as the port made, but for those still under way."""
    settings = {"variant": "dualpi2-ecn", "stop": "6 s", "start": "1 s", "traffic.ask-scalable.enabled": "false"}
    run_lab(vm, {**settings, "traffic.ask-classic.enabled": "false"})
    told = last_of(vm.tcp(), ["h1", "h3"], "delivered_ce")
    made = vm.summary()["queue_marks"]
    assert made > 100 and made - 20 <= told <= made


def test_dctcp_is_low_latency_where_any_ect_is(vm: Vm) -> None:
    """RFC 9331, section 5.1: a network of its own may take ECT(0) for L4S."""
    run_lab(vm, {"variant": "dctcp", "stop": "6 s", "start": "2 s"})
    assert vm.summary()["fct_median_ns[ask-scalable]"] - PATH_NS < STEP_NS
    tcp = vm.tcp()
    assert tcp.filter(pl.col("node") == "h1")["congestion"].drop_nulls().unique().to_list() == ["dctcp"]
