"""Programs that never sleep, in a live machine: time goes on, inputs are taken, and a replay does it again."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_jobs import FILES, job
from live_machine import LiveMachine, Session, live_machine

from fabriclab.engine.artefacts import Artefacts
from fabriclab.formats.live import REAL_TIME, Input, Request

pytestmark = pytest.mark.vm

SELECT = "import select\nwhile True: select.select([], [], [], 0)"
CLOCK = "import time\nwhile True: time.monotonic_ns()"
CALLS = {
    "yes": "yes > /dev/null",
    "pipe": "yes | head -c 10G > /dev/null",
    "select": f"exec python3 -c '{SELECT}'",
    "clock": f"exec python3 -c '{CLOCK}'",
}
COMPUTES = {
    "shell": "while :; do :; done",
    "python": "exec python3 -c 'while True: pass'",
    "forks": "while :; do /bin/true; done",
}


@pytest.fixture
def live(artefacts: Artefacts, tmp_path: Path) -> Iterator[LiveMachine]:
    with live_machine(artefacts, tmp_path / "run", job(), FILES) as machine:
        yield machine


def spin(live: LiveMachine, script: str) -> Session:
    return live.open(exec={"node": "a", "argv": ["sh", "-c", script]})


def interrupt(live: LiveMachine, session: Session) -> None:
    live.say(session.number, Input.SIGNAL, bytes([signal.SIGINT]))
    live.finish(session)
    assert session.status in {f"signal {signal.SIGINT}", "exit 1", "exit 130"}, session


def naps(live: LiveMachine) -> int:
    return sum(request is Request.NAP_AT for request, *_ in live.taken)


@pytest.mark.parametrize("script", CALLS.values(), ids=CALLS)
def test_system_calls_without_end_take_time_and_the_others_have_their_turn(live: LiveMachine, script: str) -> None:
    live.pace()
    spinner = spin(live, script)
    for _ in range(2):
        ping = live.run("b", "ping", "-c", "3", "-i", "0.01", "10.0.0.1")
        assert b"3 received" in ping.stdout, ping
    interrupt(live, spinner)


@pytest.mark.parametrize("script", COMPUTES.values(), ids=COMPUTES)
def test_who_computes_without_end_is_made_to_sleep(live: LiveMachine, script: str) -> None:
    live.pace(REAL_TIME)
    spinner = spin(live, script)
    assert live.run("b", "echo", "here").stdout == b"here\n"
    assert live.run("b", "sleep", "0.2").status == "exit 0"
    # Starting programs takes many system calls and page faults: on a fast host these have taken the time by then.
    assert naps(live) or script == COMPUTES["forks"]
    interrupt(live, spinner)


def test_time_stands_still_though_programs_never_sleep(live: LiveMachine) -> None:
    spinners = [spin(live, script) for script in (CALLS["yes"], COMPUTES["shell"], COMPUTES["shell"])]
    began = live.now_ns
    assert live.run("b", "echo", "here").stdout == b"here\n"
    for spinner in spinners:
        interrupt(live, spinner)
    assert live.now_ns == began


@pytest.mark.slow("programs that never sleep, once live and once replayed")
def test_a_session_of_programs_that_never_sleep_happens_again(artefacts: Artefacts, tmp_path: Path) -> None:
    with live_machine(artefacts, tmp_path / "first", job(), FILES) as live:
        live.pace(REAL_TIME)
        spinners = [spin(live, script) for script in (CALLS["pipe"], *COMPUTES.values(), CALLS["select"])]
        for _ in range(2):
            live.run("b", "ping", "-c", "2", "-i", "0.1", "10.0.0.1")
            live.run("a", "sh", "-c", "date +%N; ps -eo pid,stat,comm")
        for spinner in spinners[1:]:
            interrupt(live, spinner)
        events = live.down()
        recording, outputs = live.taken, live.outputs
        assert naps(live)
    with live_machine(artefacts, tmp_path / "second", job(), FILES) as live:
        live.replay(recording)
        assert live.die() == events
        assert live.outputs == outputs
