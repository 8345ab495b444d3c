"""Programs run under seccomp filters or with ptrace: nobody may see a difference but by the time it takes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from sample_plans import CUBIC, ROUNDS, changed, star
from vm import Vm

from fabriclab.engine.virtual import SECCOMP
from fabriclab.formats.plan.model import Plan

pytestmark = pytest.mark.vm

MODES = {"seccomp": "auto", "ptrace": "off"}
"""What a run says of itself, and what the machine is started with for it."""
BUSY_TICKS = 20
"""Of CPU time, 0.01 s each: more than PID 1 needs in all."""
MEASURED = ("flows.parquet", "queues.parquet", "tcp.parquet")


def set_mode(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv(SECCOMP, MODES[mode])


def skip_without_seccomp(mode: str, said: str | None) -> None:
    """A kernel without the choice says nothing; a host that forbids filters lets `auto` be ptrace."""
    if mode == "seccomp" and said != mode:
        pytest.skip("this host, or this kernel, runs programs with ptrace only")


def small_lab() -> Plan:
    traffic = changed(ROUNDS, senders=("h1", "h2", "h3"), receiver="h4", rounds=2)
    return star(4, transport=CUBIC, traffic=(traffic,))


def test_both_modes_give_the_same_bytes(vm: Vm, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}
    for mode in MODES:
        set_mode(monkeypatch, mode)
        assert vm.run(small_lab(), mode).status == "complete"
        directory = vm.directory / mode
        said = json.loads((directory / "manifest.json").read_text())["user_mode"]
        skip_without_seccomp(mode, said)
        assert said == mode
        log = (directory / "logs/kernel.log").read_text()
        assert f"user mode: {mode}\n" in log and "\0" not in log, "whole, and nobody else's"
        seen[mode] = [hashlib.sha256((directory / file).read_bytes()).hexdigest() for file in MEASURED]
    assert seen["seccomp"] == seen["ptrace"]


@pytest.fixture(scope="module")
def witness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that tells of its faults, signals and registers."""
    program = tmp_path_factory.mktemp("user-mode") / "user-mode"
    flags = ("-std=gnu11", "-O1", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-static", "-pthread")
    subprocess.run(["cc", *flags, "-o", program, Path(__file__).with_name("user_mode.c")], check=True)
    return program


def test_a_program_sees_the_same_faults_signals_and_registers(
    vm: Vm, witness: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {}
    for mode in MODES:
        set_mode(monkeypatch, mode)
        lab = small_lab()
        place = vm.directory / mode / "machine" / "user-mode"
        place.parent.mkdir(parents=True)
        place.write_bytes(witness.read_bytes())
        place.chmod(0o755)
        traffic = [{"name": "witness", "node": "h1", "argv": ["/job/machine/user-mode"]}]
        outcome = vm.boot(lab, traffic, mode)
        assert (outcome.status, outcome.message) == ("complete", "")
        skip_without_seccomp(mode, outcome.figures["user_mode"])
        seen[mode] = (vm.directory / mode / "logs" / "witness.log").read_text().splitlines()
    assert seen["seccomp"] == seen["ptrace"]
    for line in (
        "null is read: signal 11 code 1 trap 14 at (nil) error 4",
        "null is written: signal 11 code 1 trap 14 at 0x8 error 6",
        "it is read: nothing",
        "what may not be read is read: signal 11 code 2 trap 14 at 0x200000001 error 4",
        "a file is written beyond its end: signal 7 code 2",
        "division by zero: signal 8 code 1",
        "a breakpoint: signal 5 code 128",
        "threads keep their registers: 2000 times",
        "handlers give them back: 500 times of 500",
        "it ended with 7",
        "two clocks agree: 1 1",
        "read by the library, it stands 131072 times and moves by 256 ns",
        "read in both ways, it stands 131072 times and moves by 256 ns",
    ):
        assert line in seen["seccomp"]


def children(pid: int) -> list[int]:
    """Processes that a process of this one's machine has started."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def spent_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return int(fields[11]) + int(fields[12])


def machine_of(vm: Vm) -> int:
    """Return the process of the machine that works in a test's directory."""
    word = f"fabriclab-machine {vm.directory}/"
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if Path(command.parent / "exe").readlink() == vm.artefacts.kernel and word in command.read_text():
                return int(command.parent.name)
    raise AssertionError("no machine runs")


def test_a_host_process_that_dies_takes_its_program_with_it(vm: Vm, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the host runs out of memory. The machine goes on (with ptrace it panics), and nothing is left."""
    set_mode(monkeypatch, "seccomp")
    mine: list[int] = []

    def kill_the_busiest() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, AssertionError):
                machine = machine_of(vm)
                mine[:] = [machine, *children(machine)]
                busiest = max(mine[1:], key=spent_ticks, default=0)
                if busiest and spent_ticks(busiest) > BUSY_TICKS:
                    os.kill(busiest, signal.SIGKILL)
                    return
            time.sleep(0.05)

    killer = threading.Thread(target=kill_the_busiest)
    killer.start()
    argv = ["/bin/sh", "-c", "while :; do :; done"]
    outcome = vm.boot(small_lab(), [{"name": "spins", "node": "h1", "argv": argv}])
    killer.join()
    skip_without_seccomp("seccomp", outcome.figures["user_mode"])
    assert (outcome.status, "spins ended with signal 11" in outcome.message) == ("failed", True), outcome.message
    assert not [pid for pid in mine if Path(f"/proc/{pid}").exists()]
