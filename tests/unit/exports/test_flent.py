"""Data files of flent: what its plots ask for, in its units, and nothing that was not measured."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_run import incast_run, long_run
from typer.testing import CliRunner

import fabriclab
from fabriclab.cli.app import app
from fabriclab.exports.flent import export_flent, flent_data
from fabriclab.results import Results, ResultsError, ingest_run, read_run


def sampled(directory: Path, tcp: pl.DataFrame) -> Results:
    """Return a run that has these samples of TCP instead of its own."""
    run = long_run(directory, "cubic")
    ingest_run(run)
    tcp.write_parquet(run / "tcp.parquet")
    return read_run(run)


def samples(*rows: tuple[int, int, int | None]) -> pl.DataFrame:
    """Return samples of time in milliseconds, flow and acknowledged bytes; all else follows from the flow."""
    names = ("time_ns", "flow", "bytes_acked", "cwnd", "srtt_us", "pacing_bps", "delivery_bps")
    known = [
        (ms * 1_000_000, flow, acked, *((None,) * 4 if acked is None else (10 + flow, 100 * (flow + 1), 10**6, 10**6)))
        for ms, flow, acked in rows
    ]
    return pl.DataFrame(known, schema=dict.fromkeys(names, pl.Int64), orient="row")


def test_streams_are_connections_with_goodput_in_megabits(tmp_path: Path) -> None:
    run = sampled(
        tmp_path,
        samples((0, 0, 0), (1, 0, 1000), (2, 0, 3000), (2, 1, 500), (3, 0, 3000), (3, 1, 1500), (4, 0, None)),
    )
    data = flent_data(run)
    assert (data["version"], data["metadata"]["NAME"]) == (4, "tcp_nup")
    assert data["x_values"] == [0, 0.001, 0.002, 0.003]
    results = data["results"]
    assert results["TCP upload::1"] == [None, 8.0, 16.0, 0.0]
    assert results["TCP upload::2"] == [None, None, None, 8.0]
    assert results["TCP upload sum"] == [None, 8.0, 16.0, 8.0]
    assert results["TCP upload avg"] == [None, 8.0, 16.0, 4.0]
    assert results["TCP upload fairness"] == [None, 1.0, 1.0, 0.5]
    assert results["Ping (ms) ICMP"] == pytest.approx([0.1, 0.1, 0.15, 0.15])
    first = data["raw_values"]["TCP upload::2"][0]
    assert first == {
        "t": pytest.approx(946684800.002),
        "tcp_rtt": 0.2,
        "tcp_cwnd": 11,
        "tcp_pacing_rate": 1.0,
        "tcp_delivery_rate": 1.0,
    }


def test_many_connections_are_their_class(tmp_path: Path) -> None:
    rows = [(ms, flow, 1000 * (ms - flow)) for flow in range(65) for ms in range(flow, flow + 3)]
    run = sampled(tmp_path, samples(*rows))
    flows = run.flows.collect()
    data = flent_data(run)
    streams = [name for name in data["results"] if name.startswith("TCP upload::")]
    assert len(streams) <= flows["class"].n_unique() + 1
    # Two connections grow by 1000 bytes each at most instants.
    assert data["results"]["TCP upload sum"][10] == pytest.approx(16.0)


def test_the_queue_is_there_in_flent_s_names(tmp_path: Path) -> None:
    run = long_run(tmp_path, "cubic")
    ingest_run(run)
    results = read_run(run)
    data = flent_data(results)
    port = results.plan.probes.queue_ports[0].replace(":", "-")
    rows: list[dict[str, Any]] = data["raw_values"][f"qdisc_stats_{port}"]
    queues = pl.read_parquet(run / "queues.parquet")
    assert "dropped" not in rows[0] and rows[1]["dropped"] >= 0
    lost = queues["drops"].max()
    counted = sum(row.get("dropped", 0) for row in rows)
    assert isinstance(lost, int) and 0 <= counted <= lost
    assert max(row["backlog_bytes"] for row in rows) <= queues["bytes"].max()
    assert data["metadata"]["TEST_PARAMETERS"]["qdisc_stats_hosts"] == port
    assert len(data["x_values"]) <= 301


def test_a_run_without_samples_of_tcp_has_no_file(tmp_path: Path) -> None:
    run = incast_run(tmp_path, 2)
    ingest_run(run)
    (run / "tcp.parquet").unlink(missing_ok=True)
    with pytest.raises(ResultsError, match="TCP was not sampled"):
        export_flent(read_run(run), tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())
    with pytest.raises(ResultsError, match="until the first sample"):
        flent_data(sampled(tmp_path / "other", samples()))


def test_the_command_writes_the_same_bytes_again(tmp_path: Path) -> None:
    run = long_run(tmp_path, "cubic")
    ingest_run(run)
    words = ["export", str(run), "--format", "flent", "--out"]
    for out in ("a", "b"):
        assert CliRunner().invoke(app, [*words, str(tmp_path / out)]).exit_code == 0
    (first,), (second,) = (list((tmp_path / out).iterdir()) for out in ("a", "b"))
    assert first.name == f"{run.name}.flent.gz" and first.read_bytes() == second.read_bytes()
    assert json.loads(gzip.decompress(first.read_bytes()))["metadata"]["TEST_PARAMETERS"]["upload_streams"]


def test_flent_s_file_has_no_tables(tmp_path: Path) -> None:
    with pytest.raises(fabriclab.FabriclabError, match="has no tables"):
        fabriclab.export(tmp_path, tmp_path / "out", form="flent", tables=["flows"])
