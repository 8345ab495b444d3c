"""DX in the machine: delays as they are told, and the queue that follows from them; the lab, cut short."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from lab_runs import LabRun, run_lab

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

FRAME_BYTES = 1514
SETTLED_NS = 100_000_000


def lab(directory: Path, settings: str) -> LabRun:
    stop = "" if "stop" in settings else "traffic.long.stop=300 ms; "
    return run_lab(directory, "dx", f"{stop}{settings}")


def settled(run: LabRun, table: str) -> pl.DataFrame:
    return pl.read_parquet(run.directory / f"{table}.parquet").filter(
        pl.col("time_ns").is_between(SETTLED_NS, 3 * SETTLED_NS, closed="left")
    )


def test_ten_flows_share_the_line_with_about_a_packet_each(tmp_path: Path) -> None:
    run = lab(tmp_path, "senders=10; delay=100 us")
    assert run.metrics()["goodput_bps"] > 850e6
    # N packets stand still, N / C of delay: less where some come late, more while the windows are not yet equal.
    mean = settled(run, "queues")["bytes"].to_numpy().mean()
    assert 10 * FRAME_BYTES / 3 < mean < 1.5 * 10 * FRAME_BYTES


def test_errors_of_the_stamps_do_not_stop_it(tmp_path: Path) -> None:
    """With the form without an increase in each round, windows stayed at 2 packets here: 460 Mbps of 10 Gbps."""
    run = lab(tmp_path, "variant=dx-driver-error; rate=10 Gbps; traffic.long.stop=100 ms")
    assert run.metrics()["goodput_bps"] > 9e9
    assert (run.directory / "nodes/h21/sysctl.conf").read_text().count("net.ipv4.tcp_delay_error_ns = 2000") == 1


def test_beside_others_it_starves(tmp_path: Path) -> None:
    run = lab(tmp_path, "variant=beside-cubic")
    shares = settled(run, "tcp").group_by("node").agg(pl.col("bytes_acked").max() - pl.col("bytes_acked").min())
    by_node = dict(shares.iter_rows())
    assert by_node["h1"] < 0.1 * by_node["h2"]


def test_over_ipv6_delays_are_told_too(tmp_path: Path) -> None:
    """Without what the receiver tells the queue would be what it is under CUBIC: hundreds of kilobytes."""
    run = lab(tmp_path, "addresses=ipv6; senders=10; delay=100 us")
    assert run.metrics()["goodput_bps"] > 840e6
    mean = settled(run, "queues")["bytes"].to_numpy().mean()
    assert 10 * FRAME_BYTES / 3 < mean < 1.5 * 10 * FRAME_BYTES
