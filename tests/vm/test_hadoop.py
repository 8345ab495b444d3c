"""Hadoop in the machine: one TeraSort of 8 MB on two data nodes and two compute nodes, proved by TeraValidate.

It runs where its layers are built already, and where it is asked for: its JVMs compute for minutes.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hadoop_lab import skip_unless_asked
from vm import Vm, called

pytestmark = pytest.mark.vm

LAB = Path(__file__).parents[2] / "labs" / "hadoop"


def test_terasort_sorts_what_teragen_made(vm: Vm) -> None:
    skip_unless_asked(vm.artefacts.rootfs, LAB)
    ran = called(vm.directory, "run", str(LAB), "--out", "run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    programs = {row["program"]: row for row in pl.read_parquet(vm.directory / "run/programs.parquet").to_dicts()}
    assert {name: row["status"] for name, row in programs.items()} == {
        "hadoop-sort": "exit 0",
        "hadoop-sort-proof": "exit 0",
    }
    counters = (vm.directory / "run/logs/hadoop-sort@master.log").read_text()
    report = (vm.directory / "run/logs/hadoop-sort-proof@master.log").read_text()
    assert "Bytes Written=22" in report, "TeraValidate's checksum alone; each mistake is a line more"
    assert "Map output records=83886" in counters and "Reduce output records=83886" in counters
    assert "Launched map tasks=2" in counters and "Launched reduce tasks=2" in counters
    assert list((vm.directory / "run/hadoop/hadoop").rglob("*.jhist")), "the history of the job is kept"
    (job,) = pl.read_parquet(vm.directory / "run/hadoop_jobs.parquet").to_dicts()
    parts = [job[f"{part}_ns"] for part in ("cpu", "disk", "network", "waiting")]
    assert sum(parts) == job["end_ns"] - job["submit_ns"] and parts[0] > 0
    charged = pl.read_parquet(vm.directory / "run/hadoop_costs.parquet")
    of_work = dict(charged.group_by("what").agg(pl.col("bytes").sum()).iter_rows())
    assert charged.filter(pl.col("what") == "start").height == 5, "a master, two maps, two reducers"
    assert of_work["spill"] == job["shuffled_bytes"], "each map's output is spilled once, and fetched"
    assert of_work["map"] >= job["hdfs_read_bytes"] and of_work["reduce"] >= job["hdfs_written_bytes"]
