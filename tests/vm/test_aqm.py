"""CoDel, FQ-CoDel, PIE and FQ-PIE in place of a switch port's drop-tail buffer."""

from __future__ import annotations

import polars as pl
import pytest
from sample_plans import CUBIC, GBPS, star
from vm import Vm

from fabriclab.formats.plan.node import Aqm, Queue
from fabriclab.formats.plan.traffic import LongTraffic

pytestmark = pytest.mark.vm

TARGET_NS = 500_000
TARGET_BYTES = GBPS * TARGET_NS // (8 * 10**9)
LIMIT_BYTES = 32 * TARGET_BYTES
STOP_NS = 2_000_000_000
LONG = LongTraffic(
    name="long", senders=("h1", "h2", "h3", "h4"), receiver="h5", start_ns=0, stop_ns=STOP_NS, stagger_ns=0
)


@pytest.mark.parametrize("ecn", [False, True])
@pytest.mark.parametrize(
    ("kind", "interval_ns"),
    [("codel", 10_000_000), ("fq_codel", 10_000_000), ("pie", 1_000_000), ("fq_pie", 1_000_000)],
)
def test_four_cubic_flows_stand_at_the_target_and_fill_the_line(vm: Vm, kind: str, interval_ns: int, ecn: bool) -> None:
    aqm = Aqm.model_validate({"kind": kind, "target_ns": TARGET_NS, "interval_ns": interval_ns, "ecn": ecn})
    transport = CUBIC.model_copy(update={"ecn": "on" if ecn else "off"})
    plan = star(5, traffic=(LONG,), transport=transport, queue=Queue(limit_bytes=LIMIT_BYTES, aqm=aqm))
    assert vm.run(plan).status == "complete"
    queue = pl.read_parquet(vm.directory / "run" / "queues.parquet")
    # PIE takes a second to find its probability from nothing. CoDel lets the queue stand above its target for an interval at a time.
    settled = queue.filter(pl.col("time_ns") > STOP_NS // 2)["bytes"].to_numpy().mean()
    assert TARGET_BYTES / 2 < settled < 2 * TARGET_BYTES
    summary = vm.summary()
    assert summary["goodput_bps"] > 0.99 * GBPS * 1448 / 1538
    # Marks come in place of drops, but for what overflows in slow start while PIE's probability is still next to nothing.
    assert (summary["queue_marks"] > 0) == ecn
    assert (summary["drops"] > 0) == (not ecn or kind.endswith("pie"))
