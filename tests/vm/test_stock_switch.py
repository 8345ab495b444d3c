"""A shared buffer out of stock qdiscs, as containers have it, in the machine's kernel and by the real tc:
it is what its compiler says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sample_plans import CUBIC, GBPS
from sample_switch_plans import shared_star
from vm import Vm, ignore

from fabriclab.compile import machine_memory_bytes
from fabriclab.engine.cpu import claim_cpu
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.virtual import Machine, run_machine
from fabriclab.formats.plan.model import Event, Plan
from fabriclab.formats.plan.switch import Account, Scheduler, SwitchPort, SwitchQueue, Wred
from fabriclab.formats.plan.traffic import Carrier, LongTraffic
from fabriclab.runs.directory import write_inputs

pytestmark = pytest.mark.vm

PIR_BPS = GBPS // 5
LIMIT_BYTES = 60_000
BUFFER = SwitchPort(
    queues=(
        SwitchQueue(
            index=0, account=Account(pool="shared", limit_bytes=LIMIT_BYTES), scheduler=Scheduler(kind="dwrr", weight=1)
        ),
        SwitchQueue(
            index=1,
            account=Account(pool="shared", limit_bytes=LIMIT_BYTES),
            scheduler=Scheduler(kind="dwrr", weight=3),
            wred=Wred(min=20_000, max=40_000, probability_ppm=100_000),
        ),
        SwitchQueue(
            index=7,
            account=Account(pool="shared", limit_bytes=LIMIT_BYTES),
            scheduler=Scheduler(pir_bps=PIR_BPS, pbs_bytes=3_000),
        ),
    )
)
START_NS, STOP_NS = 10_000_000, 1_010_000_000
DSCP_OF_QUEUE = {0: 0, 1: 8, 7: 56}


def saturated(**changes: Any) -> Plan:
    """Return a flow from a host of its own into each queue of one port."""
    flows = tuple(
        LongTraffic(
            name=f"queue{queue}",
            senders=(f"h{number}",),
            receiver="h4",
            start_ns=START_NS,
            stop_ns=STOP_NS,
            stagger_ns=0,
            carrier=Carrier(dscp=dscp),
        )
        for number, (queue, dscp) in enumerate(DSCP_OF_QUEUE.items(), start=1)
    )
    return shared_star(4, buffer=BUFFER, traffic=flows, **changes)


def qdiscs_after(vm: Vm, plan: Plan) -> dict[str, dict[str, Any]]:
    """Return the qdiscs of the receiver's port by their handles, after a run."""
    directory = vm.directory / "run"
    write_inputs(plan, vm.directory, directory, stock=True)
    with claim_cpu() as cpu:
        outcome = run_machine(
            Machine(vm.artefacts, directory, plan.seed, machine_memory_bytes(plan), cpu, 120), ignore, Interrupt()
        )
    assert outcome.status == "complete", outcome.message
    shown = json.loads((directory / "collect" / "qdisc@s1").read_text())
    return {qdisc["handle"]: qdisc for qdisc in shown if qdisc["dev"] == "eth4"}


def test_each_dscp_has_its_queue_and_the_queue_its_share(vm: Vm) -> None:
    qdiscs = qdiscs_after(vm, saturated(transport=CUBIC.model_copy(update={"ecn": "on"})))
    assert [qdiscs[handle]["kind"] for handle in ("1:", "2:", "3:", "10:", "11:", "27:", "17:")] == [
        *("tbf", "netem", "ets", "bfifo", "red", "tbf", "bfifo"),
    ]
    sent = {queue: qdiscs[f"1{queue}:"]["bytes"] * 1538 / 1514 for queue in range(8)}
    assert {queue for queue, wire_bytes in sent.items() if wire_bytes} == set(DSCP_OF_QUEUE)
    seconds = (STOP_NS - START_NS) / 1e9
    assert 8 * sent[7] / seconds == pytest.approx(PIR_BPS, rel=0.01)
    assert sent[1] / sent[0] == pytest.approx(3, rel=0.01)
    assert 8 * sum(sent.values()) / seconds == pytest.approx(GBPS, rel=0.02)
    # Losses or marks, not a lack of traffic, bound each.
    assert all(qdiscs[f"1{queue}:"]["drops"] + qdiscs[f"1{queue}:"].get("marked", 0) > 0 for queue in DSCP_OF_QUEUE)
    rows = [row.split(",") for row in (vm.directory / "run" / "raw" / "queues.csv").read_text().splitlines()[2:]]
    assert int(rows[-1][5]) == qdiscs["11:"]["marked"] > 0, "ets has no marks; those of its queues are the port's"


def test_a_change_of_rate_and_loss_keeps_the_classes(vm: Vm) -> None:
    link = (("h4:eth1", "s1:eth4"),)
    slower = Event(name="slower", at_ns=START_NS, links=link, action="change", rate_bps=GBPS // 10, loss_ppm=1000)
    qdiscs = qdiscs_after(vm, saturated().model_copy(update={"events": (slower,)}))
    assert qdiscs["1:"]["options"]["rate"] == GBPS // 10 // 8
    assert qdiscs["2:"]["options"]["loss-random"]["loss"] == pytest.approx(0.001)
    sent = {queue: qdiscs[f"1{queue}:"]["bytes"] for queue in DSCP_OF_QUEUE}
    # The line is slower than the pir of the strict queue, which leaves the others what it does not send itself.
    assert sent[7] > sent[0] + sent[1]
