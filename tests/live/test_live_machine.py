"""Live labs on the real machine: what people do in one, and that a replay does it again to the last bit."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from replayed_labs import FABRICLAB, replayed

import fabriclab
from fabriclab.live.lab import Live
from fabriclab.live.labs_up import labs

pytestmark = pytest.mark.vm

SMALL = {"senders": 4, "rounds": 2}
SERVER = """\
import socket
end = socket.create_server(("0.0.0.0", 80))
while True:
    connection, _ = end.accept()
    connection.sendall(connection.recv(100).upper())
    connection.close()
"""


@pytest.fixture
def live(desk: Path) -> Iterator[Live]:
    with fabriclab.up("dctcp-queue", idle=True, out="run") as lab:
        yield lab


@pytest.fixture
def near(request: pytest.FixtureRequest) -> Live:
    """Return `live` with its server in this process, for what does not hang on it: one of its own takes most of a CPU
    second to import what it needs."""
    request.getfixturevalue("in_threads")
    live: Live = request.getfixturevalue("live")
    return live


@contextmanager
def until_interrupted(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command that only Ctrl-C ends, and end it so, whatever comes between."""
    with subprocess.Popen([*FABRICLAB, *words], stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)


def test_nodes_are_reached_and_reach_each_other(near: Live) -> None:
    assert re.search(r"time=\d\.\d+ ms", near.exec("h1", ["ping", "-c1", "h2"]).stdout)
    assert near.exec("h1", ["sh", "-c", "cat; echo err >&2; exit 3"], input="in", check=False) == fabriclab.Executed(
        3, "in", "err\n"
    )
    assert near.exec("s1", ["tc", "qdisc", "show", "dev", "eth1"]).stdout.startswith("qdisc ")
    with pytest.raises(fabriclab.LiveError, match="nothing-here"):
        near.exec("h1", ["nothing-here"])


def test_time_in_a_node_is_the_one_that_is_told(near: Live) -> None:
    near.pause()
    first = near.exec("h1", ["cat", "/proc/uptime"]).stdout
    assert near.exec("h1", ["cat", "/proc/uptime"]).stdout == first
    near.step("1 s")
    assert float(near.exec("h1", ["cat", "/proc/uptime"]).stdout.split()[0]) == pytest.approx(
        float(first.split()[0]) + 1
    )


