"""`probes: {pcap: ...}`: as it is read, planned, told, captured and turned into pcapng."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest
from patience import patient, wait_until
from pcapng_reading import read_blocks, read_packets
from repository import LABS
from sample_plans import star
from shipped_labs import shipped_lab

from fabriclab.cli.text.plan import plan_text
from fabriclab.compile import compile_job, shortfalls
from fabriclab.compile.captures import compile_captures, most_packets
from fabriclab.formats.pcapng import HEADS_BYTES, packet_bytes
from fabriclab.formats.plan import parse_plan_json, plan_json
from fabriclab.formats.plan.model import Pcap, Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.results.captures import BOOT_NS, EPOCH_NS, write_captures
from fabriclab.results.csv_logs import ResultsError
from fabriclab.runs.engines import plan_for

PCAP = Pcap(ports=("s1:eth1", "h1:eth1"), snaplen_bytes=128, file_limit_bytes=10**6)
FILE_HEAD = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 128, 1)


def capturing(pcap: Pcap = PCAP) -> Plan:
    plan = star(3)
    return plan.model_copy(update={"probes": plan.probes.model_copy(update={"pcap": pcap})})


def planned(**settings: str) -> Plan:
    return resolve_plan(shipped_lab("bufferbloat"), {f"probes.{key}": value for key, value in settings.items()})


def test_ports_alone_have_the_defaults_and_none_is_nothing() -> None:
    expected = Pcap(ports=("s1:eth1", "h1:eth1"), snaplen_bytes=128, file_limit_bytes=250_000_000)
    assert planned(pcap="s1:eth1,h1:eth1").probes.pcap == expected
    assert planned(pcap="none").probes == planned().probes


def test_a_mapping_says_how_much(tmp_path: Path) -> None:
    lab = LABS / "incast"
    (tmp_path / "topology.clab.yml").write_text((lab / "topology.clab.yml").read_text())
    (tmp_path / "experiment.yml").write_text("""\
title: t
switches: {default: {buffer: 64 KB}}
traffic: {a: {kind: flows, senders: [h1], receiver: h2, size: 1 KB}}
probes: {pcap: {ports: 's1:eth1', snaplen: 1 KB, file_limit: 2 MB}}
""")
    probes = resolve_plan(parse_lab(tmp_path), {"probes.pcap.snaplen": "64 B"}).probes
    assert probes.pcap == Pcap(ports=("s1:eth1",), snaplen_bytes=64, file_limit_bytes=2_000_000)
    assert probes.queue_ports == ("s1:eth2",), "a capture is not a sample: those by default are taken"


def test_a_plan_without_captures_is_written_as_ever() -> None:
    assert "pcap" not in plan_json(star(3))
    plan = capturing()
    assert parse_plan_json(plan_json(plan)) == plan


def test_a_capture_is_a_program_of_the_machine_s_own_beside_the_sampler() -> None:
    assert compile_captures(None) == []
    job = compile_job(capturing())
    assert [probe["name"] for probe in job["probes"] if probe["name"] != "sampler"] == ["pcap@s1-eth1", "pcap@h1-eth1"]
    probe = job["probes"][-1]
    assert probe["node"] is None, "a node that loses its power would take it along"
    assert "-p" in probe["argv"], "routing daemons are told of interfaces in promiscuous mode"
    assert "--net=/run/netns/h1" in probe["argv"] and "/job/raw/pcap/h1-eth1.pcap" in probe["argv"]


def test_no_file_becomes_larger_than_its_limit() -> None:
    packets = most_packets(PCAP)
    assert HEADS_BYTES + packets * packet_bytes(128) <= 10**6 < HEADS_BYTES + (packets + 1) * packet_bytes(128)


def test_the_plan_says_what_is_captured_and_how_much_at_most() -> None:
    assert "captured: s1:eth1, h1:eth1; 128 B of each packet, at most 2 MB\n" in plan_text(capturing())
    many = PCAP.model_copy(update={"ports": tuple(f"s1:eth{number}" for number in range(1, 11))})
    assert "s1:eth7, 3 more;" in plan_text(capturing(many))


def test_containers_capture_nothing_and_say_so() -> None:
    plan = plan_for(capturing(), "containerlab")
    assert plan.probes.pcap is None and any("probes.pcap" in sentence for sentence in plan.warnings)
    assert not any("probes.pcap" in sentence for sentence in shortfalls(star(3)))


def script(directory: Path, command: str) -> subprocess.Popen[bytes]:
    """Start the shell of a capture with another program than tcpdump."""
    *shell, _ = compile_captures(PCAP)[0]["argv"][:5]
    words = [*shell, str(directory / "epoch"), "/bin/sh", "-c", command]
    return subprocess.Popen(words, env={**os.environ, "FABRICLAB_EPOCH_NS": "17"})


def test_who_has_enough_waits_for_the_end_of_the_run(tmp_path: Path) -> None:
    with script(tmp_path, f"touch {tmp_path}/done") as shell:
        while not (tmp_path / "done").exists():
            assert shell.poll() is None
            time.sleep(0.01)
        time.sleep(0.1)
        assert shell.poll() is None, "a probe that ends early ends the run"
        shell.send_signal(signal.SIGTERM)
        assert shell.wait(timeout=patient(10)) == 0
    assert (tmp_path / "epoch").read_text() == "17\n"


def sleeps(process: int) -> bool:
    """Return whether a process waits for something."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def test_a_capture_ends_as_tcpdump_does(tmp_path: Path) -> None:
    assert script(tmp_path, "exit 3").wait(timeout=patient(10)) == 3
    asked = f"trap 'echo all >{tmp_path}/written; exit 4' TERM; touch {tmp_path}/ready; while :; do sleep 0.05; done"
    with script(tmp_path, asked) as shell:
        # Before the shell waits, it may not know yet whom to end: a busy host leaves it there for a while.
        wait_until(lambda: (tmp_path / "ready").exists() and sleeps(shell.pid))
        shell.send_signal(signal.SIGTERM)
        assert shell.wait(timeout=patient(10)) == 4
    assert (tmp_path / "written").read_text() == "all\n"
    assert script(tmp_path / "nowhere", "true").wait(timeout=patient(10)) == 1


