"""The parts of live labs that need no lab: messages, speeds, the registry, recordings, captures, paths, ports."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import struct
from fractions import Fraction
from pathlib import Path

import pytest

from fabriclab.cli.fast import plain
from fabriclab.errors import ArgumentError
from fabriclab.formats.live import PAYLOAD_MAX, REAL_TIME, Input, Request
from fabriclab.formats.speed import format_speed, kernel_speed, parse_speed
from fabriclab.live import labs_up
from fabriclab.live.busy import Busy
from fabriclab.live.client import exit_status, failure_text
from fabriclab.live.copying import split_path
from fabriclab.live.forwarding import parse_forward
from fabriclab.live.gather import Started, gather_started
from fabriclab.live.pace import Ratio, time_text
from fabriclab.live.recording import Header, Nap, Outputs, Recorder, RecordingError, Taken, read_recording
from fabriclab.live.wire import (
    Frame,
    WireError,
    decode,
    frame,
    nap_message,
    parse_client_head,
    parse_frame,
    parse_head,
    parse_nap,
    request,
)

HEADER = Header(
    version="1", lab="pair", lab_directory="/pair", seed=1, idle=False, artefacts={"kernel": "a"}, plan_sha256="b"
)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "fabriclab"


@pytest.mark.parametrize(
    ("text", "speed", "shown"),
    [("1", 1, "1"), ("1/100", Fraction(1, 100), "1/100"), ("0.5", Fraction(1, 2), "1/2"), ("max", None, "max")],
)
def test_a_speed_is_read_and_written(text: str, speed: Fraction | None, shown: str) -> None:
    assert parse_speed(text) == speed
    assert format_speed(parse_speed(text)) == shown


@pytest.mark.parametrize("text", ["", "0", "-1", "fast", "1/0", "nan", "inf", "1e9", "1" * 100])
def test_what_is_no_speed_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="write virtual seconds per second"):
        parse_speed(text)


def test_the_kernel_counts_speeds_in_parts_of_real_time() -> None:
    assert [kernel_speed(parse_speed(text)) for text in ("1", "1/2", "max")] == [REAL_TIME, REAL_TIME // 2, 0]


def test_the_ratio_is_that_of_the_last_second() -> None:
    ratio = Ratio()
    assert ratio.value is None
    for wall_ns in range(0, 5 * 10**9, 10**7):
        ratio.told(wall_ns, wall_ns if wall_ns < 10**9 else 10**9 + (wall_ns - 10**9) // 4)
    assert ratio.value == pytest.approx(0.25)
    ratio.forget()
    assert ratio.value is None


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"paused": True, "speed": "1", "ratio": None}, "1.500000000 s, paused (speed 1)"),
        ({"paused": False, "speed": "1", "ratio": 0.99}, "1.500000000 s, speed 1"),
        ({"paused": False, "speed": "1", "ratio": None}, "1.500000000 s, speed 1"),
        ({"paused": False, "speed": "max", "ratio": 7.0}, "1.500000000 s, speed max: 7 virtual seconds per second"),
        (
            {"paused": False, "speed": "1/2", "ratio": 0.25},
            "1.500000000 s, speed 1/2, which this computer does not keep up with: 0.25 virtual seconds per second",
        ),
    ],
)
def test_time_in_words(state: dict[str, object], text: str) -> None:
    assert time_text({"now_ns": 1_500_000_000, **state}) == text


def test_messages_have_bounds() -> None:
    head = parse_head(request(Request.INPUT_AT, 3, 4, b"abc")[:24])
    assert head == (Request.INPUT_AT, 3, 3, 4)
    assert parse_frame(frame(7, Input.DATA, b"x")) == (7, Input.DATA, b"x")
    with pytest.raises(WireError, match="at most 65536 are allowed"):
        request(Request.INPUT, payload=bytes(PAYLOAD_MAX + 1))
    with pytest.raises(WireError, match="a message has"):
        parse_head(struct.pack("=IIQQ", 1, PAYLOAD_MAX + 1, 0, 0))
    with pytest.raises(WireError, match="a frame has 4 bytes"):
        parse_frame(b"1234")
    with pytest.raises(WireError, match="a frame has"):
        parse_client_head(b"\xff" * 5)
    for text in (b"{", b"[]", b"\xff"):
        with pytest.raises(WireError):
            decode(text)


def test_a_status_is_a_shell_s() -> None:
    assert [exit_status(status) for status in ("exit 0", "exit 3", "signal 9", "odd")] == [0, 3, 137, 129]


def test_an_error_names_its_place() -> None:
    error = {"node": "h1", "file": "x", "line": 3, "text": "qdisc add", "message": "no"}
    assert failure_text(error) == "h1 x:3 `qdisc add`: no"
    assert failure_text({"message": "no"}) == "no"


def test_the_registry_s_directory_is_the_user_s_alone(runtime: Path) -> None:
    assert labs_up.directory() == str(runtime)
    assert stat.S_IMODE(runtime.stat().st_mode) == 0o700
    runtime.chmod(0o755)
    with pytest.raises(labs_up.LabsUpError, match="yours alone"):
        labs_up.directory()
    runtime.chmod(0o700)
    runtime.rename(runtime.with_name("other"))
    runtime.symlink_to(runtime.with_name("other"))
    with pytest.raises(labs_up.LabsUpError, match="yours alone"):
        labs_up.directory()


def test_without_a_runtime_directory_it_lies_in_tmp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert labs_up.directory() == f"/tmp/fabriclab-{os.getuid()}"


def test_what_a_killed_server_left_is_removed(runtime: Path) -> None:
    entry = labs_up.Entry("pair")
    entry.fill({"nodes": ["h1"]})
    Path(entry.socket).touch()
    assert labs_up.chosen(None) == "pair"
    # A killed process's lock is free; its files are there.
    (runtime / "dead.json").write_text(json.dumps({"name": "dead"}))
    (runtime / "dead.sock").touch()
    assert list(labs_up.labs()) == ["pair"]
    assert not list(runtime.glob("dead*"))
    held = os.open(runtime / "pair.json", os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(held)
    entry.close()
    assert labs_up.labs() == {}


def test_a_lab_that_was_taken_out_leaves_its_name_to_the_next(runtime: Path) -> None:
    entry = labs_up.Entry("pair")
    entry.fill({"nodes": ["h1"]})
    entry.withdraw()
    assert labs_up.labs() == {}
    other = labs_up.Entry("pair")
    other.fill({"nodes": ["h2"]})
    entry.close()
    assert labs_up.labs()["pair"]["nodes"] == ["h2"]
    other.close()


def test_a_name_whose_socket_would_have_too_long_a_path_is_refused(runtime: Path) -> None:
    with pytest.raises(labs_up.LabsUpError, match="shorter name"):
        labs_up.Entry("x" * 200)
    assert not list(runtime.glob("x*"))


NAP = Nap(events=4, t_ns=50, calls=3, length_ns=7, ticks=2, program="yes", node="h1", outputs="00")


def test_programs_that_never_sleep_are_listed_as_long_as_they_are_told_of() -> None:
    now_s = 0.0
    busy = Busy(lambda: now_s)
    busy.told("yes", "h1")
    now_s = 2.0
    busy.told("yes", "h1")
    busy.told("sh", "h2")
    now_s = 4.0
    assert busy.programs() == [("yes", "h1", 4.0), ("sh", "h2", 2.0)]
    for number in range(100):
        busy.told(f"sh{number}", "h1")
    assert len(busy.programs()) == 64
    now_s = 9.0
    assert busy.programs() == []


def test_a_nap_is_read_as_the_kernel_says_it() -> None:
    assert parse_nap(nap_message(3, 7, 2)) == (3, 7, 2, "", "")
    with pytest.raises(WireError, match="a nap has 3 bytes"):
        parse_nap(b"abc")


def recorded(directory: Path) -> list[Taken]:
    recorder, outputs = Recorder(directory, HEADER), Outputs()
    taken = []
    for number, data in enumerate((b'{"down":{}}', b"\xff\0", "ä\n".encode(), b"")):
        outputs.add(b"written")
        taken.append(Taken(number, number * 10, Frame(number + 1, Input.DATA, data), outputs.digest))
        recorder.took(taken[-1])
    recorder.napped(NAP)
    recorder.end(outputs)
    recorder.close()
    return taken


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    taken = recorded(tmp_path)
    recording = read_recording(tmp_path)
    assert recording.header == HEADER
    assert list(recording.inputs) == taken
    assert recording.history == (*taken, NAP)
    assert recording.outputs == taken[-1].outputs


def test_every_part_of_a_recording_that_was_cut_is_a_recording(tmp_path: Path) -> None:
    taken = recorded(tmp_path)
    path = tmp_path / "session.jsonl"
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(first, len(whole)):
        path.write_bytes(whole[:length])
        recording = read_recording(tmp_path)
        assert list(recording.history) == [*taken, NAP][: whole[:length].count(b"\n") - 1]
        assert recording.outputs is None
    path.write_bytes(whole[: first - 1])
    with pytest.raises(RecordingError, match="never up"):
        read_recording(tmp_path)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{", ":1: is not JSON"),
        ("[]", ":1: is not an object"),
        ('{"format": "other"}', ":1: the format is 'other'"),
        ('{"format": "fabriclab-session-1"}', ":1: .*missing"),
        (f'{json.dumps({**HEADER.__dict__})}\n{{"kind": "dance"}}', ":2: the line is not an input"),
    ],
)
def test_a_wrong_recording_names_file_and_line(tmp_path: Path, line: str, text: str) -> None:
    (tmp_path / "session.jsonl").write_text(line + "\n")
    with pytest.raises(RecordingError, match=f"session.jsonl{text}"):
        read_recording(tmp_path)


def test_what_is_no_live_lab_s_run_has_no_recording(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"has no session\.jsonl; name"):
        read_recording(tmp_path)


@pytest.mark.parametrize(
    ("written", "split"),
    [
        ("h1:/tmp/x", ("h1", "/tmp/x")),
        ("pair:h1:x", ("pair:h1", "x")),
        ("h1:", ("h1", "/")),
        ("./a:b", None),
        ("file", None),
        (":x", None),
    ],
)
def test_paths_in_nodes(written: str, split: tuple[str, str] | None) -> None:
    assert split_path(written) == split


def test_forwards_are_on_loopback_alone() -> None:
    assert parse_forward("8080:h1:80") == ("127.0.0.1", 8080, "h1", 80)
    assert parse_forward("localhost:8080:h1:80") == ("127.0.0.1", 8080, "h1", 80)
    assert parse_forward("[::1]:0:h1:80") == ("::1", 0, "h1", 80)
    for written, text in (
        ("0.0.0.0:1:h1:80", "not on loopback"),
        ("example.org:1:h1:80", "not on loopback"),
        ("80:h1", "does not say what to forward"),
        ("80:h1:x", "does not say what to forward"),
        ("70000:h1:80", "the largest port number is 65535"),
        ("80:h1:0", "the largest port number is 65535"),
    ):
        with pytest.raises(ArgumentError, match=text):
            parse_forward(written)


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (["exec", "h1", "--", "ls", "-l"], ("h1", ["ls", "-l"])),
        (["exec", "h1", "ls", "-l"], ("h1", ["ls", "-l"])),
        (["exec", "h1"], None),
        (["exec", "h1", "--"], None),
        (["exec", "--help"], None),
        (["exec", "h1", "--help"], None),
        (["shell", "h1"], ("h1", ["shell"])),
        (["shell", "h1", "--command", "x"], None),
        (["vtysh", "s1", "-c", "show version"], None),
        (["run", "incast"], None),
        ([], None),
    ],
)
def test_plain_calls_take_the_short_way(arguments: list[str], call: tuple[str, list[str]] | None) -> None:
    assert plain(arguments) == call


def test_flows_that_were_started_by_hand_count_from_the_lab_s_epoch(tmp_path: Path) -> None:
    head = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,group,after\n"
    log_head = "# fabriclab-flows-2\nflow,side,status,start_ns,connected_ns,first_byte_ns,end_ns,bytes\n"
    for name in ("traffic", "live/1", "raw/flows"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "traffic/trace.csv").write_text(head + "0,5,h1,h2,100,,,\n")
    (tmp_path / "live/1/trace.csv").write_text(head + "1,0,h1,h2,100,,a,\n2,7,h1,h2,100,,b,a\n3,1,h1,h2,,9,,\n")
    (tmp_path / "live/1/h1.csv").write_text(log_head + "1,src,complete,0,1,2,3,100\n2,src,unstarted,,,,,\n3,src,st")
    gather_started(tmp_path, [Started("live/1", 1000), Started("live/2")], idle=False)
    rows = (tmp_path / "traffic/trace.csv").read_text().splitlines()[2:]
    assert [row.split(",")[:6] for row in rows] == [
        ["0", "5", "h1", "h2", "100", ""],
        ["1", "1000", "h1", "h2", "100", ""],
        ["2", "7", "h1", "h2", "100", ""],
        ["3", "1001", "h1", "h2", "", "1009"],
    ]
    assert rows[2].split(",")[9:11] == ["live-1-b", "live-1-a"]
    log = (tmp_path / "raw/flows/live-1-h1.csv").read_text().splitlines()[2:]
    assert [line.split(",")[:8] for line in log] == [
        ["1", "src", "complete", "1000", "1001", "1002", "1003", "100"],
        ["2", "src", "unstarted", "", "", "", "", ""],
    ]


def test_an_idle_lab_s_own_flows_are_no_part_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "traffic").mkdir()
    trace = tmp_path / "traffic/trace.csv"
    trace.write_text("# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes\n0,5,h1,h2,100\n")
    gather_started(tmp_path, [], idle=False)
    assert trace.read_text().endswith("0,5,h1,h2,100\n")
    gather_started(tmp_path, [], idle=True)
    assert len(trace.read_text().splitlines()) == 2
