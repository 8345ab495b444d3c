"""Commands where memory, characters or a standard stream are not what one thinks: a line that says so,
never a traceback or a hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import fake_machine
import pytest
from command_line import ANSWER
from limited_host import command_line, environment
from patience import patient, wait_until
from repository import ROOT
from synthetic_run import long_run
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.cli.host.limits import needed_threads
from fabriclab.cli.host.signals import interrupting
from fabriclab.engine.address_space import needed_bytes
from fabriclab.engine.interrupt import Interrupt

INCAST = str(ROOT / "labs" / "incast")


def shell(place: Path, line: str, *arguments: str | bytes, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command line by a line of a shell, in which "$@" is the command."""
    command = ["sh", "-c", line, "sh", sys.executable, "-m", "fabriclab", *arguments]
    return subprocess.run(
        command, cwd=place, env={**os.environ, **more}, capture_output=True, encoding="utf-8", check=False
    )


def test_too_little_address_space_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    """With 1.2 GB the run was made, and its results hung, deaf to SIGTERM."""
    ended = shell(tmp_path, 'ulimit -v 1200000; "$@"', "run", INCAST, "--out", "out")
    assert ended.returncode == 1
    assert ended.stderr.startswith("ulimit -v 1200000: ")
    assert f"needs {needed_bytes() >> 10} " in ended.stderr and "`ulimit -v unlimited`" in ended.stderr
    assert list(tmp_path.iterdir()) == []


FEW_THREADS = """
import threading
started = []
start = threading.Thread.start
def refuse(thread):
    if len(started) == {most}:
        raise RuntimeError("can't start new thread")
    started.append(thread)
    start(thread)
threading.Thread.start = refuse
import resource
resource.getrlimit = lambda which: (20, 20) if which == resource.RLIMIT_NPROC else (resource.RLIM_INFINITY,) * 2
import sys
from fabriclab.cli import main
main()
"""
"""The command on a host that starts so many threads and no more: root, which runs these tests, has no such limit."""


@pytest.mark.parametrize("arguments", [("run", INCAST, "--out", "out"), ("check", INCAST), ("doctor",), ("compare",)])
def test_too_few_threads_are_refused_before_anything_is_loaded(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """With `ulimit -u 20` on eight CPUs it hung; with 8 on two it printed 60,000 lines a second."""
    command = [sys.executable, "-c", FEW_THREADS.format(most=3), *arguments]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=patient(60), check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"ulimit -u 20: 3 more threads or processes can be started here, but fabriclab needs {needed_threads()}. Raise "
        "the limit, or end other programs of this user; nothing was started\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_enough_threads_are_enough(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FEW_THREADS.format(most=needed_threads() + 20), "check", INCAST]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=patient(60), check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


IN_NATIVE_CODE = """
import ctypes, os
from pathlib import Path
import fabriclab.results
fabriclab.results.ingest_run = lambda _: (Path("in-native-code").touch(), ctypes.PyDLL(None).sleep(600))
"""


def test_sigterm_ends_a_run_whose_results_hang_in_native_code_and_the_logs_stay(tmp_path: Path) -> None:
    program, option, main, *arguments = command_line("run", INCAST, "--set", "senders=1", "--out", "out")
    variables = environment(tmp_path, ANSWER + fake_machine.END)
    with subprocess.Popen([program, option, IN_NATIVE_CODE + main, *arguments], cwd=tmp_path, env=variables) as process:
        try:
            wait_until((tmp_path / "in-native-code").exists)
            process.terminate()
            assert process.wait(60) == -signal.SIGTERM
        finally:
            process.kill()
    assert (tmp_path / "out" / "raw" / "flows" / "h1.csv").is_file()
    assert (tmp_path / "out" / "manifest.json").is_file()


def test_a_third_request_to_stop_is_left_to_the_system() -> None:
    """A sweep's threads may hang where Python's handlers can't end them."""
    interrupt = Interrupt()
    before = signal.getsignal(signal.SIGTERM)
    with interrupting(interrupt):
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.requested and not interrupt.at_once
        os.kill(os.getpid(), signal.SIGHUP)
        assert interrupt.at_once
        assert {signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)} == {
            signal.SIG_DFL
        }
    assert signal.getsignal(signal.SIGTERM) == before


def test_names_are_utf8_whatever_the_locale(tmp_path: Path) -> None:
    other = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    ended = shell(tmp_path, '"$@"', "check", "nörgends", **other)
    assert ended.stderr.startswith("nörgends: no such directory")
    assert ended.returncode == 2


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    ended = shell(tmp_path, '"$@"', "report", b"l\xe4b")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "l\\xe4b: is not UTF-8; give the file or directory a name in UTF-8\n"


@pytest.mark.parametrize(
    ("line", "why"), [('"$@" >/dev/full', "the disk is full"), ('"$@" >&-', "Bad file descriptor")]
)
def test_an_output_that_cannot_be_written_is_told(tmp_path: Path, line: str, why: str) -> None:
    ended = shell(tmp_path, line, "--help")
    assert (ended.returncode, ended.stderr) == (1, f"standard output: {why}\n")


THREAD = """
from threading import Thread
from fabriclab.cli.host import streams
streams.prepare()
from rich.console import Console
worker = Thread(target=lambda: (Console(stderr=True).print("a line of text\\n" * 2_000), print("went on")))
worker.start()
worker.join()
"""


def test_full_standard_error_keeps_no_worker_of_a_sweep_from_its_work(tmp_path: Path) -> None:
    line = f"{sys.executable} -c '{THREAD}' 2>/dev/full"
    ended = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "went on\n")


@pytest.mark.parametrize("name", ["manifest.json", "plan.json", "summary.json", "flows.parquet"])
@pytest.mark.parametrize("what", ["pipe", "device", "damaged"])
def test_a_report_of_what_is_no_file_names_it(tmp_path: Path, name: str, what: str) -> None:
    run = tmp_path / "run"
    long_run(run)
    if name in ("summary.json", "flows.parquet"):
        (run / "raw").rename(tmp_path / "logs")  # as after its results were made
        (run / "summary.json").write_text('{"format": "fabriclab-summary-1", "notes": [], "metrics": {}}')
        (run / "flows.parquet").touch()
    file = run / name
    file.unlink()
    if what == "pipe":
        os.mkfifo(file)
    elif what == "device":
        file.symlink_to("/dev/zero")
    else:
        file.write_bytes(b"PAR1 and no more")
    result = CliRunner().invoke(app, ["report", str(run)])
    assert result.exit_code == 2, result.output
    assert str(file) in result.stderr
    assert "Traceback" not in result.output
