"""What comes before the epoch in containers: steps of `setup`, layers of programs, what programs leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

import pytest
from fake_commands import FakeCommands

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.docker import Container
from fabriclab.engine.containers.event_log import EventLog
from fabriclab.engine.containers.job import Job, Task
from fabriclab.engine.containers.processes import Process, Processes
from fabriclab.engine.containers.programs import PLACES, hand_over, lay
from fabriclab.engine.containers.setup import end_daemons, set_up
from fabriclab.engine.interrupt import Interrupt
from fabriclab.formats.job import SetupStep

CONTAINER = Container("h1", "c0ffee", "clab-x-h1")
INSIDE = ["docker", "exec", "--user", "0", "c0ffee"]


class _Daemon(Process):
    """A process of no container."""

    def __init__(self, task: Task) -> None:
        self.task, self.number, self.halted, self.epochs = task, 1, False, list[int]()
        self.told = False

    def terminate(self) -> None:
        self.told = True

    @property
    def status(self) -> str | None:
        return None

    def give_epoch(self, epoch_ns: int) -> None:
        self.epochs.append(epoch_ns)


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCommands:
    (tmp_path / "logs").mkdir()
    return FakeCommands(tmp_path / "bin", monkeypatch)


def step(kind: Any, *argv: str, **more: Any) -> SetupStep:
    program = {"name": f"{argv[0]}@h1", "node": "h1", "argv": list(argv)}
    return cast(SetupStep, {"kind": kind, "program": program, **more})


def job(*steps: SetupStep, **parts: Any) -> Job:
    whole: dict[str, Any] = {"files": {}, "interfaces": {}, "samplers": {}, "ready": None, "limit_ns": 1}
    parts = dict.fromkeys(("daemons", "traffic", "disturbances", "collect", "changes"), ()) | parts
    return Job(**whole, **parts, setup=steps)


def carried_out(directory: Path, *steps: SetupStep) -> tuple[list[Process] | None, list[str]]:
    failed: list[str] = []
    with (directory / "events.jsonl").open("w", buffering=1) as events:
        log = EventLog(events, lambda event: None)
        containers = {"h1": CONTAINER}
        return set_up(job(*steps), containers, directory, log, Interrupt(), failed, _Daemon), failed


def test_daemons_are_started_and_checks_must_succeed(docker: FakeCommands, tmp_path: Path) -> None:
    docker.answer([*INSIDE, "listens"], out="yes\n")
    steps = step("daemon", "namenode", again=True), step("health", "listens", limit_ns=10**9, tries=1)
    daemons, failed = carried_out(tmp_path, *steps)
    assert daemons is not None and [one.task.argv for one in daemons] == [("namenode",)] and failed == []
    assert isinstance(daemons[0], _Daemon) and daemons[0].epochs == [0], "it does not wait"
    assert (tmp_path / "logs/listens@h1.log").read_text() == "yes\n"


def test_a_check_that_never_succeeds_ends_the_run(docker: FakeCommands, tmp_path: Path) -> None:
    docker.answer([*INSIDE, "format"], status=3, err="no space left")
    with pytest.raises(EngineError, match=r"setup: format@h1 ended with exit 1: no space left"):
        carried_out(tmp_path, step("health", "format", tries=2, interval_ns=0))
    assert len(docker.calls(*INSIDE, "format")) == 2


def test_a_command_of_a_node_s_own_that_fails_is_told_and_stops_nobody(docker: FakeCommands, tmp_path: Path) -> None:
    docker.answer([*INSIDE, "vtysh"], status=1, err="unknown command")
    daemons, failed = carried_out(tmp_path, step("command", "vtysh"), step("command", "true"))
    assert daemons == [] and failed == ["vtysh@h1 ended with exit 1: unknown command"]
    assert docker.calls(*INSIDE, "true")


class _Watched(Processes):
    """Processes of no container, none of which ends."""

    def await_end(
        self, processes: Iterable[Process], patience_s: float, on_end: Callable[[Process], None]
    ) -> list[Process]:
        return list(processes)


def test_daemons_that_wait_for_each_other_end_with_their_containers(tmp_path: Path) -> None:
    daemons = [_Daemon(Task(f"{name}@h1", "h1", (name,))) for name in ("resourcemanager", "nodemanager")]
    end_daemons(_Watched(tmp_path), daemons)
    assert [daemon.told for daemon in daemons] == [True, True]


def test_layers_are_laid_the_first_on_top(docker: FakeCommands) -> None:
    lay(CONTAINER, ())
    assert docker.calls() == []
    lay(CONTAINER, ("jars", "packages"))
    (call,) = docker.calls(*INSIDE)
    assert call[-2:] == ["/run/fabriclab/layers/packages", "/run/fabriclab/layers/jars"]


def test_what_programs_leave_is_ours_and_unused_places_go(docker: FakeCommands, tmp_path: Path) -> None:
    server = Task("redis@h1", "h1", ("/tools/replay", "program"))
    for place in PLACES:
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    (tmp_path / "output/redis.csv").write_text("1\n")
    assert hand_over(job(disturbances=(server,)), {"h1": CONTAINER}, tmp_path) == []
    (call,) = docker.calls(*INSIDE)
    assert call[5] == "chown" and "/job/output" in call
    assert [place for place in PLACES if (tmp_path / place).exists()] == ["output"]
    docker.answer([*INSIDE, "chown"], status=1, err="it is gone")
    assert hand_over(job(disturbances=(server,)), {"h1": CONTAINER}, tmp_path) == ["h1: it is gone"]
    assert hand_over(job(), {"h1": CONTAINER}, tmp_path) == [], "no programs, nothing to do"
