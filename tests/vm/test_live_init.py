"""PID 1 serves a live lab: programs with pipes and terminals, connections, changes, files, programs of the run."""

from __future__ import annotations

import json
import signal
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_jobs import FILES, SECOND_NS, job
from live_machine import LiveMachine, Session, live_machine, machine_of, write_job

from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.virtual import run_machine
from fabriclab.formats.live import INPUT_CREDIT, LIVE_FILES, OUTPUT_CREDIT, REAL_TIME, Input, Output, Stop

pytestmark = pytest.mark.vm

TERMINAL = {"rows": 24, "columns": 80}
QDISCS = """\
qdisc add dev eth1 root handle 1: tbf rate 100000000bit burst 1514 limit 64000
qdisc add dev eth1 parent 1:1 handle 2: netem limit 1000 delay 25000ns
"""
FILES |= {f"nodes/{node}/tc.batch": QDISCS for node in "ab"}


def program(name: str, node: str | None, *argv: str) -> dict[str, object]:
    return {"name": name, "node": node, "argv": list(argv)}


@pytest.fixture
def live(artefacts: Artefacts, tmp_path: Path) -> Iterator[LiveMachine]:
    with live_machine(artefacts, tmp_path / "run", job(), FILES) as machine:
        yield machine


def done(live: LiveMachine, **asked: object) -> str | None:
    """Ask for something that is done at once, and return how it ended."""
    return live.finish(live.open(**asked)).status


def shell(live: LiveMachine, script: str, **more: object) -> Session:
    return live.open(exec={"node": "a", "argv": ["sh", "-c", script], **more})


def test_a_program_has_its_streams_status_and_end_of_input_while_time_stands_still(live: LiveMachine) -> None:
    began = live.now_ns
    session = shell(live, "cat; echo $GREETING >&2; exit 3", environment={"GREETING": "good day"}, watches=True)
    live.say(session.number, Input.DATA, b"hello ")
    live.say(session.number, Input.DATA, b"there")
    live.say(session.number, Input.EOF)
    live.finish(session)
    assert (session.stdout, session.stderr, session.status) == (b"hello there", b"good day\n", "exit 3")
    assert session.kinds[0] is Output.STARTED and session.kinds[-1] is Output.ENDED
    assert session.credit == len("hello there")
    assert live.run("b", "uname", "-n").stdout == b"b\n"
    assert set(live.run(None, "ls", "/run/netns").stdout.split()) == {b"a", b"b"}
    assert live.run("a", "sh", "-c", "kill -9 $$").status == "signal 9"
    # What orphans hold open is not waited for.
    assert live.run("a", "sh", "-c", "sleep 1000 & echo done").stdout == b"done\n"
    assert live.stops == [(began, Stop.BY_INIT)] and live.now_ns == began
    assert live.down()[-1]["status"] == "complete"


def test_what_can_t_be_opened_or_understood_is_an_error_and_the_lab_runs_on(live: LiveMachine) -> None:
    missing = live.open(exec={"node": "a", "argv": ["no-such-program"]})
    assert missing.error == {"node": "a", "message": "start no-such-program: No such file or directory"}
    assert live.open(exec={"node": "c", "argv": ["ls"]}).error == {"message": 'there is no node "c"'}
    assert live.open(exec={"node": "a", "argv": []}).error == {"message": "argv must name a program"}
    assert "unknown variant `fly`" in live.open(fly={}).complaint
    for number, (kind, data, expected) in enumerate(
        [
            (Input.OPEN, b"{", "the JSON of open"),
            (Input.RESIZE, b"1", "resize has 1 bytes"),
            (Input.SIGNAL, b"\xff", "there is no signal 255"),
            (99, b"", "an input has the kind 99"),
        ],
        900,
    ):
        live.say(number, kind, data)
        live.wait(lambda number=number: number in live.sessions)  # type: ignore[misc]
        assert expected in live.sessions[number].complaint
    # Of sessions that have ended, or never were.
    for kind, data in ((Input.DATA, b"x"), (Input.EOF, b""), (Input.CREDIT, b"1234"), (Input.SIGNAL, b"\x02")):
        live.say(950, kind, data)
    sleeper = shell(live, "sleep 1000")
    live.say(sleeper.number, Input.RESIZE, b"")
    assert "resize has 0 bytes" in live.finish(sleeper).complaint
    assert 950 not in live.sessions
    assert live.run("a", "pgrep", "sleep").status == "exit 1"


