"""The commands of live labs, with a stand-in for their machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from patience import wait_until
from repository import SUPPORT
from typer.testing import CliRunner, Result

import fabriclab
from fabriclab.cli import fast
from fabriclab.cli.app import app
from fabriclab.formats.live import SESSION_FILE
from fabriclab.live.lab import Live
from fabriclab.live.labs_up import labs
from fabriclab.live.terminal import Streams, run_in_node

PATCHED = """\
import sys
if "fabriclab.live.serve" in sys.orig_argv:
    sys.path[:0] = {paths}
    import fake_live, pathlib
    import fabriclab.api.engine
    fabriclab.api.engine.find_artefacts = lambda: fake_live.artefacts(pathlib.Path({home!r}))
"""
"""Lets a server that is a process of its own find the stand-in."""


def called(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def command(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-m", "fabriclab", *arguments]
    return subprocess.run(argv, capture_output=True, **options)  # type: ignore[call-overload,no-any-return]


def test_from_up_to_down(served_here: Path) -> None:
    up = called("up", "pair", "--idle", "--speed", "max")
    assert up.exit_code == 0, up.output
    assert up.stdout.startswith("pair is up, at speed max; ") and "hosts     h1 10." in up.stdout
    (listed,) = json.loads(called("ps", "--json").stdout)
    assert listed["name"] == "pair" and listed["nodes"] == ["s1", "h1", "h2"]
    assert called("ps").stdout.startswith("pair: ")
    assert "paused" in called("pause").stdout
    assert "paused" in called("step", "10 us").stdout
    assert "10 is" not in called("step", "10 us", "pair").stdout
    assert "(speed 1/100)" in called("speed", "1/100").stdout
    assert "speed 1/100" in called("resume").stdout
    called("speed", "max")
    assert called("start", "one").stdout.startswith("one: 1 flow from ")
    assert called("stop", "one", "--lab", "pair").stdout.startswith("one: stopped; ")
    assert called("flow", "h1", "h2", "--size", "1 MB").stdout.startswith("h1 to h2: 1 MB at ")
    down = called("down", "--all")
    assert down.exit_code == 0 and down.stdout.startswith("pair: complete, ")
    assert called("down", "--all").stderr == "no lab is up\n"


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("step", "10"), 2, "has no unit"),
        (("flow", "h1", "h2", "--size", "1"), 2, "--size '1' has no unit"),
        (("flow", "h1", "x2", "--size", "1 KB"), 2, "the lab has no such host"),
        (("speed", "quick"), 2, "virtual seconds per second"),
        (("pause", "other"), 2, "other: no lab of that name is up; these labs are up: pair"),
        (("capture", "s1"), 2, "is not a port; write NODE:PORT"),
        (("capture", "s1:eth9"), 2, "s1 has no such port; did you mean 'eth"),
        (("capture", "s2:eth1"), 2, "the lab has no such node"),
        (("forward", "80:h7:80"), 2, "the lab has no such node"),
        (("cp", "a", "b"), 2, "exactly one of the two"),
        (("cp", "a", "h1:b"), 2, "a: no such file"),
        (("exec", "h1"), 2, "no command is given"),
        (("exec", "h7", "--", "echo"), 2, "the lab has no such node"),
    ],
)
def test_what_is_wrong_is_said(live: Live, arguments: tuple[str, ...], status: int, text: str) -> None:
    result = called(*arguments)
    assert (result.exit_code, text in result.stderr) == (status, True), result.stderr


def test_without_a_lab_commands_say_what_to_do(home: Path) -> None:
    assert called("pause").stderr == "no lab is up; `fabriclab up LAB` starts one\n"
    assert called("ps").stderr == "no lab is up; `fabriclab up LAB` starts one\n"
    assert json.loads(called("ps", "--json").stdout) == []


def test_a_lab_that_does_not_come_up_says_why(served_here: Path) -> None:
    result = called("up", "pair", "--set", "traffic.one.rounds=x")
    assert result.exit_code == 2 and "--set traffic.one.rounds=x" in result.stderr
    assert labs() == {} and not list((served_here / "runs").glob("**/*.json"))


def test_exec_passes_streams_and_status_on(live: Live) -> None:
    done = command("exec", "h1", "--", "echo", "a b")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"a b\n", b"echoed\n")
    done = command("exec", "pair:h1", "cat", input=b"\0\xff" * 100_000)
    assert (done.returncode, done.stdout) == (0, b"\0\xff" * 100_000)
    assert command("exec", "h1", "exit", "9").returncode == 9
    done = command("exec", "h9", "echo")
    assert (done.returncode, done.stderr) == (125, b"'h9': the lab has no such node; valid here: s1, h1, h2\n")
    shell = "exec <&- ; exec {0} -m fabriclab exec h1 cat"
    assert subprocess.run(["/bin/sh", "-c", shell.format(sys.executable)]).returncode == 0


def test_a_closed_output_ends_the_command(live: Live) -> None:
    script = f"{sys.executable} -m fabriclab exec h1 yes | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (141, b"y" * 10, b"")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_reach_the_command(live: Live, number: int, status: int) -> None:
    argv = [sys.executable, "-m", "fabriclab", "exec", "h1", "wait"]
    with subprocess.Popen(argv) as process:
        session = live.directory / SESSION_FILE
        wait_until(lambda: b'"wait"' in session.read_bytes().replace(b"\\", b""))
        process.send_signal(number)
        assert process.wait() == status


def test_the_short_way_is_the_long_one(live: Live, capfd: pytest.CaptureFixture[str]) -> None:
    assert fast.run(["exec", "h1", "echo", "x"]) == 0
    assert fast.run(["exec", "h1", "exit", "4"]) == 4
    assert fast.run(["shell", "h1"]) == fast.FAILED
    assert fast.run(["vtysh", "h1"]) == fast.FAILED
    out, err = capfd.readouterr()
    assert out == "x\n" and err == "echoed\nbash: no such program\nh1: this lab's routes are static: no node runs FRR\n"
    assert called("shell", "h1", "--command", "x").stderr == "/bin/sh: no such program\n"


def test_shell_has_a_terminal_and_gives_it_back(live: Live) -> None:
    import pty
    import termios

    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    script = "import sys; from fabriclab.live.terminal import run_in_node; "
    script += "sys.exit(run_in_node(None, 'h1', ['cat'], terminal=True))"
    with subprocess.Popen([sys.executable, "-c", script], stdin=theirs, stdout=theirs) as process:
        wait_until(lambda: termios.tcgetattr(theirs) != before)
        os.write(ours, b"typed")
        assert os.read(ours, 5) == b"typed"
        termios.tcsetwinsize(theirs, (50, 99))
        process.send_signal(signal.SIGWINCH)
        assert os.read(ours, 5) == b"50x99"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
    assert termios.tcgetattr(theirs) == before
    for descriptor in (ours, theirs):
        os.close(descriptor)


def test_streams_may_be_any(live: Live) -> None:
    reading, writing = os.pipe()
    assert run_in_node(None, "h1", ["echo", "x"], streams=Streams(None, writing, convert=bytes.upper)) == 0
    assert os.read(reading, 10) == b"X\n"
    for descriptor in (reading, writing):
        os.close(descriptor)


def test_a_forwarded_connection_that_is_refused_is_closed(live: Live, capsys: pytest.CaptureFixture[str]) -> None:
    from fabriclab.live.forwarding import accept, listening

    end = listening("127.0.0.1", 0)
    threading.Thread(target=_until_closed, args=(accept, end), daemon=True).start()
    with socket.create_connection(end.getsockname()) as connection:
        assert connection.recv(10) == b""
    said = ""
    while "connect: not here" not in said:
        said += capsys.readouterr().err
    end.shutdown(socket.SHUT_RDWR)
    end.close()


def _until_closed(accept: object, end: socket.socket) -> None:
    try:
        accept(end, "pair", "h1", 80)  # type: ignore[operator]
    except OSError:
        return


def test_a_replay_is_the_same_at_any_speed(live: Live) -> None:
    for number in range(20):
        assert live.exec("h1", ["now"]).stdout
        if number % 5 == 0:
            live.step("3 ms")
            live.resume()
    live.exec("h1", ["spin"])
    # Word of it comes behind the end of the command.
    wait_until(lambda: "    busy: spin in h1 has not slept for " in called("ps").stdout)
    live.exec("h1", ["now"])
    directory = live.down().directory
    assert '"kind": "nap"' in (directory / SESSION_FILE).read_text()
    for speed in ("max", "1000"):
        result = called("replay", str(directory), "--speed", speed, "--out", f"again-{speed}")
        assert result.exit_code == 0, result.output
        assert "outputs are the same" in result.stdout and "inputs)" in result.stdout
    # Without an end, as a server that was killed leaves it.
    session = directory / SESSION_FILE
    session.write_bytes(b"".join(session.read_bytes().splitlines(keepends=True)[:9]))
    result = called("replay", str(directory))
    assert result.exit_code == 0 and "(8 inputs)" in result.stdout
    session.write_bytes(session.read_bytes().splitlines(keepends=True)[0])
    result = called("replay", str(directory))
    assert result.exit_code == 0 and "(0 inputs)" in result.stdout


def test_a_replay_that_differs_says_where(live: Live) -> None:
    live.exec("h1", ["now"])
    live.exec("h1", ["echo", "x"])
    directory = live.down().directory
    session = directory / SESSION_FILE
    lines = [json.loads(line) for line in session.read_text().splitlines()]
    lines[1]["text"] = lines[1]["text"].replace('"now"', '"echo"')
    session.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = called("replay", str(directory))
    assert result.exit_code == 1 and "outputs differ, first before the input of session" in result.stdout
    lines[2]["events"] += 1000
    session.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = called("replay", str(directory))
    assert result.exit_code == 1 and "could not be replayed: after 1 of " in result.stdout
    (directory / "plan.json").write_text("{}")
    assert "is not the plan" in called("replay", str(directory)).stderr


def test_a_server_is_a_process_of_its_own_and_nothing_of_it_survives_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "site").mkdir()
    text = PATCHED.format(paths=[str(SUPPORT)], home=str(home))
    (home / "site" / "sitecustomize.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(home / "site"))
    live = fabriclab.up("pair", speed="max")
    assert live.exec("h1", ["echo", "x"]).stdout == "x\n"
    pid = labs()["pair"]["pid"]
    assert os.getsid(pid) == pid
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert labs() == {}
    assert not list((home / "rt" / "fabriclab").glob("pair*"))
    assert "complete" not in (live.directory / "events.jsonl").read_text()
    assert (live.directory / "logs" / "server.log").read_text() == ""
    monkeypatch.delenv("PYTHONPATH")
    again = called("replay", str(live.directory))
    assert again.exit_code == 0, again.output
