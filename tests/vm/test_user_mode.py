"""Programs run under seccomp filters or with ptrace: nobody may see a difference but by the time it takes."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from sample_plans import CUBIC, ROUNDS, changed, star
from vm import Vm

from fabriclab.engine.virtual import SECCOMP
from fabriclab.formats.plan.model import Plan

pytestmark = pytest.mark.vm

MODES = {"seccomp": "auto", "ptrace": "off"}
"""What a run says of itself, and what the machine is started with for it."""
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
        (vm.directory / mode).mkdir()
        place = vm.directory / mode / "user-mode"
        place.write_bytes(witness.read_bytes())
        place.chmod(0o755)
        traffic = [{"name": "witness", "node": "h1", "argv": ["/job/user-mode"]}]
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
    ):
        assert line in seen["seccomp"]
