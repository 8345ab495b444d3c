"""A live lab from Python, with a stand-in for its machine: commands, time, traffic, the recording, its end."""

from __future__ import annotations

import csv
import json
import socket
from contextlib import suppress
from pathlib import Path

import pytest

import fabriclab
from fabriclab.errors import ArgumentError
from fabriclab.formats.live import Input, Output
from fabriclab.live import labs_up
from fabriclab.live.client import Connection, Gone, LiveError, Session, ask
from fabriclab.live.lab import CommandFailed, Live
from fabriclab.live.launch import UpFailed
from fabriclab.live.recording import read_recording
from fabriclab.live.wire import client_frame


def test_a_command_has_its_status_and_both_its_outputs(live: Live) -> None:
    done = live.exec("h1", ["echo", "hello", "there"])
    assert (done.status, done.stdout, done.stderr) == (0, "hello there\n", "echoed\n")
    assert live.exec("h1", ["exit", "7"], check=False).status == 7
    with pytest.raises(CommandFailed, match="h1: exit 3: ended with 3"):
        live.exec("h1", ["exit", "3"])


def test_input_longer_than_its_credit_arrives_whole(live: Live) -> None:
    text = "".join(f"{number}\n" for number in range(60_000))
    assert live.exec("h1", ["cat"], input=text).stdout == text


def test_what_is_wrong_is_said_and_the_lab_goes_on(live: Live) -> None:
    with pytest.raises(LiveError, match="'h3': the lab has no such node; valid here: s1, h1, h2"):
        live.exec("h3", ["echo"])
    with pytest.raises(LiveError, match="nope: no such program"):
        live.exec("h1", ["nope"])
    with pytest.raises(LiveError, match="the lab has no such traffic; did you mean 'one'"):
        live.start("ones")
    with pytest.raises(LiveError, match="the lab has no such host"):
        live.flow("h1", "s1", "1 KB")
    with pytest.raises(LiveError, match="no such congestion control; did you mean 'cubic'"):
        live.flow("h1", "h2", "1 KB", congestion_control="cubik")
    with pytest.raises(LiveError, match="virtual seconds per second"):
        live.speed = "fast"
    with pytest.raises(LiveError, match="bytes are too many"):
        live.exec("h1", ["echo", "x" * 70_000])
    with pytest.raises(LiveError, match="unknown request"):
        ask(live.name, {"do": "dance"})
    with pytest.raises(LiveError, match="a client can open one of"):
        ask(live.name, {"do": "open", "open": {"down": {}}})
    assert live.exec("h1", ["echo"]).status == 0


def test_time_stops_goes_on_and_steps(live: Live) -> None:
    paused = live.pause()
    assert live.paused and live.now == paused
    assert live.step("10 us") == paused + 10_000
    assert live.step(5) == paused + 10_005
    assert live.exec("h1", ["now"]).stdout == f"{paused + 10_005 + 20_000_000}\n"
    live.speed = 0.5
    assert live.speed == "1/2" and live.paused
    live.resume()
    assert not live.paused


def test_a_step_is_taken_back_by_who_leaves(live: Live) -> None:
    live.speed = "1/1000"
    with Connection(live.name) as connection:
        connection.send(Input.OPEN, b'{"do":"step","duration_ns":1000000000000}')
    while not live.paused:
        pass
    assert live.now < 10**12


def test_a_process_whose_client_has_gone_is_hung_up(live: Live) -> None:
    with Connection(live.name) as connection:
        session = Session(connection, {"open": {"exec": {"node": "h1", "argv": ["yes"], "environment": {}}}})
        while not session.started:
            session.receive()
    signals: list[bytes] = []
    while not signals:
        inputs = read_recording(live.directory).inputs
        signals = [taken.frame.data for taken in inputs if taken.frame.kind == Input.SIGNAL]
    assert signals == [bytes([1])]


def test_frames_of_no_client_of_ours_end_the_connection_alone(live: Live) -> None:
    for frame in (b"\0" * 5, client_frame(Input.OPEN, b"[]"), b"\xff" * 5, client_frame(Input.DATA, b"x")):
        with socket.socket(socket.AF_UNIX) as end, suppress(OSError):
            end.connect(labs_up.socket_path(live.name))
            end.sendall(frame)
            end.shutdown(socket.SHUT_WR)
            while end.recv(1000):
                pass
    assert live.exec("h1", ["echo"]).status == 0


def test_who_does_not_read_makes_its_process_wait_and_nobody_else(live: Live) -> None:
    with Connection(live.name) as connection:
        session = Session(connection, {"open": {"exec": {"node": "h1", "argv": ["yes"], "environment": {}}}})
        for _ in range(20):
            assert live.exec("h1", ["echo"]).status == 0
        taken = 0
        while taken < 1_000_000:
            for kind, data in session.receive():
                assert kind == Output.STDOUT
                taken += len(data)
                session.consumed(len(data))
        session.signal(9)
        while session.status is None:
            session.receive()
    assert session.status == "signal 9"


