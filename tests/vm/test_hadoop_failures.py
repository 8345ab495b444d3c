"""Hadoop in the machine where something fails: a node, a link in the shuffle, a disk. The job goes on where Hadoop's
does, and ends with Hadoop's words where it does not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hadoop_lab import ASKED, NOT_ASKED, skip_unless_asked, write_lab
from vm import Vm, called

pytestmark = pytest.mark.vm
if not os.environ.get(ASKED):
    pytest.skip(NOT_ASKED, allow_module_level=True)


def run(vm: Vm, lab: Path, *, ends_well: bool) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    """Return the job's row, its attempts' rows, and what was written to the terminal."""
    skip_unless_asked(vm.artefacts.rootfs, lab)
    ran = called(vm.directory, "run", str(lab), "--out", "run")
    assert (ran.returncode == 0) == ends_well, ran.stdout + ran.stderr
    (job,) = pl.read_parquet(vm.directory / "run/hadoop_jobs.parquet").to_dicts()
    tasks = pl.read_parquet(vm.directory / "run/hadoop_tasks.parquet").to_dicts()
    if ends_well:
        report = (vm.directory / "run/logs/hadoop-sort-proof@master.log").read_text()
        assert "Bytes Written=22" in report, "TeraValidate's checksum alone; each mistake is a line more"
    return job, tasks, ran.stdout + ran.stderr


def _down(node: str, at: str) -> str:
    return f"dies: {{at: {at}, node: {node}, action: down}}"


def test_a_node_that_is_lost_between_maps_and_reducers(vm: Vm) -> None:
    """c1 has run a map; here also the application master, so that a second one takes over what the first knew."""
    events = _down("c1", "6 s")
    lab = write_lab(vm.directory, "settings: {yarn.nm.liveness-monitor.expiry-interval-ms: 10000}", events)
    job, tasks, _ = run(vm, lab, ends_well=True)
    assert (job["status"], job["rerun_maps"], job["failed_attempts"]) == ("SUCCEEDED", 1, 0)
    assert job["killed_attempts"] >= 1
    lost = [one for one in tasks if one["task"] == "map" and one["status"] == "KILLED"]
    assert [one["node"] for one in lost] == ["c1"] and "unusable node c1" in lost[0]["diagnostics"]
    ended_well = [one for one in tasks if one["status"] == "SUCCEEDED" and one["task"] != "master"]
    assert {one["node"] for one in ended_well} == {"c2"} and len(ended_well) == 4


def test_a_node_that_is_lost_with_tez_s_application_master(vm: Vm) -> None:
    """Both write histories; the second one's goes on where the first one's ends, and does not say what its maps are."""
    settings = "settings: {yarn.nm.liveness-monitor.expiry-interval-ms: 10000}"
    lab = write_lab(vm.directory, settings, _down("c1", "3500 ms"), framework="tez")
    job, tasks, _ = run(vm, lab, ends_well=True)
    assert (job["status"], job["name"], job["maps"], job["reduces"]) == ("SUCCEEDED", "TeraSort", 2, 2)
    assert [(one["task"], one["node"]) for one in tasks] == [("map", "c2")] * 2 + [("reduce", "c2")] * 2
    assert len(list((vm.directory / "run/logs").rglob("history.txt.appattempt_*"))) == 2


def test_a_data_node_that_is_lost_before_the_maps_read(vm: Vm) -> None:
    """The other one has a copy of each block; who asks the lost one waits for so long."""
    lab = write_lab(vm.directory, "settings: {dfs.client.socket-timeout: 2000}", _down("d1", "3 s"), replication=2)
    job, tasks, _ = run(vm, lab, ends_well=True)
    assert (job["status"], job["failed_attempts"], job["killed_attempts"]) == ("SUCCEEDED", 0, 0)
    transfers = pl.read_parquet(vm.directory / "run/hadoop_transfers.parquet")
    later = transfers.filter((pl.col("start_ns") > 3 * 10**9) & (pl.col("phase") != "shuffle"))
    assert set(later.filter(pl.col("phase") == "hdfs-read")["src"]) == {"d2"}
    assert set(later.filter(pl.col("phase") == "hdfs-write")["dst"]) == {"d2"}
    assert any(one["end_ns"] - one["start_ns"] > 2 * 10**9 for one in tasks if one["task"] != "master"), "some waited"


def test_a_link_that_fails_in_the_shuffle(vm: Vm) -> None:
    """It is made slow before, so that the shuffle takes seconds."""
    link = "link: 'c2:eth1'"
    events = (
        f"slower: {{at: 7 s, {link}, rate: 10 Mbps}}, cut: {{at: 8500 ms, {link}, action: down}},"
        f" back: {{at: 12 s, {link}, action: up}}"
    )
    lab = write_lab(vm.directory, "settings: {mapreduce.reduce.shuffle.read.timeout: 1000}", events)
    job, tasks, _ = run(vm, lab, ends_well=True)
    assert job["status"] == "SUCCEEDED"
    assert job["fetch_failures"] == job["failed_shuffles"] == job["shuffle_io_errors"] >= 1
    assert sum(one["fetch_failures"] for one in tasks if one["task"] == "reduce") == job["fetch_failures"]
    fetched = pl.read_parquet(vm.directory / "run/hadoop_transfers.parquet").filter(pl.col("phase") == "shuffle")
    assert fetched["end_ns"].null_count() >= 1, "one that broke off"


def test_disks_that_are_full(vm: Vm) -> None:
    """Two copies of 8 MiB lie on disks of 14 MiB each; the output's two copies have no room."""
    lab = write_lab(vm.directory, "disk_size: 14 MiB", replication=2)
    job, tasks, said = run(vm, lab, ends_well=False)
    words = "could only be written to 0 of the 1 minReplication nodes"
    assert job["status"] == "FAILED" and words in job["diagnostics"]
    assert tasks == [] and job["failed_attempts"] is None, "there was no room for the job's history either"
    assert "sort ended as FAILED: Task failed" in " ".join(said.split()), said
    assert words in (vm.directory / "run/logs/hadoop-sort@master.log").read_text(), "what its client was told"
    assert list((vm.directory / "run/logs/hadoop").rglob("syslog")), "the logs of tasks are kept"
