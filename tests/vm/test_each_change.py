"""`interval: each` records every change of a queue at its very time, whoever makes the queue: stock qdiscs, a switch's
port, a host's NIC."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from small_fabrics import link, plan_of, star
from vm import Vm

from fabriclab.formats.framing import FRAMING_BYTES, HEADER_BYTES

pytestmark = pytest.mark.vm
TOPOLOGY = star(*(link(f"h{n}:eth1", f"s1:eth{n}", ", mtu: 1500") for n in (1, 2, 3)), hosts=("h1", "h2", "h3"))
PORTS = ("s1:eth3", "s1:eth1", "h1:eth1")
EXPERIMENT = f"""
title: Changes
links: {{delay: 20 us}}
switches: {{default: SWITCH}}
hosts: {{default: {{congestion_control: dctcp, ecn: on}}}}
traffic:
  long: {{kind: long, senders: [h1, h2], receiver: h3, stop: 30 ms}}
probes: {{queues: {{interval: INTERVAL, ports: [{", ".join(PORTS)}]}}, tcp: {{interval: 1 ms}}}}
"""
SWITCHES = {
    "bfifo": "{buffer: 100 KB}",
    "red": "{buffer: 100 KB, ecn_threshold: 30 KB}",
    "switch_port": "{profile: triumph, queues: {default: {wred: {min: 30 KB, max: 30 KB, ecn: true}}}}",
}
FRAME_NS = (1500 + HEADER_BYTES + FRAMING_BYTES) * 8
"""A whole frame takes so long on a line of 1 Gbps."""


def measured(vm: Vm, directory: Path, switch: str, interval: str) -> tuple[pl.DataFrame, list[bytes]]:
    """Run the lab; return its queues' rows, and what must not tell how they were looked at."""
    directory.mkdir()
    plan = plan_of(directory, TOPOLOGY, EXPERIMENT.replace("SWITCH", switch).replace("INTERVAL", interval))
    run = vm.directory / f"run-{directory.name}"
    assert vm.run(plan, run.name).status == "complete"
    others = [(run / f"{name}.parquet").read_bytes() for name in ("flows", "tcp")]
    return pl.read_parquet(run / "queues.parquet"), others


@pytest.mark.parametrize("kind", SWITCHES)
def test_each_change_is_what_dense_samples_see_and_what_lies_between_them(vm: Vm, tmp_path: Path, kind: str) -> None:
    sampled, flows = measured(vm, tmp_path / "sampled", SWITCHES[kind], "10 us")
    changes, same_flows = measured(vm, tmp_path / "changes", SWITCHES[kind], "each")
    assert same_flows == flows
    for port in PORTS:
        dense, all_of_it = (table.filter(pl.col("port") == port).drop("port") for table in (sampled, changes))
        seen = dense.join_asof(all_of_it, on="time_ns", suffix="_changed")
        for column in ("bytes", "packets", "drops", "marks", "sent_bytes", "sent_packets"):
            assert seen[column].to_list() == seen[f"{column}_changed"].to_list(), (port, column)


@pytest.mark.parametrize("kind", SWITCHES)
def test_a_row_is_one_departure_and_a_busy_line_has_one_each_frame(vm: Vm, tmp_path: Path, kind: str) -> None:
    changes, _ = measured(vm, tmp_path / "changes", SWITCHES[kind], "each")
    bottleneck = changes.filter(pl.col("port") == "s1:eth3")
    assert bottleneck["time_ns"].is_sorted()
    assert bottleneck["time_ns"][1:-1].is_unique().all()
    departed = bottleneck.with_columns(left=pl.col("sent_packets").diff().fill_null(0)).filter(pl.col("left") > 0)
    assert departed["left"].max() == 1
    # A switch's line is busy with the frame before, a token bucket waits for tokens of the frame itself.
    size, whole = pl.col("sent_bytes").diff(), 1500 + HEADER_BYTES
    backlogged = departed.with_columns(gap=pl.col("time_ns").diff()).filter(
        pl.col("packets").shift(1) > 0, size == whole, size.shift(1) == whole
    )
    assert backlogged.height > 1000
    assert backlogged["gap"].unique().to_list() == [FRAME_NS]
