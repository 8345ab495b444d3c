"""A user's own algorithm in the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_algorithms import control
from sample_plans import CUBIC, star
from vm import Vm

import fabriclab
from fabriclab.formats.plan.algorithm import OwnAlgorithm, sha256_of
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.traffic import LongTraffic
from fabriclab.qdiscs import Own, Qdisc

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


QDISC = (Path(fabriclab.__file__).parent / "starters" / "qdisc" / "mine.c").read_text()
LIMIT_BYTES = 64_000


def with_queue(aqm: Qdisc | None, *algorithms: OwnAlgorithm) -> Plan:
    base = star(3, traffic=(LONG,), transport=CUBIC, queue=Queue(limit_bytes=LIMIT_BYTES, aqm=aqm))
    return base.model_copy(update={"algorithms": algorithms})


def test_drop_tail_of_ones_own_is_drop_tail(vm: Vm) -> None:
    algorithm = OwnAlgorithm(kind="qdisc", name="mine", file="mine.c", sha256=sha256_of(QDISC), source=QDISC)
    own = Own(id="mine", options=f"threshold {LIMIT_BYTES}")
    assert vm.run(with_queue(own, algorithm)).status == "complete"
    mine = flows(vm)
    assert vm.run(with_queue(None)).status == "complete"
    assert flows(vm) == mine
    ecn = CUBIC.model_copy(update={"ecn": "on"})
    marking = star(3, traffic=(LONG,), transport=ecn, queue=Queue(limit_bytes=LIMIT_BYTES, aqm=Own(id="mine")))
    assert vm.run(marking.model_copy(update={"algorithms": (algorithm,)})).status == "complete"
    assert vm.summary()["queue_marks"] > 0
    wrong = with_queue(Own(id="mine", options="treshold 30KB"), algorithm)
    result = vm.run(wrong, "wrong")
    assert result.status == "failed" and "unknown option: treshold" in result.message
