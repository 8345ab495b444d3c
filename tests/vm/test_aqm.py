"""Each stock qdisc in place of a switch port's drop-tail buffer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from sample_plans import CUBIC, GBPS, star
from sample_qdiscs import KNOWN, TARGET_BYTES, KnownQdisc
from vm import Vm, skip_without

from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.traffic import LongTraffic

pytestmark = pytest.mark.vm

LIMIT_BYTES = 32 * TARGET_BYTES
STOP_NS = 2_000_000_000
LONG = LongTraffic(
    name="long", senders=("h1", "h2", "h3", "h4"), receiver="h5", start_ns=0, stop_ns=STOP_NS, stagger_ns=0
)


@pytest.mark.parametrize("ecn", [False, True])
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.told.kind)
def test_four_cubic_flows_stand_at_the_target_and_fill_the_line(vm: Vm, known: KnownQdisc, ecn: bool) -> None:
    tells = "ecn" in {key.name for key in known.standing.keys().values()}
    told: dict[str, Any] = {"ecn": ecn} if tells else {}
    qdisc = replace(known.standing, **told)
    transport = CUBIC.model_copy(update={"ecn": "on" if ecn else "off"})
    plan = star(5, traffic=(LONG,), transport=transport, queue=Queue(limit_bytes=LIMIT_BYTES, aqm=qdisc))
    skip_without(vm.artefacts, plan)
    assert vm.run(plan).status == "complete"
    queue = pl.read_parquet(vm.directory / "run" / "queues.parquet")
    # PIE takes a second to find its probability from nothing. CoDel lets the queue stand above its target for an
    # interval at a time.
    settled = queue.filter(pl.col("time_ns") > STOP_NS // 2)["bytes"].to_numpy().mean()
    assert known.stands_at_bytes / 2 < settled < 2 * known.stands_at_bytes
    summary = vm.summary()
    assert summary["goodput_bps"] > 0.99 * GBPS * 1448 / 1538
    assert (summary["queue_marks"] > 0) == (ecn and known.marks)
    if not (ecn and known.drops):
        assert (summary["drops"] > 0) is not ecn