def test_started_traffic_is_part_of_the_run(live: Live) -> None:
    assert live.start("one") == 1
    live.flow("h1", "h2", "20 KB", congestion_control="reno")
    live.stop("one")
    with pytest.raises(LiveError, match="no traffic of this name that was started by hand is running"):
        live.stop("one")
    started = json.loads((live.directory / "scratch" / "live" / "started.json").read_text())["programs"]
    assert [program["name"] for program in started] == ["flow-2@h1", "flow-2@h2"]
    assert "--port" in started[0]["argv"] and "7032" in started[0]["argv"]
    directory = live.down().directory
    with (directory / "traffic" / "trace.csv").open() as file:
        file.readline()
        rows = list(csv.DictReader(file))
    assert [(row["flow"], row["src"], row["size_bytes"]) for row in rows] == [
        ("1", "h1", "10000"),
        ("2", "h1", "20000"),
    ]
    assert int(rows[0]["start_ns"]) > 0 and rows[1]["congestion_control"] == "reno"


def test_a_recording_says_what_was_done_when(live: Live) -> None:
    live.exec("h1", ["echo", "one"])
    live.exec("h2", ["cat"], input=b"\xff\0")
    run = live.down()
    recording = read_recording(run.directory)
    assert recording.header.idle and recording.header.lab == "pair"
    words = [(taken.frame.session, Input(taken.frame.kind).name) for taken in recording.inputs]
    assert words == [(1, "OPEN"), (1, "EOF"), (2, "OPEN"), (2, "DATA"), (2, "EOF"), (3, "OPEN")] or words[0] == (
        1,
        "OPEN",
    )
    places = [(taken.events, taken.t_ns) for taken in recording.inputs]
    assert places == sorted(places)
    assert b"\xff\0" in [taken.frame.data for taken in recording.inputs]
    assert recording.outputs is not None
    assert run.manifest["files"]["session.jsonl"] and run.status == "complete"


def test_a_lab_that_is_down_is_gone(served_here: Path) -> None:
    live = fabriclab.up("pair")
    assert labs_up.labs()[live.name]["nodes"] == ["s1", "h1", "h2"]
    with Connection(live.name) as connection:
        session = Session(connection, {"open": {"exec": {"node": "h1", "argv": ["wait"], "environment": {}}}})
        while not session.started:
            session.receive()
        live.down()
        with pytest.raises(LiveError, match="has gone down"):
            while True:
                session.receive()
    assert labs_up.labs() == {}
    with pytest.raises(labs_up.LabsUpError, match="no lab is up"):
        live.exec("h1", ["echo"])
    assert issubclass(Gone, LiveError)


def test_two_labs_have_two_names(served_here: Path) -> None:
    with fabriclab.up("pair") as first, fabriclab.up("pair") as second, fabriclab.up("pair", name="mine") as third:
        assert [first.name, second.name, third.name] == ["pair", "pair-2", "mine"]
        with pytest.raises(labs_up.LabsUpError, match="these labs are up: mine, pair, pair-2; name one"):
            labs_up.chosen(None)
        with pytest.raises(labs_up.LabsUpError, match="pair-3: no lab of that name is up"):
            labs_up.chosen("pair-3")


def test_what_keeps_a_lab_from_coming_up_is_said(served_here: Path) -> None:
    for arguments, status, text in (
        ({"set": {"nothing": 1}}, 2, "nothing"),
        ({"speed": "0"}, 2, "virtual seconds per second"),
        ({"seed": -1}, 2, "seed"),
        ({"out": "pair"}, 2, "already exists"),
    ):
        with pytest.raises(UpFailed, match=text) as failed:
            fabriclab.up("pair", **arguments)
        assert failed.value.status == status
    with pytest.raises(UpFailed, match="no such directory"):
        fabriclab.up("./pairs")
    with pytest.raises(ArgumentError, match="a text, a number"):
        fabriclab.up("pair", set={"x": None})  # type: ignore[dict-item]
    assert labs_up.labs() == {}


def test_a_lab_made_in_python_comes_up(served_here: Path) -> None:
    lab = fabriclab.load_lab("pair").with_settings({"traffic.one.rounds": 2})
    stages: list[str] = []
    with fabriclab.up(lab, stage=stages.append) as live:
        plan = json.loads((live.directory / "plan.json").read_text())
        assert plan["traffic"][0]["rounds"] == 2
        assert plan["probes"]["queue_interval_ns"] is None
    assert "nodes" in stages
