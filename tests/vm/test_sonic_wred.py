"""A WRED profile of a SONiC leaf, imported: marks at its thresholds and along its curve, frame by frame."""

from __future__ import annotations

import polars as pl
import pytest
from sonic_runs import RECEIVER, RECEIVING, plan_of
from sonic_traps import patched, sound
from vm import Vm

pytestmark = pytest.mark.vm

MIN, MAX, PER_CENT = 20_000, 120_000, 50
FRAME_BYTES = 1514
BIN_BYTES = 20_000
ENOUGH = 1000
"""Frames of a bin: the fraction of them that is marked is then within 1.6 % (one sigma, at most) of its probability."""
PROBES = f"probes: {{switches: {{interval: 10 us, ports: ['{RECEIVING}']}}}}\n"
SENDERS = "[h-Ethernet0, h-Ethernet4, h-Ethernet8, h-Ethernet12]"


def windows(vm: Vm) -> pl.DataFrame:
    """Return for each 10 us (a frame takes 12.3) in which frames came in: the queue before and after, how many,
    how many were marked."""
    table = pl.read_parquet(vm.directory / "run" / "switch_queues.parquet")
    rows = table.filter((pl.col("port") == RECEIVING) & (pl.col("queue") == 1)).sort("time_ns")
    entered = (pl.col("sent_packets") + pl.col("packets")).diff()
    columns = {
        "before": pl.col("bytes").shift(1),
        "after": pl.col("bytes"),
        "frames": entered,
        "marks": pl.col("marked_wred").diff(),
    }
    return rows.select(**columns).filter(pl.col("frames") > 0)


def test_an_imported_wred_profile_marks_along_its_curve(vm: Vm) -> None:
    """Flows of DCTCP start 20 ms apart, four each time; the more there are, the longer is the queue."""
    thresholds = {
        "green_min_threshold": str(MIN),
        "green_max_threshold": str(MAX),
        "green_drop_probability": str(PER_CENT),
    }
    tables = patched(sound(), {"WRED_PROFILE": {"AZURE_LOSSLESS": thresholds}})
    flows = {
        f"dctcp-{number}": f"{{kind: long, senders: {SENDERS}, receiver: {RECEIVER}, "
        f"start: {20 * number} ms, stop: 300 ms}}"
        for number in range(6)
    }
    hosts = "hosts: {default: {congestion_control: dctcp}}\n"
    assert vm.run(plan_of(tables, vm.directory / "lab", flows, hosts, PROBES)).status == "complete"
    seen = windows(vm)
    longest = pl.max_horizontal("before", "after")
    below = seen.filter(longest < MIN - FRAME_BYTES)
    assert below["frames"].sum() > 0 == below["marks"].sum()
    above = seen.filter(pl.min_horizontal("before", "after") >= MAX + FRAME_BYTES)
    assert above["marks"].sum() == above["frames"].sum() > 0
    between = seen.with_columns(length=(pl.col("before") + pl.col("after")) / 2).filter(
        pl.col("length").is_between(MIN, MAX, closed="left")
    )
    probability = (pl.col("length") - MIN) / (MAX - MIN) * PER_CENT / 100
    bins = between.group_by(pl.col("length") // BIN_BYTES).agg(
        frames=pl.col("frames").sum(),
        marked=pl.col("marks").sum() / pl.col("frames").sum(),
        expected=(probability * pl.col("frames")).sum() / pl.col("frames").sum(),
    )
    full = bins.filter(pl.col("frames") >= ENOUGH)
    assert full.height >= 4
    off = (full["marked"] - full["expected"]).abs().max()
    assert isinstance(off, float) and off < 0.02
