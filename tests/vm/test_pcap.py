"""Ports that are captured: nothing moves, and what the files say is what the logs say."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from lab_runs import LabRun, run_lab
from pcapng_reading import Packet, read_packets
from wireshark import decoded

from fabriclab.compile.captures import most_packets
from fabriclab.results.captures import EPOCH_NS
from fabriclab.results.ingest import read_manifest, read_plan

pytestmark = [pytest.mark.vm, pytest.mark.xdist_group("pcap")]

SETTINGS = "senders=3; rounds=6"
TABLES = ("flows.parquet", "queues.parquet", "tcp.parquet")
DELAY_NS = 25_000
"""Of each of the lab's links."""
IP, TCP = 14, 34
"""Where the headers begin."""


def packets(run: LabRun, port: str) -> list[Packet]:
    return read_packets((run.directory / "pcap" / f"{port}.pcapng").read_bytes())


def payload(packet: Packet) -> int:
    """Return how many bytes a TCP packet carries."""
    total = int.from_bytes(packet.data[IP + 2 : IP + 4], "big")
    return total - 20 - (packet.data[TCP + 12] >> 4) * 4


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[LabRun, LabRun]:
    """The same run without a capture and with one."""
    directory = tmp_path_factory.mktemp("pcap")
    with_it = f"{SETTINGS}; probes.pcap=s1:eth49,h1:eth1"
    return run_lab(directory, "incast", SETTINGS, out="without"), run_lab(directory, "incast", with_it, out="with")


def test_a_capture_moves_nothing(runs: tuple[LabRun, LabRun]) -> None:
    without, captured = runs
    for name in TABLES:
        assert (without.directory / name).read_bytes() == (captured.directory / name).read_bytes(), name
    assert not (without.directory / "pcap").exists() and not (captured.directory / "raw").exists()


def test_the_packets_are_those_of_the_logs(runs: tuple[LabRun, LabRun]) -> None:
    _, run = runs
    seen = packets(run, "h1-eth1")
    flows = pl.read_parquet(run.directory / "flows.parquet").filter(pl.col("src") == "h1")
    # A SYN that came in, its answer, and the ACK that the other end sent at the instant of the log, two links away. Its
    # NIC sends the 90 bytes bit by bit, by a clock of its own.
    first = [packet.direction for packet in seen[:3]]
    assert first == ["in", "out", "in"]
    arrival_ns = flows["connected_ns"].drop_nulls().item() + 2 * DELAY_NS + 90 * 8
    assert seen[2].time_ns - EPOCH_NS == pytest.approx(arrival_ns, abs=1)
    sent = sum(payload(packet) for packet in seen if packet.direction == "out")
    asked = sum(flows["bytes"].to_list())
    assert asked <= sent < asked * 1.2
    longest = max(seen, key=lambda packet: packet.length)
    assert longest.length == 1514 and len(longest.data) == 128
    assert seen == sorted(seen, key=lambda packet: packet.time_ns)
    assert {packet.direction for packet in packets(run, "s1-eth49")} == {"in", "out"}


def test_tshark_reads_it(runs: tuple[LabRun, LabRun]) -> None:
    _, run = runs
    file = run.directory / "pcap" / "s1-eth49.pcapng"
    told = decoded(file, "frame.interface_name", "frame.len")
    assert told == [["s1:eth49", str(packet.length)] for packet in packets(run, "s1-eth49")]


def test_a_full_file_does_not_end_the_run(tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    shutil.copytree(Path(__file__).parents[2] / "labs" / "incast", lab)
    text = (lab / "experiment.yml").read_text()
    few = "probes:\n  pcap: {ports: ['s1:eth49'], file_limit: 1 MB}\n"
    (lab / "experiment.yml").write_text(text.replace("probes:\n", few, 1))
    run = run_lab(tmp_path, str(lab), "senders=3; rounds=12")
    pcap = read_plan(run.directory, read_manifest(run.directory)).probes.pcap
    assert pcap is not None and len(packets(run, "s1-eth49")) == most_packets(pcap)
    assert (run.directory / "pcap" / "s1-eth49.pcapng").stat().st_size <= 1_000_000
    assert run.metrics()["flows_complete"] == run.metrics()["flows"]