def captured(directory: Path, raw: bytes, epoch: str = "10000000\n", log: str = "0 packets dropped by kernel") -> Plan:
    """Write what a machine leaves of one port."""
    for name in ("raw/pcap", "logs"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    (directory / "raw/pcap/s1-eth1.pcap").write_bytes(raw)
    (directory / "raw/pcap/s1-eth1.epoch").write_text(epoch)
    (directory / "logs/pcap@s1-eth1.log").write_text(f"5 packets captured\n{log}\n")
    return capturing(PCAP.model_copy(update={"ports": ("s1:eth1",)}))


def frame(plan: Plan, time_ns: int) -> bytes:
    mac = bytes.fromhex(plan.node("s1").ports[0].mac.replace(":", ""))
    return struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, 14, 1514) + bytes(6) + mac + b"\x08\x00"


def test_times_count_from_the_epoch(tmp_path: Path) -> None:
    packet = frame(capturing(), BOOT_NS + 10_000_000 + 250)
    assert write_captures(tmp_path, captured(tmp_path, FILE_HEAD + packet)) == []
    file = (tmp_path / "pcap/s1-eth1.pcapng").read_bytes()
    (only,) = read_packets(file)
    assert (only.time_ns - EPOCH_NS, only.length, only.direction) == (250, 1514, "out")
    assert [kind for kind, _ in read_blocks(file)] == [0x0A0D0D0A, 1, 6]


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    packet = frame(capturing(), BOOT_NS + 10**9)
    plan = captured(tmp_path, FILE_HEAD + packet + packet[:20], log="3 packets dropped by kernel")
    notes = write_captures(tmp_path, plan)
    assert [note.partition(": ")[2] for note in notes] == [
        "the last packets are missing: tcpdump was killed",
        "3 packets are missing: tcpdump did not read them in time",
    ]
    assert len(read_packets((tmp_path / "pcap/s1-eth1.pcapng").read_bytes())) == 1


def test_a_run_that_died_before_has_no_file(tmp_path: Path) -> None:
    (note,) = write_captures(tmp_path, capturing(PCAP.model_copy(update={"ports": ("s1:eth1",)})))
    assert "missing" in note and not list((tmp_path / "pcap").iterdir())
    assert write_captures(tmp_path / "other", star(3)) == [] and not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("raw", "epoch", "text"),
    [(FILE_HEAD, "soon", "must be a number of nanoseconds, not 'soon'"), (bytes(24), "1", "begins")],
)
def test_what_is_no_capture_is_an_error(tmp_path: Path, raw: bytes, epoch: str, text: str) -> None:
    with pytest.raises(ResultsError, match=text):
        write_captures(tmp_path, captured(tmp_path, raw, epoch))
    assert not list((tmp_path / "pcap").iterdir()), "nothing half-done"
