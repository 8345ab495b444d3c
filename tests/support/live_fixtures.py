"""Live labs with a stand-in for their machine, served by a thread of the test's own process."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from patience import patient

import fabriclab

TOO_LONG_S = 600
"""Far above what a test takes here, and less than after which it is ended (pyproject.toml)."""

if TYPE_CHECKING:
    from fabriclab.engine.artefacts import Artefacts
    from fabriclab.live.lab import Live


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the lab `pair`, and a place for sockets."""
    import fake_live
    import pair_lab

    runtime = tmp_path / "rt"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    found = fake_live.artefacts(tmp_path)
    monkeypatch.setattr("fabriclab.api.engine.find_artefacts", lambda: found)
    fabriclab.Lab.from_yaml(pair_lab.TOPOLOGY, pair_lab.EXPERIMENT).write(tmp_path / "pair")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def desk(artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory where labs come up on the real machine."""
    monkeypatch.chdir(tmp_path)
    # The path of a socket is short, and pytest's directories are long.
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    asking = threading.Timer(patient(TOO_LONG_S), where_servers_are, (tmp_path,))
    asking.daemon = True
    asking.start()
    yield tmp_path
    asking.cancel()


def where_servers_are(desk: Path) -> None:
    """Say what the servers of a test's labs wait for, and what their machines said, when it takes too long."""
    from fabriclab.live.labs_up import labs
    from fabriclab.live.serve import LOG

    for facts in labs().values():
        os.kill(facts["pid"], signal.SIGUSR1)
    time.sleep(1)
    for log in (*desk.glob(f"*/{LOG}"), *desk.glob("*/logs/kernel.log"), *desk.glob("*/events.jsonl")):
        print(f"{log}:\n{log.read_text(errors='replace')[-8000:]}", file=sys.__stderr__, flush=True)


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Servers are threads of this process."""
    from fabriclab.live import serve

    threads: dict[int, threading.Thread] = {}

    def start(_module: str, _arguments: Sequence[str], channel: int) -> int:
        front = serve.Front(socket.socket(fileno=os.dup(channel)))
        thread = threading.Thread(target=serve.serve, args=(front,), kwargs={"alone": False})
        thread.start()
        threads[len(threads)] = thread
        return len(threads) - 1

    monkeypatch.setattr("fabriclab.live.launch.start_detached", start)
    for module in ("lab", "launch"):
        monkeypatch.setattr(f"fabriclab.live.{module}.wait_for", lambda number: threads[number].join())
    yield
    for thread in threads.values():
        thread.join()


@pytest.fixture
def served_here(home: Path, request: pytest.FixtureRequest) -> Path:
    """The stand-in for a machine, and servers in this process."""
    request.getfixturevalue("in_threads")
    return home


@pytest.fixture
def live(served_here: Path) -> Iterator[Live]:
    """The lab `pair`, up, without its traffic, at full speed."""
    with fabriclab.up("pair", idle=True, speed="max") as lab:
        yield lab
