"""A user's own algorithm in the machine."""

from __future__ import annotations

import pytest
from sample_algorithms import control
from sample_plans import CUBIC, star
from vm import Vm

from fabriclab.formats.plan.algorithm import OwnAlgorithm, sha256_of
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.traffic import LongTraffic

pytestmark = pytest.mark.vm

STOP_NS = 300_000_000
LONG = LongTraffic(name="long", senders=("h1", "h2"), receiver="h3", start_ns=0, stop_ns=STOP_NS, stagger_ns=0)


def plan(congestion_control: str, *sources: str) -> Plan:
    transport = CUBIC.model_copy(update={"congestion_control": congestion_control})
    algorithms = tuple(
        OwnAlgorithm(kind="congestion_control", name="mine", file="mine.c", sha256=sha256_of(source), source=source)
        for source in sources
    )
    base = star(3, traffic=(LONG,), transport=transport, queue=Queue(limit_bytes=64_000))
    return base.model_copy(update={"algorithms": algorithms})


def flows(vm: Vm) -> bytes:
    return vm.tcp().write_csv().encode().replace(b"mine", b"reno")


def test_reno_under_another_name_is_reno(vm: Vm) -> None:
    """To the nanosecond: a module costs no time, and what it calls is Linux's own code."""
    assert vm.run(plan("mine", control())).status == "complete"
    mine = flows(vm)
    assert vm.run(plan("reno")).status == "complete"
    assert flows(vm) == mine
    assert vm.run(plan("mine", control("if (tcp_in_slow_start(tcp_sk(sk)))", "\ttcp_slow_start(tcp_sk(sk), acked);")))
    assert flows(vm) != mine
