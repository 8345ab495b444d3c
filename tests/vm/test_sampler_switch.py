"""Switches sampled while TCP runs: sampling changes no flow, and its sums are those of other counters."""

from __future__ import annotations

import hashlib

import polars as pl
import pytest
from sample_plans import CUBIC, DCTCP, ROUNDS, changed
from sample_switch_plans import SHARED, sampled, shared_star
from vm import Vm

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Transport
from fabriclab.formats.plan.switch import Account, Lossless, Pfc, Pool, PriorityGroup, SwitchPort, SwitchQueue, Wred

pytestmark = pytest.mark.vm
US, MS = 1_000, 1_000_000

LOSSY = SwitchPort(queues=(SwitchQueue(index=0, account=Account(pool="shared", alpha_log=-1), event_bytes=50_000),))
"""Overflows: losses, timeouts."""
MARKING = SwitchPort(
    queues=(
        SwitchQueue(
            index=0, account=Account(pool="shared"), wred=Wred(min=20_000, max=80_000, probability_ppm=100_000)
        ),
    )
)
"""Marks by chance, so that every random number counts."""
BY_DELAY = SwitchPort(
    queues=(
        SwitchQueue(
            index=0,
            account=Account(pool="shared"),
            wred=Wred(unit="ns", min=100_000, max=800_000, probability_ppm=100_000),
        ),
    )
)
"""Marks by chance when a frame leaves, which no timer tells of."""
LOSSLESS = SwitchPort(
    queues=(SwitchQueue(index=0, account=Account(pool="shared")),),
    groups=(
        PriorityGroup(
            index=0,
            account=Account(pool="shared", limit_bytes=30_000),
            lossless=Lossless(headroom_bytes=40_000, xon_bytes=15_000),
        ),
    ),
    pfc=Pfc(priorities=(0,), quanta=1_000, reaction_ns=500),
)
"""Stops its hosts."""


def incast(buffer: SwitchPort, transport: Transport, pool_bytes: int = SHARED.size_bytes) -> Plan:
    """Eight senders, three rounds."""
    traffic = changed(
        ROUNDS, **{"senders": tuple(f"h{number}" for number in range(1, 9)), "receiver": "h9", "rounds": 3}
    )
    return shared_star(
        9, buffer=buffer, pools=(Pool(name="shared", size_bytes=pool_bytes),), transport=transport, traffic=(traffic,)
    )


PLANS = {
    "lossy": incast(LOSSY, CUBIC.model_copy(update={"rto_min_us": 5_000}), 150_000),
    "marking": incast(MARKING, DCTCP),
    "by-delay": incast(BY_DELAY, DCTCP),
    "lossless": incast(LOSSLESS, CUBIC, 2_000_000),
}


@pytest.mark.parametrize("name", PLANS)
def test_sampling_changes_no_flow(vm: Vm, name: str) -> None:
    plan = PLANS[name]
    hashes = {}
    for label, point in {"never": plan, "seldom": sampled(plan, 10 * MS), "often": sampled(plan, 20 * US)}.items():
        assert vm.run(point, label).status == "complete"
        hashes[label] = [
            hashlib.sha256((vm.directory / label / file).read_bytes()).hexdigest()
            for file in ("flows.parquet", "tcp.parquet")
        ]
    assert hashes["never"] == hashes["seldom"] == hashes["often"]
    assert pl.read_parquet(vm.directory / "often" / "switch_queues.parquet").height > 1_000


def test_what_a_lossless_switch_tells_adds_up(vm: Vm) -> None:
    assert vm.run(sampled(PLANS["lossless"], MS)).status == "complete"
    tables = {
        name: pl.read_parquet(vm.directory / "run" / f"{name}.parquet")
        for name in ("switch_ports", "switch_queues", "priority_groups")
    }

    def total(table: str, column: str, node: str) -> int:
        """Sum over the last rows of a node's (or of all hosts') ports."""
        rows = tables[table].filter(pl.col("port").cast(pl.String).str.starts_with(node))
        subject = [name for name in ("port", "queue", "group") if name in rows.columns]
        return int(rows.group_by(subject).last()[column].sum())

    assert total("switch_ports", "pauses_sent", "s1:") == total("switch_ports", "pauses_received", "h") > 0
    assert total("switch_ports", "drops", "") == 0
    assert total("priority_groups", "received_packets", "s1:") == total("switch_queues", "sent_packets", "s1:") > 4_000
    # Hosts stop a reaction and a cable later than they are told to, and go on as much later.
    assert total("switch_queues", "paused_ns", "h") > 0
    assert total("switch_queues", "pauses_received", "h") == total("priority_groups", "xoffs", "s1:")
