"""The engine against a machine that ends, fails, dies, hangs or is told to stop; and what is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import fake_machine
import pytest
from fake_runs import run
from patience import wait_until
from processes import live_processes
from repository import SUPPORT

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.events import Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.virtual import Machine, machine_argv, run_machine
from fabriclab.engine.watch import last_lines


def test_a_run_that_completes(tmp_path: Path) -> None:
    events: list[str] = []
    outcome = run(tmp_path, fake_machine.EPOCH + fake_machine.END, lambda event: events.append(event.name))
    assert (outcome.status, outcome.message, outcome.virtual_ns) == ("complete", "", 250_000_000)
    assert events == ["phase", "epoch", "progress", "end"]
    assert (tmp_path / "run" / "logs" / "kernel.log").read_text() == "boundary: none\nLinux version 6.12\n"
    assert len((tmp_path / "run" / "events.jsonl").read_text().splitlines()) == 4
    assert not (tmp_path / "run" / "tmp").exists()


def test_errors_become_a_message_with_file_line_and_text(tmp_path: Path) -> None:
    error = (
        '@{"event":"error","phase":"configure","node":"s1","file":"nodes/s1/tc.batch","line":3,'
        '"text":"qdisc add dev eth9","message":"Cannot find device","t_ns":5}'
    )
    outcome = run(tmp_path, f'echo \'{error}\'\necho \'@{{"event":"end","status":"failed","t_ns":6}}\'\n')
    assert outcome.status == "failed"
    assert outcome.message == "configure s1 nodes/s1/tc.batch:3: `qdisc add dev eth9` Cannot find device"


def test_a_process_that_fails_is_quoted(tmp_path: Path) -> None:
    body = (
        "echo 'trace.csv:3: dst: h9 is not a host' > \"$job/logs/replay@h1.log\"\n"
        'echo \'@{"event":"process","name":"replay@h1","status":"exit 2","t_ns":6}\'\n'
        'echo \'@{"event":"end","status":"failed","t_ns":6}\'\n'
    )
    assert run(tmp_path, body).message == "replay@h1 ended with exit 2: trace.csv:3: dst: h9 is not a host"


@pytest.mark.parametrize(("body", "how"), [("exit 3", "exit 3"), ("kill -KILL $$", "signal 9 (Killed)")])
def test_a_machine_that_dies_is_a_crash_with_the_kernels_last_words(tmp_path: Path, body: str, how: str) -> None:
    outcome = run(tmp_path, fake_machine.EPOCH + "echo 'Kernel panic - not syncing: Oops'\n" + body + "\n")
    assert outcome.status == "crashed"
    assert how in outcome.message
    assert "Kernel panic - not syncing: Oops" in outcome.message


def test_what_a_dead_machine_leaves_behind_is_killed(tmp_path: Path) -> None:
    mark = f"{tmp_path}/left-behind"
    outcome = run(tmp_path, fake_machine.EPOCH + f"bash -c 'while sleep 0.1; do :; done' {mark} &\nkill -KILL $$\n")
    assert outcome.status == "crashed"
    wait_until(lambda: not live_processes(mark))


def test_a_machine_that_hangs_is_killed(tmp_path: Path) -> None:
    outcome = run(tmp_path, fake_machine.EPOCH + f"while sleep 0.1; do :; done # {tmp_path}\n", stall_s=0.3)
    assert outcome.status == "crashed"
    assert "no progress for 0.3 s of wall time" in outcome.message
    assert live_processes(str(tmp_path / "cache")) == []


def test_a_machine_that_ends_but_does_not_power_off_keeps_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabriclab.engine.watch.POWER_OFF_PATIENCE_S", 0.2)
    assert run(tmp_path, fake_machine.EPOCH + fake_machine.END + "while sleep 0.1; do :; done\n").status == "complete"


def test_an_interrupt_lets_the_machine_collect(tmp_path: Path) -> None:
    interrupt = Interrupt()

    def interrupt_on_progress(event: Event) -> None:
        if event.name == "progress":
            interrupt.request()

    outcome = run(tmp_path, fake_machine.EPOCH + fake_machine.STOPPABLE, interrupt_on_progress, interrupt)
    assert (outcome.status, outcome.virtual_ns) == ("interrupted", 200_000_000)
    assert "measurements until then are kept" in outcome.message


def test_an_interrupt_kills_a_machine_that_does_not_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriclab.engine.watch.STOP_PATIENCE_S", 0.2)
    interrupt = Interrupt()
    interrupt.request()
    outcome = run(tmp_path, fake_machine.EPOCH + "while sleep 0.1; do :; done\n", interrupt=interrupt)
    assert outcome.status == "interrupted"
    assert "did not stop" in outcome.message


def test_a_second_interrupt_kills_at_once(tmp_path: Path) -> None:
    interrupt = Interrupt()
    interrupt.request()
    interrupt.request()
    outcome = run(tmp_path, fake_machine.EPOCH + "while sleep 0.1; do :; done\n", interrupt=interrupt)
    assert outcome.message == "interrupted: the virtual machine was killed"
    assert not (tmp_path / "run" / "scratch").exists()


def test_the_limit_says_so(tmp_path: Path) -> None:
    outcome = run(tmp_path, fake_machine.EPOCH + 'echo \'@{"event":"end","status":"limit","t_ns":9}\'\n')
    assert outcome.status == "limit"
    assert "limit of virtual time" in outcome.message


KILLED_OWNER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import fabriclab.engine.virtual, fake_machine, fake_runs
memory = Path(sys.argv[1]) / "memory"
fabriclab.engine.virtual.memory_places = lambda run: [memory]
fake_runs.run(Path(sys.argv[1]), fake_machine.EPOCH + 'echo "$TMPDIR" > "$job/private"; while sleep 0.1; \
do :; done')
"""


