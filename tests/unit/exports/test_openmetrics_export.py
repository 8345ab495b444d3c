"""A run as OpenMetrics text: what prometheus_client's own parser reads is what the run's tables have."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import polars as pl
import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from synthetic_run import incast_run

import fabriclab
from fabriclab.errors import ArgumentError
from fabriclab.exports.openmetrics import T0_S, export_openmetrics
from fabriclab.results import Results, ingest_run, read_run


@pytest.fixture
def run(tmp_path: Path) -> Results:
    directory = incast_run(tmp_path / "one", 8, "dctcp")
    ingest_run(directory)
    return read_run(directory)


def read(lines: list[str]) -> dict[str, Metric]:
    families: Iterator[Metric] = text_string_to_metric_families(  # type: ignore[no-untyped-call]  # the library's
        "\n".join(lines) + "\n"
    )
    return {metric.name: metric for metric in families}


def is_of_flows(line: str) -> bool:
    return "fabriclab_flow_completion_seconds" in line


def read_queues(file: Path) -> dict[str, Metric]:
    return read([line for line in file.read_text().splitlines() if not is_of_flows(line)])


def read_flows(file: Path) -> list[Metric]:
    """Return the histogram at each of its instants: the library forgets all but the first sample of a later one."""
    *lines, end = (line for line in file.read_text().splitlines() if is_of_flows(line) or line == "# EOF")
    head = [line for line in lines if line.startswith("#")]
    samples = [line for line in lines if not line.startswith("#")]
    instants = groupby(samples, key=lambda line: line.rpartition(" ")[2])
    return [next(iter(read([*head, *some, end]).values())) for _, some in instants]


def test_a_queue_is_told_with_virtual_time(run: Results, tmp_path: Path) -> None:
    (file,) = export_openmetrics(run, tmp_path / "out")
    metrics = read_queues(file)
    queues = pl.read_parquet(run.directory / "queues.parquet").filter(pl.col("time_ns") >= 0).sort("time_ns")
    last = queues.group_by(pl.col("time_ns") // 1_000_000, maintain_order=True).last()
    samples = metrics["fabriclab_queue_bytes"].samples
    assert [sample.value for sample in samples] == last["bytes"].to_list() and len(samples) > 10
    assert [round((float(sample.timestamp or 0) - T0_S) * 1e3) for sample in samples] == last["time_ns"].to_list()
    node, _, port = queues["port"][0].rpartition(":")
    assert samples[0].labels.items() >= {"node": node, "port": port, "queue": "0"}.items()
    drops = metrics["fabriclab_queue_drops"]
    assert (drops.type, drops.samples[-1].value) == ("counter", last["drops"][-1])


def test_completion_times_are_a_histogram_that_grows(run: Results, tmp_path: Path) -> None:
    (file,) = export_openmetrics(run, tmp_path / "out")
    complete = run.flows.filter(pl.col("status") == "complete").collect()
    instants = read_flows(file)
    counts = [one.value for metric in instants for one in metric.samples if one.name.endswith("_count")]
    assert len(counts) > 2 and counts == sorted(set(counts)) and counts[-1] == complete.height
    last = {one.labels.get("le", one.name.rpartition("_")[2]): one.value for one in instants[-1].samples}
    assert last["sum"] == pytest.approx(int(complete["fct_ns"].sum()) / 1e9)
    assert last["0.1"] == complete.filter(pl.col("fct_ns") <= 10**8).height
    for metric in instants:
        ended = complete.filter(
            pl.col("end_ns") < round((float(metric.samples[0].timestamp or 0) - T0_S) * 1e3) * 10**6
        )
        assert ended.height == next(one.value for one in metric.samples if one.name.endswith("_count"))


def test_a_sweep_is_a_file_for_each_run_and_tables_are_refused(run: Results, tmp_path: Path) -> None:
    (file,) = fabriclab.export(run.directory, tmp_path / "out", form="openmetrics")
    assert file.suffix == ".openmetrics" and file.read_text().endswith("# EOF\n")
    with pytest.raises(ArgumentError, match="a file of openmetrics has no tables"):
        fabriclab.export(run.directory, tmp_path / "out2", form="openmetrics", tables=["flows"])