def test_a_signal_reaches_the_program_and_its_group_and_kill_all_of_its_session(live: LiveMachine) -> None:
    sleeper = shell(live, "sleep 1000; true")
    live.say(sleeper.number, Input.SIGNAL, bytes([signal.SIGTERM]))
    assert live.finish(sleeper).status == f"signal {signal.SIGTERM}"
    careful = shell(live, "trap 'echo caught; exit 7' INT; sleep 1000 & wait")
    live.until(shell(live, "echo ready"), b"ready")
    live.say(careful.number, Input.SIGNAL, bytes([signal.SIGINT]))
    assert (live.finish(careful).stdout, careful.status) == (b"caught\n", "exit 7")
    stubborn = shell(live, "set -m; trap '' HUP; sleep 1000 & echo up; wait; wait")
    live.until(stubborn, b"up")
    live.say(stubborn.number, Input.SIGNAL, bytes([signal.SIGHUP]))
    live.say(stubborn.number, Input.SIGNAL, bytes([signal.SIGKILL]))
    assert live.finish(stubborn).status == f"signal {signal.SIGKILL}"
    assert live.run("a", "pgrep", "-f", "sleep 1000").stdout.count(b"\n") <= 1  # `careful` left one behind


def test_a_terminal_has_a_name_a_size_and_job_control(live: LiveMachine) -> None:
    session = live.open(
        exec={
            "node": "a",
            "argv": ["bash", "--norc", "--noprofile", "-i"],
            "environment": {"TERM": "xterm", "PS1": "$ "},
            "terminal": TERMINAL,
        }
    )

    def types(text: str, expected: str) -> None:
        session.stdout = b""
        live.say(session.number, Input.DATA, text.encode())
        live.until(session, expected.encode())

    types("tty; stty size\n", "/dev/pts/0\r\n24 80\r\n")
    live.say(session.number, Input.RESIZE, struct.pack("<HH", 50, 132))
    types("stty size; echo $LINES $COLUMNS\n", "50 132\r\n50 132\r\n")
    types("sleep 1000\n", "sleep 1000")
    types("\x03", "^C")
    types("echo status $?\n", "status 130")
    types("sleep 2000\n", "sleep 2000")
    types("\x1a", "Stopped")
    types("jobs\n", "sleep 2000")
    types("fg\n", "sleep 2000")
    live.say(session.number, Input.SIGNAL, bytes([signal.SIGINT]))
    types("echo status $?\n", "status 130")
    # Backspace takes a whole character of UTF-8; much output before the end is not lost.
    types("cat\n", "cat\r\n")
    types("ä\x7fb\n", "\r\nb\r\n")
    types("\x04", "$ ")
    session.stdout = b""
    live.say(session.number, Input.DATA, b"seq 10000; exit 5\n")
    assert live.finish(session).status == "exit 5"
    assert session.stdout.count(b"\r\n") > 10_000 and b"\r\n10000\r\n" in session.stdout
    other = live.open(exec={"node": "b", "argv": ["cat"], "terminal": TERMINAL})
    live.say(other.number, Input.DATA, b"line\n")
    live.say(other.number, Input.EOF)
    assert (live.finish(other).stdout, other.status) == (b"line\r\nline\r\n", "exit 0")


