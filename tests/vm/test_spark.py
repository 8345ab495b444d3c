"""Spark in the machine: the lab's shuffle, whose application counts what came out of it.

It runs where its layers are built already, and where it is asked for, as Hadoop's tests do.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hadoop_lab import skip_unless_asked
from vm import Vm, called

pytestmark = pytest.mark.vm

LAB = Path(__file__).parents[2] / "labs" / "spark"


def test_every_row_crosses_the_shuffle(vm: Vm) -> None:
    skip_unless_asked(vm.artefacts.rootfs, LAB)
    ran = called(vm.directory, "run", str(LAB), "--out", "run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (row,) = pl.read_csv(vm.directory / "run/output/shuffle.csv").to_dicts()
    assert (row["rows"], row["groups"], row["value_bytes"]) == (200_000, 200_000, 92 * 200_000)
    between = pl.read_parquet(vm.directory / "run/connections.parquet").filter(
        pl.col("node").str.starts_with("w") & pl.col("peer").str.starts_with("w") & (pl.col("node") != pl.col("peer"))
    )
    # Of four workers each keeps a quarter of what it has, and sends the rest to the others.
    assert between["bytes_sent"].sum() > 0.7 * 92 * 200_000
    executors = list((vm.directory / "run/output").glob("w*/app-*/*/stderr"))
    assert len(executors) == 4 and all("Running task" in file.read_text() for file in executors)