def test_nothing_survives_when_fabriclab_is_killed(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    owner = subprocess.Popen([sys.executable, "-c", KILLED_OWNER, str(tmp_path), str(SUPPORT)], start_new_session=True)
    private = tmp_path / "run" / "scratch" / "private"
    try:
        wait_until(lambda: private.is_file() and private.read_text().endswith("\n"))
    finally:
        os.kill(owner.pid, signal.SIGKILL)
        owner.wait()
    wait_until(lambda: not live_processes(str(tmp_path / "cache")))
    wait_until(lambda: not Path(private.read_text().strip()).exists())


def test_what_is_left_when_guard_and_fabriclab_are_killed_at_once_goes_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A place of its own: whoever else starts a machine on this host clears what is left in the usual ones.
    (tmp_path / "memory").mkdir()
    monkeypatch.setattr("fabriclab.engine.virtual.memory_places", lambda run: [tmp_path / "memory"])
    owner = subprocess.Popen([sys.executable, "-c", KILLED_OWNER, str(tmp_path), str(SUPPORT)], start_new_session=True)
    private = tmp_path / "run" / "scratch" / "private"
    try:
        wait_until(lambda: private.is_file() and private.read_text().endswith("\n"))
        (guard,) = (
            process
            for process in live_processes(private.read_text().strip())
            if b"fabriclab-guard" in _command_line(process)
        )
    finally:
        # Stopped, neither can do anything about the other's death.
        for process in (owner.pid, guard):
            os.kill(process, signal.SIGSTOP)
        for process in (owner.pid, guard):
            os.kill(process, signal.SIGKILL)
        owner.wait()
    left = Path(private.read_text().strip())
    # The machine dies with its owner, without the guard.
    wait_until(lambda: not live_processes(str(tmp_path / "cache")))
    wait_until(lambda: not live_processes(str(left)))
    assert left.is_dir()
    (tmp_path / "again").mkdir()
    assert run(tmp_path / "again", fake_machine.EPOCH + fake_machine.END).status == "complete"
    assert not left.exists()


def _command_line(process: int) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


@pytest.mark.parametrize("name", ["my run", "a,b", "it's", "x" * 250 + "/" + "y" * 50])
def test_the_command_line_says_nothing_of_the_host(name: str, tmp_path: Path) -> None:
    """It can be read inside; and no path is too long for it, nor has what it takes for a separator."""
    private = tmp_path / "private"
    job = tmp_path / name
    for directory in (private, job / "traffic", job / "scratch"):
        directory.mkdir(parents=True)
    built = fake_machine.artefacts(tmp_path, "")
    argv = machine_argv(Machine(built, job, seed=1, memory_bytes=64 << 20, cpu=None), private)
    kernel = argv[argv.index("--") + 2 :]
    assert not [word for word in kernel if str(tmp_path) in word]
    assert "fabriclab_job=scratch" in kernel and "fabriclab_inputs=traffic:traffic" in kernel
    assert "hostfs.allow=ro:tools,ro:rootfs,ro:traffic,rw:scratch" in kernel
    assert (private / "scratch").resolve() == job / "scratch" and (private / "rootfs").resolve() == built.rootfs


def test_a_run_in_a_directory_with_blanks(tmp_path: Path) -> None:
    place = tmp_path / "my labs, the 'new' ones"
    place.mkdir()
    outcome = run(place, fake_machine.EPOCH + 'touch "$job/logs/reached"\n' + fake_machine.END)
    assert (outcome.status, outcome.message) == ("complete", "")
    assert (place / "run" / "logs" / "reached").is_file()


@pytest.mark.parametrize(("says", "user_mode"), [("echo 'user mode: seccomp'\n", "seccomp"), ("", None)])
def test_the_run_tells_how_the_machine_ran_programs(tmp_path: Path, says: str, user_mode: str | None) -> None:
    assert run(tmp_path, says + fake_machine.EPOCH + fake_machine.END).figures["user_mode"] == user_mode


@pytest.mark.parametrize("place", ["shared", "temporary", "run"])
def test_a_relative_run_directory_wherever_the_memory_lies(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine works elsewhere than fabriclab: no path of its may be relative."""
    places = {"shared": tmp_path / "shared", "temporary": tmp_path / "temporary", "run": Path("run")}
    for directory in (*places.values(), tmp_path / "run"):
        if directory.is_absolute() and directory.name in (place, "run"):
            directory.mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "fabriclab.engine.virtual.memory_places", lambda run: [places["shared"], places["temporary"], run]
    )
    body = (
        fake_machine.EPOCH
        + 'cd "$TMPDIR" && pwd >"$job/logs/where"; case $TMPDIR in /*) ;; *) exit 3 ;; esac\n'
        + fake_machine.END
    )
    built = fake_machine.artefacts(tmp_path, body)
    outcome = run_machine(
        Machine(built, Path("run"), seed=7, memory_bytes=1 << 20, cpu=None), lambda _: None, Interrupt()
    )
    assert (outcome.status, outcome.message) == ("complete", "")
    assert outcome.figures["memory_directory"] == str(places[place])
    assert Path((tmp_path / "run" / "logs" / "where").read_text().strip()).parent == tmp_path / place
    assert not list((tmp_path / place).glob("fabriclab-*"))


def test_the_command_line_carries_seed_memory_and_what_may_be_mounted(tmp_path: Path) -> None:
    machine = Machine(fake_machine.artefacts(tmp_path, ""), tmp_path, seed=9, memory_bytes=64 << 20, cpu=1)
    argv = machine_argv(machine, private_of(tmp_path))
    assert {"mem=64M", "fabriclab.seed=9", "time-travel=inf-cpu", "seccomp=auto"} < set(argv)


def private_of(directory: Path) -> Path:
    """Return a new private directory."""
    return Path(tempfile.mkdtemp(dir=directory))


def test_the_host_s_kernel_binds_the_machine_before_it_begins(tmp_path: Path) -> None:
    built = fake_machine.artefacts(tmp_path, "")
    machine = Machine(built, tmp_path / "run", seed=9, memory_bytes=64 << 20, cpu=1)
    (tmp_path / "run" / "nodes").mkdir(parents=True)
    (tmp_path / "private").mkdir()
    argv = machine_argv(machine, tmp_path / "private")
    options = argv[1 : argv.index("--")]
    assert argv[0] == str(built.tools / "confine") and argv[argv.index("--") + 1] == str(built.kernel)
    assert options[0] == "--machine-calls" and options[-4:-2] == ["--cpu", "1"]
    executed, read, written = (
        [option.partition("=")[2] for option in options if option.startswith(f"--{name}=")]
        for name in ("execute", "read", "write")
    )
    assert executed == [str(built.kernel)]
    assert read == [str(built.tools), str(built.rootfs), str(tmp_path / "run" / "nodes"), "/proc/cpuinfo"]
    assert written == [str(tmp_path / "run" / "scratch"), str(tmp_path / "private"), "/dev/null"]


def test_the_environment_chooses_how_programs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(fake_machine.artefacts(tmp_path, ""), tmp_path, seed=1, memory_bytes=64 << 20, cpu=None)
    locked = replace(machine, locked=True)
    assert "seccomp=off" in machine_argv(locked, private_of(tmp_path)), "the filters would not lock them in"
    monkeypatch.setenv("FABRICLAB_SECCOMP", "auto")
    assert "seccomp=auto" in machine_argv(locked, private_of(tmp_path))
    monkeypatch.setenv("FABRICLAB_SECCOMP", "off")
    assert "seccomp=off" in machine_argv(machine, private_of(tmp_path))
    monkeypatch.setenv("FABRICLAB_SECCOMP", "no")
    with pytest.raises(EngineError, match="FABRICLAB_SECCOMP=no: must be one of auto, on, off"):
        machine_argv(machine, private_of(tmp_path))


def test_what_binds_a_machine_is_in_its_figures(tmp_path: Path) -> None:
    """The first line alone says it: what comes later is the machine's own."""
    body = "echo 'boundary: landlock 99'\n" + fake_machine.EPOCH + fake_machine.END
    assert run(tmp_path, body).figures["boundary"] == "none"


def test_a_kernel_that_cannot_be_started_crashes_with_its_message(tmp_path: Path) -> None:
    job = tmp_path / "run"
    job.mkdir()
    built = fake_machine.artefacts(tmp_path, "")
    built.kernel.unlink()
    outcome = run_machine(Machine(built, job, seed=1, memory_bytes=64 << 20, cpu=None), lambda _: None, Interrupt())
    assert outcome.status == "crashed"
    assert "No such file" in outcome.message


def test_last_words_are_an_exception_s_not_its_stack_s(tmp_path: Path) -> None:
    log = tmp_path / "log"
    stack = "\tat org.example.Client.call(Client.java:1)\n"
    log.write_text(
        f"begun\nException in thread: refused\n{stack * 90}Caused by: nobody there\n{stack}\t... 21 more\n\n"
    )
    assert last_lines(log, 2) == "Exception in thread: refused | Caused by: nobody there"
    assert last_lines(tmp_path / "absent", 2) == ""


@pytest.mark.parametrize(
    "line",
    [
        "@" + "[" * 100_000,
        '@{"event":"progress","t_ns":' + "9" * 5_000 + "}",
        '@{"event":"progress","t_ns":' + "9" * 50 + "}",
        '@{"event":["progress"]}',
        '@{"event":"process","name":"../../../etc/passwd","status":"exit 1"}',
        "x" * 3_000_000,
    ],
    ids=["nested", "huge", "late", "no-name", "path", "long"],
)
def test_a_machine_may_say_anything(line: str, tmp_path: Path) -> None:
    said = tmp_path / "said"
    said.write_text(line + "\n")
    outcome = run(tmp_path, fake_machine.EPOCH + f"cat {said}\n" + fake_machine.END)
    assert outcome.status == "complete" and outcome.virtual_ns == 250_000_000
    assert "root:" not in outcome.message


def test_a_machine_that_never_stops_talking_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriclab.engine.watch._LONGEST_LOG_BYTES", 1 << 20)
    outcome = run(tmp_path, fake_machine.EPOCH + "yes\n")
    assert outcome.status == "crashed" and "wrote more than" in outcome.message
    assert (tmp_path / "run" / "logs" / "kernel.log").stat().st_size < 1 << 21