def test_credit_bounds_what_flows_either_way_and_sessions_do_not_wait_for_each_other(live: LiveMachine) -> None:
    flood = shell(live, "head -c 1000000 /dev/zero; echo end >&2")
    assert live.run("a", "echo", "meanwhile").stdout == b"meanwhile\n"
    assert len(flood.stdout) == OUTPUT_CREDIT and not flood.ended
    live.say(flood.number, Input.CREDIT, struct.pack("<I", 1))
    assert len(live.run("a", "echo").stdout) + len(flood.stdout) == OUTPUT_CREDIT + 2
    live.say(flood.number, Input.CREDIT, struct.pack("<I", 2**32 - 1))
    assert (len(live.finish(flood).stdout), flood.stderr) == (1_000_000, b"end\n")
    lazy = shell(live, "sleep 1; cat | wc -c")
    for _ in range(2):
        live.say(lazy.number, Input.DATA, bytes(INPUT_CREDIT // 2))
        live.say(lazy.number, Input.DATA, bytes(INPUT_CREDIT // 2))
    assert live.run("a", "true").status == "exit 0"
    # The pipe has taken the first half, and nobody the second.
    assert lazy.credit == INPUT_CREDIT
    live.say(lazy.number, Input.EOF)
    live.step(2 * SECOND_NS)
    assert live.finish(lazy).stdout == b"%d\n" % (2 * INPUT_CREDIT)
    greedy = shell(live, "sleep 1000")
    for length in (INPUT_CREDIT // 2, INPUT_CREDIT // 2, INPUT_CREDIT // 2, INPUT_CREDIT // 2, 1):
        live.say(greedy.number, Input.DATA, bytes(length))
    assert live.finish(greedy).error == {"message": "the input got 1 bytes, but had credit for 0"}


def test_two_hundred_and_fifty_six_sessions_are_open_at_once_and_no_more(live: LiveMachine) -> None:
    cats = [live.open(exec={"node": "ab"[number % 2], "argv": ["cat"]}) for number in range(256)]
    refused = live.open(exec={"node": "a", "argv": ["cat"]})
    assert refused.error == {"message": "256 sessions are open, which is the most that can be open"}
    for cat in cats:
        live.say(cat.number, Input.DATA, b"%d" % cat.number)
        live.say(cat.number, Input.EOF)
    for cat in cats:
        assert live.finish(cat).stdout == b"%d" % cat.number
    assert live.run("a", "true").status == "exit 0"


SERVER = """
import socket, sys
with socket.create_server((sys.argv[1], 80)) as server:
    print("up", flush=True)
    connection, _ = server.accept()
    while data := connection.recv(1000):
        connection.sendall(data.upper())
    connection.sendall(b".")
"""


def test_a_connection_leads_to_a_service_on_a_node_s_loopback_or_its_own_address(live: LiveMachine) -> None:
    for address in ("127.0.0.1", "10.0.0.1", ""):
        server = live.open(exec={"node": "a", "argv": ["python3", "-c", SERVER, address]})
        live.until(server, b"up")
        connection = live.open(connect={"node": "a", "port": 80})
        live.say(connection.number, Input.DATA, b"hello")
        live.until(connection, b"HELLO")
        live.say(connection.number, Input.EOF)
        assert (live.finish(connection).stdout, connection.status) == (b"HELLO.", "exit 0")
        assert live.finish(server).status == "exit 0"
        live.run("a", "ss", "--kill", "--all", "--tcp")
    refused = live.open(connect={"node": "a", "port": 80})
    assert refused.error == {"node": "a", "message": "connect to port 80: Connection refused"}
    assert live.open(connect={"node": "c", "port": 80}).error == {"message": 'there is no node "c"'}


def change(name: str, *lines: str, node: str = "a", tool: str = "ip", **more: object) -> dict[str, object]:
    return {"name": name, "steps": [{"node": node, "tool": tool, "lines": lines}], **more}


def test_a_change_happens_at_once_and_a_mistake_in_one_is_told(artefacts: Artefacts, tmp_path: Path) -> None:
    daemons = [program("idler@b", "b", "sleep", "100000")]
    with live_machine(artefacts, tmp_path / "run", job(daemons=daemons), FILES) as live:
        assert done(live, change=change("cut", "link set dev eth1 down")) == "exit 0"
        (link,) = json.loads(live.run("a", "ip", "-j", "link", "show", "eth1").stdout)
        assert "UP" not in link["flags"]
        wrong = live.open(change=change("typo", "link set dev eth1 up", "link set dev eth9 up"))
        assert wrong.error is not None
        assert (wrong.error["node"], wrong.error["line"]) == ("a", 2) and "eth9" in wrong.error["text"]
        assert wrong.error["message"].startswith("event typo: ")
        assert live.open(change=change("where", "link", node="c")).error == {"message": 'there is no node "c"'}
        assert live.run("b", "pgrep", "-c", "sleep").stdout == b"1\n"
        victim = live.open(exec={"node": "b", "argv": ["cat"]})
        assert done(live, change={"name": "dies", "down": ["b"]}) == "exit 0"
        assert live.finish(victim).status == "signal 9"
        assert live.run("b", "pgrep", "-c", "sleep").stdout == b"0\n"
        live.open(change={"name": "boots", "up": ["b"]})
        assert live.run("b", "pgrep", "-c", "sleep").stdout == b"1\n"
        events = live.down()
    assert [event["name"] for event in events if event["event"] == "change"] == ["cut", "typo", "dies", "boots"]
    assert events[-1]["status"] == "complete"


def test_traffic_is_started_and_stopped_and_its_failure_ends_nothing(artefacts: Artefacts, tmp_path: Path) -> None:
    described = job(traffic=[program("own", "a", "false")], live={"idle": True})
    with live_machine(artefacts, tmp_path / "run", described, FILES) as live:
        assert done(live, files={f"{LIVE_FILES}/say": "echo $FABRICLAB_EPOCH_NS;"}) == "exit 0"
        assert done(live, append={f"{LIVE_FILES}/say": " exit 9"}) == "exit 0"
        assert "is not the path of a file below live/" in live.open(files={"logs/x": ""}).complaint
        failing = live.open(start={"programs": [program("f", "a", "sh", "/job/live/say")], "role": "traffic"})
        assert live.finish(failing).status == "exit 9"
        assert failing.started is not None
        long = program("long", "b", "sleep", "1000")
        running = live.open(start={"programs": [long], "role": "disturbance"})
        again = live.open(start={"programs": [long], "role": "traffic"})
        assert again.error == {"message": 'a program "long" is already running'}
        nowhere = live.open(start={"programs": [program("p", "c", "true")], "role": "traffic"})
        assert 'program "p" names the node "c"' in nowhere.complaint
        unknown = live.open(stop={"names": ["short"]})
        assert unknown.error == {"message": 'no program "short" is running; these are: long'}
        assert live.finish(live.open(stop={"names": ["long"]})).status == "exit 0"
        assert live.finish(running).status == "exit 0"
        deaf = program("deaf", "b", "sh", "-c", "trap '' TERM; while :; do sleep 1; done")
        live.open(start={"programs": [deaf], "role": "traffic"})
        stopped = live.open(stop={"names": ["deaf"]})
        live.step(2 * SECOND_NS)
        assert not stopped.ended
        assert live.stops[-1][1] == Stop.UNTIL
        live.step(1)
        assert live.finish(stopped).status == "exit 0"
        events = live.down()
    epoch = next(event["t_ns"] for event in events if event["event"] == "epoch")
    said = int((tmp_path / "run" / "logs" / "f.log").read_text())
    assert said == epoch + failing.started["epoch_ns"] and said % 1_000_000 == 0
    assert [event["message"].split(";")[0] for event in events if event["event"] == "error"] == ["f ended with exit 9"]
    assert events[-1] == {**events[-1], "event": "end", "status": "complete"}


def test_without_an_input_a_live_lab_does_what_a_run_does(artefacts: Artefacts, tmp_path: Path) -> None:
    script = "od -An -N8 -tu8 /dev/urandom; ping -c 5 -i 0.1 10.0.0.2; date +%N"
    event = {
        **change("slow", "qdisc change dev eth1 parent 1:1 handle 2: netem delay 3ms", tool="tc"),
        "at_ns": 2 * 10**8,
    }
    described = job(traffic=[program("looks", "a", "sh", "-c", script)], events=[event])
    with live_machine(artefacts, tmp_path / "live", described, FILES) as live:
        live.pace()
        live.wait(lambda: live.now_ns > SECOND_NS)
        live.down()
    run = tmp_path / "run"
    write_job(run, {key: part for key, part in described.items() if key != "live"}, FILES)
    assert run_machine(machine_of(artefacts, run), lambda _: None, Interrupt()).status == "complete"
    said = (run / "logs" / "looks.log").read_text()
    assert "time=3.0" in said and said == (tmp_path / "live" / "logs" / "looks.log").read_text()


def session_of_everything(live: LiveMachine) -> None:
    """Use much of what there is, some of it at instants that the wall clock chooses."""
    bash = live.open(
        exec={
            "node": "a",
            "argv": ["bash", "--norc", "-i"],
            "environment": {"TERM": "xterm"},
            "terminal": TERMINAL,
        }
    )
    live.say(bash.number, Input.DATA, b"echo $RANDOM $$; ping -c 3 -i 0.2 10.0.0.2\n")
    live.pace(REAL_TIME)
    live.until(bash, b"rtt min")
    live.run("b", "sh", "-c", "head -c 30 /dev/urandom; date +%N; ls -l /proc/self/fd")
    transfer = {"programs": [program("iperf", "b", "iperf3", "-s", "-1")], "role": "disturbance"}
    server = live.open(start=transfer)
    client = live.open(exec={"node": "a", "argv": ["iperf3", "-J", "-c", "10.0.0.2", "-t", "1"]})
    live.finish(client)
    live.finish(server)
    live.stop()
    assert live.stops[-1][1] == Stop.ASKED
    live.open(change=change("slow", "qdisc replace dev eth1 parent 1:1 handle 2: netem delay 3ms", tool="tc"))
    live.say(bash.number, Input.DATA, b"ping -c 2 -i 0.2 10.0.0.2; echo $RANDOM; exit 4\n")
    live.pace()
    assert live.finish(bash).status == "exit 4"
    assert b"time=3.0" in bash.stdout


def test_a_recorded_session_happens_again_to_the_last_byte(artefacts: Artefacts, tmp_path: Path) -> None:
    described = job(collect=[program("ip@a", "a", "ip", "-s", "link"), program("tc@a", "a", "tc", "-s", "qdisc")])
    with live_machine(artefacts, tmp_path / "first", described, FILES) as live:
        session_of_everything(live)
        events = live.down()
        recording, outputs = live.taken, live.outputs
    for name in ("second", "third"):
        with live_machine(artefacts, tmp_path / name, described, FILES) as live:
            live.replay(recording)
            assert live.die() == events
            assert live.outputs == outputs
        for file in sorted((tmp_path / "first" / "collect").iterdir()):
            assert (tmp_path / name / "collect" / file.name).read_bytes() == file.read_bytes()
