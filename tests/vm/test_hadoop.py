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
    skip_unless_asked(vm, LAB)
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