def test_a_shell_has_a_terminal_of_its_own(live: Live) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen([*FABRICLAB, "shell", "h1"], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        said = b""
        while b"root@h1:" not in said:
            said += os.read(ours, 1000)
        os.write(ours, b"tty; sleep 1000\n")
        while b"/dev/pts/" not in said:
            said += os.read(ours, 1000)
        os.write(ours, b"\x03")
        while b"^C" not in said:
            said += os.read(ours, 1000)
        os.write(ours, b"exit 5\n")
        assert process.wait() == 5
    for descriptor in (ours, theirs):
        os.close(descriptor)


def test_a_service_in_a_node_is_reached_through_a_port_here(near: Live) -> None:
    Path("serve.py").write_text(SERVER)
    subprocess.run([*FABRICLAB, "cp", "serve.py", "h2:/root"], check=True)
    with (
        until_interrupted("exec", "h2", "--", "python3", "/root/serve.py"),
        until_interrupted("forward", "0:h2:80") as forward,
    ):
        assert forward.stderr is not None
        port = int(re.findall(r"127\.0\.0\.1:(\d+) leads to h2:80", forward.stderr.readline())[0])
        answer = b""
        while not answer:  # the service takes its time to begin: nobody listens, and the connection ends, or is reset
            with (
                suppress(ConnectionResetError),
                socket.create_connection(("127.0.0.1", port)) as connection,
            ):
                connection.sendall(b"hello")
                answer = connection.recv(100)
        assert answer == b"HELLO"
    subprocess.run([*FABRICLAB, "cp", "h2:/root/serve.py", "back.py"], check=True)
    assert Path("back.py").read_text() == SERVER


def test_a_capture_has_virtual_nanoseconds(near: Live) -> None:
    with until_interrupted("capture", "s1:eth1", "-w", "s1.pcapng", "icmp") as capture:
        assert capture.stderr is not None
        assert any("listening" in line for line in capture.stderr)
        near.exec("h1", ["ping", "-c3", "-i", "0.1", "h2"])
        capture.send_signal(signal.SIGINT)
        assert "6 packets captured" in capture.stderr.read()
    data, times = Path("s1.pcapng").read_bytes(), []
    while data:
        kind, length = struct.unpack_from("<II", data)
        if kind == 6:
            high, low = struct.unpack_from("<II", data, 12)
            times.append(high << 32 | low)
        data = data[length:]
    assert len(times) == 6
    # There and back again: always the same, to the nanosecond.
    assert len({answer - question for question, answer in zip(times[::2], times[1::2], strict=True)}) == 1


@pytest.mark.slow("a session of thirty commands is replayed twice")
def test_a_session_is_replayed_to_the_last_bit_at_any_speed(live: Live) -> None:
    for number in range(10):
        live.exec("h1", ["ping", "-c1", "h2"])
        live.exec("s1", ["tc", "-s", "qdisc"])
        if number % 4 == 1:
            live.step("300 us")
            live.resume()
    live.flow("h1", "h3", "1 MB", congestion_control="dctcp")
    live.start("long")
    live.exec("h2", ["sleep", "0.5"])
    live.stop("long")
    run = live.down()
    assert sorted(run.flows.collect()["class"].to_list()) == ["flow", "long", "long"]
    for speed in ("max", "3"):
        said = replayed(run.directory, speed)
        assert "outputs are the same\nflows are the same" in said


@pytest.mark.slow("programs that never sleep, once live and once replayed")
def test_programs_that_never_sleep_freeze_nothing_and_are_replayed(live: Live) -> None:
    for script in ("yes | head -c 10G > /dev/null", "while :; do :; done"):
        with subprocess.Popen([*FABRICLAB, "exec", "h1", "--", "sh", "-c", script]) as spinner:
            for _ in range(2):
                assert "2 received" in live.exec("h3", ["ping", "-c2", "-i", "0.1", "h2"]).stdout
            spinner.send_signal(signal.SIGINT)
            assert spinner.wait() == 128 + signal.SIGINT
    with subprocess.Popen([*FABRICLAB, "exec", "h1", "--", "python3", "-c", "while True: pass"]):
        live.exec("h2", ["true"])
        run = live.down()
    assert "outputs are the same" in replayed(run.directory, "max")


@pytest.mark.parametrize(
    ("lab", "settings"),
    [
        ("incast", SMALL),
        # Paths hang on ports that are drawn: whatever draws before the traffic would move them.
        (
            "leaf-spine",
            {
                "traffic.query.count": 5,
                "traffic.short.count": 5,
                "traffic.update.stop": "200 ms",
                "traffic.background.stop": "200 ms",
            },
        ),
    ],
)
@pytest.mark.usefixtures("in_threads")
def test_a_lab_that_nobody_touches_sends_what_a_run_sends(desk: Path, lab: str, settings: dict[str, Any]) -> None:
    run = fabriclab.run(lab, set=settings, out="film")
    with fabriclab.up(lab, set=settings, speed="max", out="live") as live:
        while live.now < 2_000_000_000:
            time.sleep(0.05)
    assert (desk / "live/flows.parquet").read_bytes() == (run.directory / "flows.parquet").read_bytes()
    bound = [json.loads((desk / name / "manifest.json").read_text())["boundary"] for name in ("film", "live")]
    assert bound[0] == bound[1] and "seccomp" in bound[0]


@pytest.mark.parametrize("part", ["server", "machine"])
def test_who_is_killed_takes_all_with_it(desk: Path, part: str) -> None:
    live = fabriclab.up("dctcp-queue", idle=True, out="run")
    live.exec("h1", ["ping", "-c1", "h2"])
    (server,) = [facts["pid"] for facts in labs().values()]
    machines = [pid for pid in _processes() if f"fabriclab-machine {desk}/run" in _command(pid)]
    assert machines
    os.kill(server if part == "server" else machines[0], signal.SIGKILL)
    os.waitpid(server, 0)
    while any(f"fabriclab-machine {desk}/run" in _command(pid) for pid in _processes()):
        time.sleep(0.05)
    assert labs() == {}
    assert "outputs are the same" in replayed(live.directory, "max")


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""
